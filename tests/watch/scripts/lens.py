"""Attention of a TransformerLens model, next to that of the Hugging Face model it is built from."""

import json
from typing import Any

import numpy as np
import torch
from transformer_lens.model_bridge.sources import build_bridge_from_module
from transformers import GPT2Config, GPT2LMHeadModel

from daybreak.watch.attention import attention, kind_of
from daybreak.watch.measurement import Inputs, Measurement
from daybreak.watch.probes import DEFAULT

torch.manual_seed(0)
options: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0, "vocab_size": 40, "n_positions": 64}
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=4, n_embd=32, **options))
tokens = np.random.default_rng(0).integers(1, 40, (3, 20))
theirs = attention(model, tokens)
bridge = build_bridge_from_module(model, "GPT2LMHeadModel", hf_config=model.config)
bridge.train()
ours = attention(bridge, tokens)
said: list[str] = []
values = Measurement(DEFAULT, Inputs(), None, None, said.append).values(bridge)
result = {
    "kind": kind_of(bridge).__name__,
    "layers": len(ours),
    "apart": max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True)),
    "training": bridge.training,
    "hooks": sum(len(hook.fwd_hooks) for hook in bridge.hook_dict.values()),
    "probes": sorted(values),
    "said": said,
}
print(json.dumps(result))
