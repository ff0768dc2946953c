"""How much the length of a plateau depends on the level that ends it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from daybreak._types import ArrayLike
from daybreak.errors import RequestError
from daybreak.measure._curve import Direction
from daybreak.measure.plateau import Plateau, plateau


@final
@dataclass(frozen=True)
class ThresholdSensitivity:
    """Plateau lengths at several levels.

    Args:
        levels: as given.
        plateaus: the plateau that each level ends.
        spread: (longest − shortest) / median length; 0 if the level does not matter.
        at_least: whether some plateaus are censored, so that the spread is only a lower bound.
    """

    levels: tuple[float, ...]
    plateaus: tuple[Plateau, ...]
    spread: float
    at_least: bool

    def __str__(self) -> str:
        lengths = ", ".join(f"{x:g}: {p}" for x, p in zip(self.levels, self.plateaus, strict=True))
        return f"{lengths}; spread {'at least ' if self.at_least else ''}{self.spread:.1%}"


def threshold_sensitivity(
    steps: ArrayLike,
    values: ArrayLike,
    levels: Sequence[float],
    *,
    direction: Direction = "down",
    hold: int = 1,
    smooth: int = 1,
) -> ThresholdSensitivity:
    """Measure the plateau at several levels, and how much the answers differ.

    Args:
        steps: increasing steps or times of evaluation.
        values: loss or accuracy at each.
        levels: at least two.
        direction: as in `plateau`.
        hold: as in `plateau`.
        smooth: as in `plateau`.

    Example:
        >>> print(threshold_sensitivity([0, 100, 120], [0.5, 0.5, 0.0], [0.4, 0.25, 0.1]))
        0.4: 104, 0.25: 110, 0.1: 116; spread 10.9%
    """
    if len(levels) < 2:
        raise RequestError(f"levels = {list(levels)} is not allowed: give at least two to compare.")
    plateaus = tuple(plateau(steps, values, x, direction=direction, hold=hold, smooth=smooth) for x in levels)
    lengths = np.array([p.length for p in plateaus])
    middle = np.median(lengths)
    spread = float(np.ptp(lengths) / middle) if middle > 0 else 0.0
    return ThresholdSensitivity(tuple(map(float, levels)), plateaus, spread, any(p.censored for p in plateaus))
