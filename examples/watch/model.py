"""A language model of attention layers alone: the model of `daybreak train text`, in PyTorch."""

import torch
from language import CONTEXT, HEADS, LAYERS, WIDTH
from torch import nn
from torch.nn import functional


class Language(nn.Module):
    """Layers of attention with rotary positions, each after a norm, and nothing else."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, WIDTH)
        self.layers = nn.ModuleList([Attention() for _ in range(LAYERS)])
        self.norm, self.read_out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary)
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits of the next token."""
        x = self.embedding(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return self.read_out(self.norm(x))


class Attention(nn.Module):
    """Causal attention by PyTorch's fused kernel."""

    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        half = WIDTH // HEADS // 2
        angles = torch.arange(CONTEXT)[:, None] / 10000 ** (torch.arange(half) / half)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What the heads read."""
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(self.norm(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(self._rotated(q), self._rotated(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))

    def _rotated(self, x: torch.Tensor) -> torch.Tensor:
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
