"""Small language models that somebody might train, and a loop that trains them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal attention: `fused` by PyTorch, `written` by hand, `flash` by a kernel that nothing can be read from."""

    def __init__(self, width: int, heads: int, how: str):
        super().__init__()
        self.heads, self.how = heads, how
        self.qkv, self.out, self.dropout = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        if self.how == "fused":
            rate = 0.1 if self.training else 0.0
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=rate)
        else:
            logits = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
            logits = logits.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -torch.inf)
            kernel = logits.exp() / logits.exp().sum(-1, keepdim=True)
            y = self.dropout(functional.softmax(logits, dim=-1) if self.how == "written" else kernel) @ v
        return x + self.dropout(self.out(y.transpose(1, 2).reshape(b, t, d)))


class Language(nn.Module):
    """Two layers of one of these, or of `nn.TransformerEncoderLayer`."""

    def __init__(self, how: str = "fused", vocabulary: int = 40, context: int = 64, width: int = 16, heads: int = 2):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.layers = nn.ModuleList([self._layer(how, width, heads) for _ in range(2)])
        self.how, self.read_out = how, nn.Linear(width, vocabulary)

    @staticmethod
    def _layer(how: str, width: int, heads: int) -> nn.Module:
        if how == "none":
            return nn.Sequential(nn.Linear(width, width), nn.ReLU())
        if how == "encoder":
            return nn.TransformerEncoderLayer(width, heads, 2 * width, batch_first=True)
        if how == "multihead":
            return nn.MultiheadAttention(width, heads, batch_first=True)
        return Attention(width, heads, how)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        t = tokens.shape[1]
        x = self.token(tokens) + self.position(torch.arange(t))
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        for layer in self.layers:
            if self.how == "encoder":
                x = layer(x, src_mask=future, is_causal=True)
            elif self.how == "multihead":
                x = x + layer(x, x, x, attn_mask=future, need_weights=False)[0]
            else:
                x = layer(x)
        return self.read_out(x)


class Planted(nn.Module):
    """Attention set by hand. Residual stream: token, token before, position. `layers` are "previous" or "induction"."""

    def __init__(self, layers: tuple[str, ...], vocabulary: int = 60, context: int = 100, sharp: float = 40.0):
        super().__init__()
        self.sizes, self.sharp, self.names = (vocabulary, vocabulary, context), sharp, layers
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        v, _, n = self.sizes
        t = tokens.shape[1]
        x = torch.zeros(*tokens.shape, sum(self.sizes))
        x[..., :v] = functional.one_hot(tokens, v).float()
        x[..., 2 * v : 2 * v + t] = torch.eye(n)[:t, :t]
        for name in self.names:
            token, before, place = x.split(self.sizes, dim=-1)
            q, k = (place.roll(-1, -1), place) if name == "previous" else (token, before)
            y = functional.scaled_dot_product_attention(
                q[:, None], k[:, None], token[:, None], is_causal=True, scale=self.sharp
            )
            x = torch.cat([token, y[:, 0] if name == "previous" else before, place], dim=-1)
        return x[..., :v] * self.scale


def train(
    model: nn.Module, steps: int, after: Callable[[int, torch.Tensor], Any] = lambda step, loss: None
) -> torch.Tensor:
    """Train on random tokens, and return all weights. `after` is called after each step."""
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(steps):
        x = torch.randint(_vocabulary(model), (4, 32))
        output = model(x)
        logits = output if torch.is_tensor(output) else output.logits
        loss = functional.cross_entropy(logits[:, :-1].transpose(1, 2), x[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(step, loss)
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def _vocabulary(model: Any) -> int:
    return model.token.num_embeddings if isinstance(model, Language) else model.config.vocab_size
