"""What the three examples share: real text in which some sequences repeat a passage, and the sizes of a small model.

Tried: `plain_loop.py --text FILE` with 6.5 MB of Shakespeare and Milton, seed 0: an induction head emerged at step 2,771.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

CONTEXT, BATCH, WIDTH, HEADS, LAYERS = 128, 16, 128, 4, 2
LEARNING_RATE, WARM_UP, CLIP = 3e-3, 100, 1.0


def options(description: str) -> argparse.Namespace:
    """The command line of an example."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--text", type=Path, help="a text file; by default the text that comes with Daybreak")
    parser.add_argument("--repeat", type=float, default=0.5, help="share of the sequences that repeat a passage")
    parser.add_argument("--steps", type=int, default=4000, help="at most; training ends some steps after emergence")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lab", default="lab", help="folder of the lab")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch; more do not help a model this small")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)
    return chosen


def text_of(path: Path | None) -> np.ndarray:
    """A text as token ids: a file by a byte-pair vocabulary of 512, the shipped text, or, if there is none, a made-up one."""
    if path is not None:
        return _tokenised(path.read_text(encoding="utf-8", errors="replace"))
    try:
        from daybreak.tasks.corpus import corpus  # pyright: ignore
    except ImportError:
        return _made_up()
    return corpus("classics", 1000).tokens.astype(np.int64)


def _tokenised(text: str, vocabulary: int = 512) -> np.ndarray:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [text], trainers.BpeTrainer(vocab_size=vocabulary, show_progress=False, initial_alphabet=alphabet)
    )
    return np.array(tokenizer.encode(text).ids)


def _made_up(tokens: int = 1_000_000, vocabulary: int = 512) -> np.ndarray:
    """A text without meaning: frequencies by Zipf's law, and after each token one of eight others is likely."""
    draw = np.random.default_rng(0)
    frequency = 1 / np.arange(1, vocabulary + 1)
    frequency /= frequency.sum()
    follows = draw.choice(vocabulary, (vocabulary, 8), p=frequency)
    free = draw.choice(vocabulary, tokens, p=frequency)
    bound, which = draw.random(tokens) < 0.7, draw.integers(8, size=tokens)
    for i in range(1, tokens):
        if bound[i]:
            free[i] = follows[free[i - 1], which[i]]
    return free


class Passages(torch.utils.data.IterableDataset):
    """Pieces of a text. In a share of them a passage of 8 to half of the tokens stands again and again."""

    def __init__(self, text: np.ndarray, repeat: float, seed: int):
        super().__init__()
        self.text, self.repeat, self.seed = torch.as_tensor(text), repeat, seed
        self.vocabulary = int(text.max()) + 1

    def __iter__(self) -> Iterator[torch.Tensor]:
        draw = np.random.default_rng(self.seed)
        while True:
            at = int(draw.integers(len(self.text) - CONTEXT))
            piece = self.text[at : at + CONTEXT]
            if draw.random() < self.repeat:
                passage = int(draw.integers(8, CONTEXT // 2 + 1))
                piece = piece[:passage].repeat(CONTEXT // passage + 1)[:CONTEXT]
            yield piece


class Language(nn.Module):
    """Layers of attention with rotary positions, each after a norm, and nothing else."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, WIDTH)
        self.layers = nn.ModuleList([Attention() for _ in range(LAYERS)])
        self.norm, self.read_out = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, vocabulary, bias=False)
        for one in (self.embedding, self.read_out):
            nn.init.normal_(one.weight, std=0.02)

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
        self.norm, self.qkv, self.out = (
            nn.RMSNorm(WIDTH),
            nn.Linear(WIDTH, 3 * WIDTH),
            nn.Linear(WIDTH, WIDTH, bias=False),
        )
        half = WIDTH // HEADS // 2
        angles = torch.arange(CONTEXT)[:, None] * 100.0 ** (-torch.arange(half) / half)
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


def loss_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of each next token."""
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def rate(step: int) -> float:
    """Warm-up, as a factor."""
    return min(1.0, (step + 1) / WARM_UP)


def settings(chosen: argparse.Namespace) -> dict[str, float]:
    """Columns of the lab."""
    return {"context": CONTEXT, "batch": BATCH, "repeat": chosen.repeat, "seed": chosen.seed}


def show_forecast(forecast: object, step: int) -> None:
    """A line for each forecast."""
    print(f"step {step:>5}: it will emerge at step {forecast}", flush=True)


def show_emergence(step: float) -> None:
    """A line for the event."""
    print(f"an induction head has emerged at step {step:.0f}", flush=True)
