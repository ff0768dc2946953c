"""Which of several reference predictors a network is nearest to, and when: the stages of paper B (B3)."""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from daybreak._types import ArrayLike
from daybreak.errors import RequestError
from daybreak.measure import _check, _curve
from daybreak.measure._table import Integers


class Span(NamedTuple):
    """A stretch of evaluations at which one reference is nearest.

    Args:
        reference: its place in the list, from 0.
        start: first such evaluation.
        end: last such evaluation.
    """

    reference: int
    start: float
    end: float


@final
@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest reference at each evaluation, and the spans this makes."""

    index: Integers
    spans: tuple[Span, ...]


def nearest_reference(steps: ArrayLike, kl_by_reference: ArrayLike, *, hold: int = 1) -> Nearest:
    """The reference at the least divergence, evaluation by evaluation: p^(1), then p^(2), then p^(3) in paper B, fig. 3.

    Args:
        steps: increasing steps of evaluation.
        kl_by_reference: one row per reference, one column per evaluation: KL(p^(n) ‖ student).
        hold: evaluations in a row for which another reference must be nearest to count; noise makes the nearest alternate.

    Example:
        >>> nearest_reference([0, 10, 20, 30], [[0.1, 0.2, 0.5, 0.9], [0.6, 0.3, 0.2, 0.1]]).spans
        (Span(reference=0, start=0.0, end=10.0), Span(reference=1, start=20.0, end=30.0))
    """
    x, kl = _curve.check(steps, kl_by_reference)
    if kl.ndim != 2 or not len(kl):
        raise RequestError(
            f"kl_by_reference of shape {kl.shape} is not allowed: one row per reference, one column per step."
        )
    index = _held(np.argmin(kl, axis=0), _check.whole("hold", hold, 1))
    firsts = np.flatnonzero(np.diff(index, prepend=-1))
    lasts = np.append(firsts[1:], x.size) - 1
    spans = (Span(int(index[a]), float(x[a]), float(x[b])) for a, b in zip(firsts, lasts, strict=True))
    return Nearest(index, tuple(spans))


def _held(index: Integers, hold: int) -> Integers:
    """Give stretches shorter than `hold` to the reference before them; those at the start, to the first that holds."""
    firsts = np.flatnonzero(np.diff(index, prepend=-1))
    lengths = np.diff(np.append(firsts, index.size))
    held = lengths >= hold
    if not held.any():
        return np.full_like(index, np.bincount(index).argmax())
    owner = np.maximum.accumulate(np.where(held, np.arange(held.size), -1))
    owner[owner < 0] = int(np.flatnonzero(held)[0])
    return np.repeat(index[firsts[owner]], lengths)
