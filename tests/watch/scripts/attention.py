"""Attention of many models as Watch reads it, next to what each computes itself: prints the largest differences."""

import json
from typing import Any

import numpy as np
import torch
import transformers
from torch import nn

from daybreak.watch.attention import attention, read
from tests.watch.scripts.models import Language

TOKENS = np.random.default_rng(0).integers(1, 40, (3, 20))
IDS = torch.as_tensor(TOKENS)


def small(config: Any, **more: Any) -> Any:
    options: dict[str, Any] = {
        "bos_token_id": 0,
        "eos_token_id": 0,
        "pad_token_id": 0,
        "vocab_size": 40,
        "max_position_embeddings": 64,
    }
    return config(num_hidden_layers=2, num_attention_heads=4, hidden_size=32, **options, **more)


def hugging_face() -> dict[str, Any]:
    grouped: dict[str, Any] = {"num_key_value_heads": 2, "intermediate_size": 48}
    return {
        "gpt2": transformers.GPT2LMHeadModel(small(transformers.GPT2Config)),
        "llama": transformers.LlamaForCausalLM(small(transformers.LlamaConfig, attention_dropout=0.2, **grouped)),
        "qwen": transformers.Qwen2ForCausalLM(small(transformers.Qwen2Config, attention_dropout=0.2, **grouped)),
        "neox": transformers.GPTNeoXForCausalLM(
            small(transformers.GPTNeoXConfig, attention_dropout=0.2, hidden_dropout=0.2, intermediate_size=48)
        ),
    }


def compare(model: Any, eager: Any) -> dict[str, Any]:
    """In train mode as it is watched, then eager attention by the model itself, in eval mode."""
    model.train()
    maps = attention(model, TOKENS)
    logits = read(model, TOKENS, lambda weights: None).logits
    assert logits is not None and all(part.training for part in model.modules())
    model.eval()
    with torch.no_grad():
        output = model(IDS)
        own = output if torch.is_tensor(output) else output.logits
        theirs = [np.asarray(x.detach()) for x in eager(model)]
    return {
        "layers": len(maps),
        "shape": list(maps[0].shape),
        "apart": max(float(np.abs(a - b).max()) for a, b in zip(maps, theirs, strict=True)),
        "logits_apart": float((logits - own).abs().max()),
        "future": max(float(np.triu(x, 1).max()) for x in maps),
        "sums_apart": max(float(np.abs(x.sum(-1) - 1).max()) for x in maps),
    }


def eager_of_hugging_face(model: Any) -> Any:
    model.set_attn_implementation("eager")
    return model(IDS, output_attentions=True).attentions


def eager_of_language(model: Language) -> list[torch.Tensor]:
    """By the definition: softmax(q k / √d) over the past, from the weights of each layer."""
    x = model.token(IDS) + model.position(torch.arange(IDS.shape[1]))
    future = torch.ones(20, 20, dtype=torch.bool).triu(1)
    maps = []
    for layer in model.layers:
        inner: Any = layer.self_attn if model.how == "encoder" else layer
        weight, bias = (
            (inner.in_proj_weight, inner.in_proj_bias)
            if isinstance(inner, nn.MultiheadAttention)
            else (inner.qkv.weight, inner.qkv.bias)
        )
        q, k, _ = ((x @ weight.T + bias).view(3, 20, 3, 2, 8)).permute(2, 0, 3, 1, 4)
        maps.append(torch.softmax((q @ k.transpose(-1, -2) / 8**0.5).masked_fill(future, -torch.inf), -1))
        if model.how == "encoder":
            x = layer(x, src_mask=future)
        elif model.how == "multihead":
            x = x + layer(x, x, x, attn_mask=future)[0]
        else:
            x = layer(x)
    return maps


def own_function(model: nn.Module, tokens: torch.Tensor) -> list[torch.Tensor]:
    assert not model.training and not torch.is_grad_enabled()
    return [torch.full((3, 2, 20, 20), 0.05)] * 2


torch.manual_seed(0)
result: dict[str, Any] = {}
for name, model in hugging_face().items():
    had = model.config._attn_implementation
    result[name] = compare(model, eager_of_hugging_face) | {"had": had}
    model.set_attn_implementation("sdpa")
    attention(model, TOKENS)
    result[name]["has"] = model.config._attn_implementation
for how in ("fused", "written", "multihead", "encoder"):
    result[how] = compare(Language(how), eager_of_language)
bare = Language("fused")
expected = attention(bare, TOKENS)
for name, wrapped in {"compiled": torch.compile(bare), "data_parallel": nn.DataParallel(bare)}.items():
    result[name] = {
        "apart": max(float(np.abs(a - b).max()) for a, b in zip(attention(wrapped, TOKENS), expected, strict=True))
    }
result["function"] = {"value": float(attention(Language("flash"), TOKENS, own_function)[1].mean())}
result["flash"] = {"layers": len(attention(Language("flash"), TOKENS))}
result["half"] = {"apart": float(np.abs(attention(Language("fused").bfloat16(), TOKENS)[0].sum(-1) - 1).max())}
print(json.dumps(result))
