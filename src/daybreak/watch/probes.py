"""Probes: what attention, losses and hidden states on a probe batch say. Arrays in, numbers out.

A probe is a function of two arguments. The name of the first one says what the function reads on the probe batch:

| first argument | shape | answer |
|---|---|---|
| `attention` | (batch, head, query, key), of one layer | one number per head |
| `losses` | (batch, length − 1): loss at position i is that of token i + 1 | one number |
| `text_losses` | the same on the text given to `Watch(text=…)` | one number |
| `hidden` | (batch, length, width): what the output layer reads | one number |

The second argument is the `ProbeBatch`. A probe of your own is such a function: `Watch(model, probes={"mine": mine})`.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Literal, get_args

import numpy as np

from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.watch.batch import ProbeBatch

Reads = Literal["attention", "losses", "text_losses", "hidden"]
Probe = Callable[[Any, ProbeBatch], Any]


def induction(attention: Floats, batch: ProbeBatch) -> Floats:
    """Prefix matching (Olsson et al. 2022): mean attention from position i of the second copy to i − (L − 1).

    There stands the token that followed the same token in the first copy. 1 if all attention goes there.
    """
    return _diagonal(attention, batch.second, batch.L - 1)


def previous_token(attention: Floats, batch: ProbeBatch) -> Floats:
    """Mean attention to the previous position (Olsson et al. 2022).

    From position 2 on: position 1 has the start of the sequence, where attention rests, as its previous one.
    """
    return _diagonal(attention, np.arange(2, attention.shape[-1]), 1)


def duplicate_token(attention: Floats, batch: ProbeBatch) -> Floats:
    """Mean attention from position i of the second copy to i − L, where the same token stands (Wang et al. 2022).

    From the second token of the copy on: the first one has the start of the sequence there.
    """
    return _diagonal(attention, batch.second[1:], batch.L)


def sink(attention: Floats, batch: ProbeBatch) -> Floats:
    """Mean attention to position 0 (Xiao et al. 2023), from every later position."""
    return attention[:, :, 1:, 0].mean(axis=(0, 2), dtype=np.float64)


def entropy(attention: Floats, batch: ProbeBatch) -> Floats:
    """Mean entropy of attention over the positions after the first, divided by its largest value: 1 uniform, 0 sharp.

    Position 0 is left out and the rest scaled to sum 1, because a sink there would make every head look sharp.
    """
    length = attention.shape[-1]
    rest = np.asarray(attention[:, :, 2:, 1:], np.float64)
    total = rest.sum(axis=-1, keepdims=True)
    share = rest / np.maximum(total, np.finfo(np.float32).tiny)
    nats = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=-1)
    return (nats / np.log(np.arange(2, length))).mean(axis=(0, 2))


def attention_to(relevant: Callable[[np.ndarray], np.ndarray]) -> Probe:
    """A probe: mean attention to the positions that a function calls relevant.

    Args:
        relevant: from tokens (batch, length) to booleans (batch, query, key). Queries with no relevant key do not count.
    """

    def to_relevant(attention: Floats, batch: ProbeBatch) -> Floats:
        length = attention.shape[-1]
        marks = np.broadcast_to(np.asarray(relevant(batch.tokens), bool), (len(batch.tokens), length, length))
        rows = marks.any(axis=-1)
        if not rows.any():
            return np.full(attention.shape[1], np.nan)
        to = np.where(marks[:, None], attention, 0.0).sum(axis=-1, dtype=np.float64)
        return np.einsum("bhq,bq->h", to, rows) / rows.sum()

    return to_relevant


def copying(losses: Floats, batch: ProbeBatch) -> float:
    """How much lower the loss is on the second copy of the random tokens than on the first: 0 before induction.

    The first token of the second copy is left out: nothing before it tells that a copy begins.
    """
    return float(losses[:, : batch.L - 1].mean() - losses[:, batch.L :].mean())


def in_context_learning(early: int = 50, late: int = 500) -> Probe:
    """A probe on text: mean loss at token `late` minus mean loss at token `early` (Olsson et al. 2022: 500 and 50).

    Text that is shorter than `late` is read at its last token, and at a tenth of it.
    """

    def score(text_losses: Floats, batch: ProbeBatch) -> float:
        last = text_losses.shape[1]
        at = (early, late) if late <= last else (max(1, last // 10), last)
        first, second = (float(text_losses[:, one - 1].mean()) for one in at)
        return second - first

    return score


def hidden_similarity(hidden: Floats, batch: ProbeBatch) -> float:
    """Mean cosine similarity of hidden states at different positions, high on a plateau (Gopalani and Hu 2025).

    Position 0 is left out: its hidden state is often far larger and points elsewhere.
    """
    h = np.asarray(hidden[:, 1:], np.float64)
    unit = h / np.maximum(np.linalg.norm(h, axis=-1, keepdims=True), 1e-30)
    count = h.shape[1]
    return float(((unit.sum(axis=1) ** 2).sum(axis=-1) - count).mean() / (count * (count - 1)))


DEFAULT: Mapping[str, Probe] = {
    "induction": induction,
    "previous_token": previous_token,
    "duplicate_token": duplicate_token,
    "sink": sink,
    "entropy": entropy,
    "copying": copying,
    "hidden_similarity": hidden_similarity,
}
"""What `Watch` measures if nothing else is asked for."""


def reads(name: str, probe: Any) -> Reads:
    """What a probe reads, by the name of its first argument; a function that is no probe is refused."""
    try:
        first = next(iter(signature(probe).parameters), None)
    except (TypeError, ValueError):
        first = None
    for what in get_args(Reads):
        if what == first:
            return what
    raise RequestError(
        f"probe {name!r} is not allowed: it must be a function whose first argument is named "
        "attention, losses, text_losses or hidden, and whose second one is the probe batch."
    )


def _diagonal(attention: Floats, queries: np.ndarray, back: int) -> Floats:
    """Mean attention of each head from some queries to the position `back` before each."""
    return attention[:, :, queries, queries - back].mean(axis=(0, 2), dtype=np.float64)
