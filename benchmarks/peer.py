"""The peer: the same training in plain PyTorch, as a good user would write it.

Same tasks, architectures, batches and optimizers as Daybreak, sampled in batches on tensors, with PyTorch's own modules and
its scaled-dot-product attention. As is usual, every position goes through every block; the last one is read, of text all.
`tests/benchmarks/test_peer.py` compares it with Daybreak: equal parameters give equal outputs, gradients and steps.
"""

from collections.abc import Callable
from typing import final

import torch  # pyright: ignore[reportMissingImports]
from torch import Tensor, nn  # pyright: ignore[reportMissingImports]
from torch.nn.functional import cross_entropy, one_hot, scaled_dot_product_attention  # pyright: ignore[reportMissingImports]

Batch = tuple[Tensor, Tensor]  # inputs, targets


def sinusoids(length: int, width: int) -> Tensor:
    """Sines and cosines of the position, interleaved (Vaswani et al. 2017, §3.5)."""
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)[:, :width]


@final
class Rotary(nn.Module):
    """Turns entries i and i + e/2 of each row by the angle position / 10000^(2i/e) (Su et al. 2021)."""

    def __init__(self, length: int, head_width: int):
        super().__init__()
        half = head_width // 2
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(half) / half)
        self.cos: Tensor
        self.sin: Tensor
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * self.cos - b * self.sin, b * self.cos + a * self.sin], dim=-1).to(x.dtype)


@final
class Block(nn.Module):
    """Attention and MLP, each added to the residual stream; before each a layer norm, or none. Without an MLP attention only."""

    def __init__(self, heads: int, width: int, head_width: int, mlp: int, norm: bool, causal: bool, turn: nn.Module):
        super().__init__()
        self.heads, self.causal, self.turn = heads, causal, turn
        self.norm1 = nn.LayerNorm(width) if norm else nn.Identity()
        self.qkv = nn.Linear(width, 3 * heads * head_width)
        self.out = nn.Linear(heads * head_width, width)
        self.mlp = None
        if mlp:
            self.norm2 = nn.LayerNorm(width) if norm else nn.Identity()
            self.mlp = nn.Sequential(nn.Linear(width, mlp), nn.ReLU(), nn.Linear(mlp, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        query, key = self.turn(query), self.turn(key)
        attended = scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x if self.mlp is None else x + self.mlp(self.norm2(x))


@final
class Transformer(nn.Module):
    """Embedding plus sinusoids, or rotary positions, blocks, and a linear read-out of the last position (paper A, table 1) or of all."""

    def __init__(
        self,
        embed: nn.Module,
        outputs: int,
        length: int,
        *,
        layers: int,
        heads: int = 4,
        width: int = 256,
        head_width: int = 64,
        mlp: int = 1024,
        norm: bool = False,
        causal: bool = False,
        rotary: bool = False,
        read_all: bool = False,
    ):
        super().__init__()
        self.embed, self.read_all = embed, read_all
        self.positions: Tensor
        self.register_buffer("positions", torch.zeros(()) if rotary else sinusoids(length, width))
        turn = Rotary(length, head_width) if rotary else nn.Identity()
        self.blocks = nn.ModuleList(Block(heads, width, head_width, mlp, norm, causal, turn) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if norm else nn.Identity()
        self.readout = nn.Linear(width, outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.embed(inputs) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.readout(self.norm(x if self.read_all else x[:, -1]))


@final
class MinimalAttention(nn.Module):
    """Logits Σ_h V_h Σ_j softmax_j(u_tᵀ W_hᵀ u_j / √D) u_j on one-hot u = [token; position], by matrix products (paper B)."""

    def __init__(self, tokens: int, length: int, first_read: int, *, heads: int = 3, epsilon: float = 1e-9):
        super().__init__()
        size = tokens + length
        self.tokens, self.first_read = tokens, first_read
        self.W = nn.Parameter(torch.empty(heads, size, size).uniform_(-epsilon, epsilon))
        self.V = nn.Parameter(torch.zeros(heads, tokens, size))
        self.positions: Tensor
        self.register_buffer("positions", torch.eye(length))

    def forward(self, inputs: Tensor) -> Tensor:
        tokens = one_hot(inputs, self.tokens).float()
        u = torch.cat([tokens, self.positions.expand(len(inputs), -1, -1)], dim=2)[:, None]
        attended = scaled_dot_product_attention(u @ self.W.mT, u, u @ self.V.mT, is_causal=True)
        return attended.sum(1)[:, self.first_read :]


@final
class FullModel(nn.Module):
    """One block as published in paper B: learned positions, a layer norm after each part, no biases, dropout; reads many positions."""

    def __init__(
        self,
        tokens: int,
        length: int,
        first_read: int,
        *,
        heads: int = 3,
        width: int = 255,
        head_width: int = 85,
        mlp: int = 64,
        dropout: float = 0.1,
    ):
        super().__init__()
        inside = heads * head_width
        self.heads, self.first_read = heads, first_read
        self.embed = nn.Embedding(tokens, width)
        self.positions = nn.Parameter(torch.randn(length, width))
        self.qkv = nn.Linear(width, 3 * inside, bias=False)
        self.out = nn.Linear(inside, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, mlp, bias=False), nn.ReLU(), nn.Linear(mlp, width, bias=False))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(dropout)
        self.readout = nn.Linear(width, tokens, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        x = self.embed(inputs) + self.positions
        batch, length, _ = x.shape
        query, key, value = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.drop(self.out(attended)))
        x = self.norm2(x + self.drop(self.mlp(x)))
        return self.readout(x[:, self.first_read :])


def regression_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """½‖y − y*‖², averaged over the batch."""
    return (outputs - targets).square().sum(1).mean() / 2


def token_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy, averaged over everything that is read."""
    return cross_entropy(outputs.flatten(0, -2), targets.flatten())


def single_location(W: Tensor, repeated: Tensor, *, T: int, B: int, p: float, batch: int) -> Batch:
    """Sequences whose flagged token stands at B random positions and, with probability p, is the repeated one."""
    d = len(W)
    tokens = torch.randn(batch, T, d) / d**0.5
    token = torch.randn(batch, d) / d**0.5
    token = torch.where(torch.rand(batch, 1) < p, repeated, token)
    relevant = (torch.rand(batch, T).argsort(1) < B)[:, :, None]
    inputs = torch.cat([torch.where(relevant, token[:, None], tokens), relevant.float()], dim=2)
    return inputs, token @ W.T


def recall(*, N: int, V: int, B: float, batch: int) -> Batch:
    """Pairs of key and value, then a query; each slot holds the query's pair with probability B/N, given that one does."""
    keys, values = torch.rand(2, batch, V).argsort(2)[:, :, :N]
    placed = torch.rand(batch, N) < B / N
    while (empty := ~placed.any(1)).any():
        placed[empty] = torch.rand(int(empty.sum()), N) < B / N
    chosen = torch.where(placed, 0, (~placed).cumsum(1))  # the first key is the query
    pairs = torch.stack([keys.gather(1, chosen), values.gather(1, chosen)], dim=2).flatten(1)
    return torch.cat([pairs, keys[:, :1]], dim=1), values[:, 0]


def text(tokens: Tensor, places: Tensor, *, T: int, q: float, passage: int, copies: int, batch: int) -> Batch:
    """Pieces of a text from some of its places; in a share q of them a passage occurs again and again, at equal distances."""
    length = T + 1
    start = places[torch.randint(len(places), (batch, 1))]
    farthest = (length - passage) // (copies - 1)
    distance = torch.randint(passage, farthest + 1, (batch, 1))
    last = length - (copies - 1) * distance - passage
    begin = (torch.rand(batch, 1) * (last + 1)).long()
    at = torch.arange(length).expand(batch, -1)
    within = (at - begin) % distance
    inside = (at >= begin) & (within < passage) & (at < begin + copies * distance) & (torch.rand(batch, 1) < q)
    piece = tokens[start + torch.where(inside, begin + within, at)]
    return piece[:, :-1], piece[:, 1:]


@final
class Epochs:
    """Batches of a fixed set of sequences, shuffled anew in each epoch."""

    def __init__(self, inputs: Tensor, targets: Tensor, batch: int):
        self.inputs, self.targets, self.batch = inputs, targets, batch
        self.order: list[Tensor] = []

    def __call__(self) -> Batch:
        if not self.order:
            shuffled = torch.randperm(len(self.inputs))
            self.order = list(shuffled.split(self.batch))
        chosen = self.order.pop()
        return self.inputs[chosen], self.targets[chosen]


@final
class Training:
    """A model, its optimizer and where its batches come from. `step()` is one training step."""

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        sample: Callable[[], Batch],
        optimizer: torch.optim.Optimizer,
        *,
        compiled: bool,
        bfloat16: bool = False,
        clip: float = 0.0,
    ):
        self.model, self.sample, self.optimizer, self.clip = model, sample, optimizer, clip

        def forward(inputs: Tensor, targets: Tensor) -> Tensor:
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                outputs = model(inputs)
            return loss(outputs.float(), targets)

        self.forward = torch.compile(forward) if compiled else forward

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.forward(*self.sample()).backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
