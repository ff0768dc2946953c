"""A loss that has begun to fall, extrapolated as a line to the step at which it crosses a level."""

from typing import NamedTuple

import numpy as np

from daybreak._types import Floats
from daybreak.measure import _curve

_BEGUN = 0.15  # least fall, as a fraction of the way from the plateau to the level
_SURE = 5.0  # least fall, in standard deviations of the noise
_FEWEST = 4  # least number of evaluations to fit the line to
_SETTLING = 0.5  # a fall that has slowed to this fraction of its speed may not reach the level: no forecast from it
# From tuning runs: a fall accelerates, so the rest takes about 0.7 of the time by the line. Its spread is 0.6 of that.
_FASTER, _SPREAD = 0.7, 0.6


class Fall(NamedTuple):
    """Where a fall is expected to cross the level."""

    crossing: float
    spread: float  # standard deviation of the logarithm of that step


def fall(steps: Floats, excess: Floats) -> Fall | None:
    """The fall at the end of a curve towards zero; None if it has not begun.

    Args:
        steps: of evaluation.
        excess: how far the curve is from the level, positive on the plateau.
    """
    if steps.size < 2 * _FEWEST:
        return None
    plateau = float(np.quantile(excess, 0.75))  # most of the curve may already be the fall
    last = float(np.mean(excess[-2:]))
    noise = _curve.noise(excess)
    if plateau - last < max(_BEGUN * plateau, _SURE * noise):
        return None
    high = np.flatnonzero(excess > plateau - max(_BEGUN / 2 * plateau, 2 * noise))
    begin = int(high[-1]) if high.size else 0
    first = min((begin + steps.size) // 2, steps.size - _FEWEST)  # its recent half: its speed changes
    t, y = steps[first:] - steps[-1], excess[first:]
    slope, now = np.polyfit(t, y, 1)
    before = (excess[begin] - excess[first]) / max(steps[first] - steps[begin], steps[-1] - steps[-2])
    if slope >= 0 or now <= 0 or -slope < _SETTLING * before:
        return None
    ahead = -_FASTER * now / slope
    crossing = float(steps[-1] + ahead)
    return Fall(crossing, float(max(_SPREAD * ahead, (steps[-1] - steps[-2]) / 2) / crossing))
