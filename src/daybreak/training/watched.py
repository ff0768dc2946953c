"""What the stop rule watches: which curve, its direction, the level, and the evaluations before a run diverged."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from daybreak.measure import Plateau, plateau

Watch = Literal["score", "attention"]


@final
@dataclass(frozen=True)
class Watched:
    """The curve that decides when a run has emerged.

    Args:
        name: clean accuracy where the task has one, otherwise clean loss; or attention to relevant positions, of the head that
            has the most at that step.
        direction: an accuracy and attention rise to their level, a loss falls to it.
        level: rounded to float32, the precision of the curves; 0 if there is none.
    """

    name: Literal["clean_accuracy", "clean_loss", "attention"]
    direction: Literal["up", "down"]
    level: float

    def reached(self, row: Mapping[str, Any]) -> bool:
        """Whether an evaluation lies at the level or beyond it."""
        value = np.max(row[self.name])
        return bool(self.level and (value >= self.level if self.direction == "up" else value <= self.level))

    def plateau(self, steps: NDArray[np.integer], curves: Mapping[str, NDArray]) -> Plateau:
        """The plateau of the finite part of the curve; censored if there is no level, or nothing finite."""
        count = finite(curves)
        if not (self.level and count):
            last = float(steps[max(count - 1, 0)])
            return Plateau(last, True, (last, np.inf))
        return plateau(steps[:count], self.curve(curves)[:count], self.level, direction=self.direction)

    def curve(self, curves: Mapping[str, NDArray]) -> NDArray:
        """One number for each evaluation; of several heads, the largest."""
        values = curves[self.name]
        return values if values.ndim < 2 else values.reshape(len(values), -1).max(axis=1)


def watched(level: float, curves: Container[str], watch: Watch = "score") -> Watched:
    """What a stop rule with this level watches, among curves of these names."""
    rounded = float(np.float32(level))
    if watch == "attention":
        return Watched("attention", "up", rounded)
    return (
        Watched("clean_accuracy", "up", rounded)
        if "clean_accuracy" in curves
        else Watched("clean_loss", "down", rounded)
    )


def finite(curves: Mapping[str, NDArray]) -> int:
    """The number of evaluations before the clean loss was first not finite: there, a run has diverged.

    A record of another program may have no clean loss; then the clean accuracy counts.
    """
    is_finite = np.isfinite(curves["clean_loss" if "clean_loss" in curves else "clean_accuracy"])
    return is_finite.size if is_finite.all() else int(np.argmin(is_finite))
