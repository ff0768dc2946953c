"""A watched training is the training: the same weights to the bit, and nothing of the model changed by a probe."""

from pathlib import Path

from tests.watch.run_script import run_script


def test_weights_are_the_same_to_the_bit(tmp_path: Path) -> None:
    result = run_script("unchanged", tmp_path / "lab")
    for name in ("gpt2", "fused", "encoder", "compiled"):
        assert result[name] == {"same": True, "rows": 7}, name
    left = result["left_behind"]
    assert left.pop("said") == "in the middle"
    assert left.pop("hooks") == 0
    assert all(left.values()), left
