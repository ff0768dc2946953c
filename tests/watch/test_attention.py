"""Attention as Watch reads it is the attention that the model computes, for each kind of model."""

from tests.watch.run_script import run_script


def test_attention_is_that_of_the_model() -> None:
    result = run_script("attention")
    for name in ("gpt2", "llama", "qwen", "neox", "fused", "written", "multihead", "encoder"):
        one = result[name]
        heads = 4 if "had" in one else 2
        assert (one["layers"], one["shape"]) == (2, [3, heads, 20, 20]), name
        assert one["apart"] < 1e-5, name
        assert one["logits_apart"] < 1e-5, name  # the forward pass is the model's own
        assert one["future"] == 0, name
        assert one["sums_apart"] < 1e-5, name  # dropout would show here
        assert one.get("had") == one.get("has"), name
    assert result["compiled"]["apart"] == result["data_parallel"]["apart"] == 0
    assert abs(result["function"]["value"] - 0.05) < 1e-6
    assert result["flash"]["layers"] == 0
    assert result["half"]["apart"] < 0.02  # bfloat16


def test_transformer_lens() -> None:
    result = run_script("lens")
    assert result["kind"].endswith("lens")
    assert result["layers"] == 2
    assert result["apart"] < 1e-5
    assert result["training"] and result["hooks"] == 0
    assert {"induction", "copying", "hidden_similarity"} <= set(result["probes"])
    assert result["said"] == []
