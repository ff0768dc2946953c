"""Plateaus of a curve that falls in steps: how many it has, and where each starts and ends.

The curve is cut into straight pieces by dynamic programming, with a price for each cut (Bellman and Roth 1969; the price
is that of Yao 1988, growing as the log of the number of points). A drop is a stretch where the curve falls fast; a plateau
lies between two drops and falls at most half as fast as the slower of them. So a plateau may slope, a drop may be gradual, and
a longer run does not change what is a plateau. Two logistic drops of equal height and width w count as two if their
middles are at least seven widths apart.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _check, _curve, _ramp
from daybreak.measure._table import Integers

_POINTS = 256  # the curve is thinned to this many
_PRICE = 3.0  # of a cut, in log(points) · noise²: a place, a height and a slope
_FAINTEST = 0.1  # of the smallest drop: a fainter bend is not worth a cut, even without noise
_FLAT = 0.5  # a plateau falls at most at this fraction of the rate of the drops beside it
_SURE = 4.0  # standard deviations of the noise that a drop must exceed
_SHORTEST = 4  # evaluations: on fewer, a plateau cannot be told from a bend


@final
@dataclass(frozen=True)
class Stage:
    """A plateau of a staircase.

    Args:
        start: step at which it starts.
        end: step at which it ends.
        level: median of the curve on it.
    """

    start: float
    end: float
    level: float

    def __str__(self) -> str:
        return f"{self.level:.3g} from {self.start:g} to {self.end:g}"


def stages(
    steps: ArrayLike, values: ArrayLike, *, smallest: float = 0.05, shortest: int = _SHORTEST
) -> tuple[Stage, ...]:
    """The plateaus of a curve, in their order, the one on which it starts among them.

    Starts and ends are resolved to 1/256 of the curve. A curve that falls evenly has no plateau, a flat one has one. For the
    stages of paper B, which are counted after the first fall, see `staircase`.

    Args:
        steps: increasing steps or times of evaluation.
        values: loss, or another curve that falls or rises in steps.
        smallest: least difference between the heights of two neighbouring plateaus, as a fraction of the curve's range.
        shortest: least number of evaluations on a plateau.

    Example:
        >>> import numpy as np
        >>> steps = np.arange(0, 1000, 5)
        >>> for stage in stages(steps, np.where(steps < 330, 1.0, np.where(steps < 575, 0.4, 0.1))):
        ...     print(stage)
        1 from 0 to 325
        0.4 from 330 to 570
        0.1 from 575 to 995
    """
    smallest = _check.fraction("smallest", smallest)
    shortest = _check.whole("shortest", shortest, 1)
    x, y = _curve.check(steps, values)
    if y.ndim != 1:
        raise RequestError(f"values of shape {y.shape} are not allowed: give one curve at a time.")
    sign = 1.0 if y[-1] <= y[0] else -1.0
    found = plateaus(x, sign * y, smallest * float(np.ptp(y)), shortest)
    return tuple(Stage(one.start, one.end, sign * one.level) for one in found)


def plateaus(x: Floats, y: Floats, smallest: float, shortest: int = _SHORTEST) -> tuple[Stage, ...]:
    """The plateaus of a falling curve; `smallest` is the least drop between two of them, in units of the curve."""
    if x.size == 1 or np.ptp(y) <= 1e-12 * np.abs(y).max():
        return (_between(x, y, x[0], x[-1]),)
    # A thinned point stands for several evaluations.
    shortest = max(1, round(shortest * min(1.0, _POINTS / x.size)))
    x, y = _curve.thin(x, y, _POINTS)
    noise = _curve.noise(y)
    rates = _rates(x, y, max(noise, _FAINTEST * smallest))
    smallest = max(smallest, _SURE * noise)
    drops = _drops(x, rates, smallest, shortest)
    slow = [_slow(rates, a, b) for a, b in pairwise([-1, *drops, x.size])]
    flat = [_between(x, y, float(x[places[0]]), float(x[places[-1]])) for places in slow if places.size]
    # Merge before and after short ones are left out: a spike is flat too, and separates equal plateaus.
    for _ in range(2):
        flat = _merged(x, y, flat, smallest)
        flat = [one for one in flat if np.sum((x >= one.start) & (x <= one.end)) >= shortest]
    return _refined(x, y, flat)


def _rates(x: Floats, y: Floats, noise: float) -> Floats:
    """The rate at which the curve falls at each evaluation: between its neighbours on the straight pieces; 0 where it rises."""
    fit = np.concatenate([_line(x[first:after], y[first:after]) for first, after in _pieces(x, y, noise)])
    left, right = np.maximum(np.arange(x.size) - 1, 0), np.minimum(np.arange(x.size) + 1, x.size - 1)
    return np.maximum((fit[left] - fit[right]) / (x[right] - x[left]), 0.0)


def _drops(x: Floats, rates: Floats, smallest: float, shortest: int) -> list[int]:
    """The place of fastest fall of each drop. Those that fall less than `smallest` are left out; two that no plateau separates are one."""
    starts = np.flatnonzero(np.diff(rates, prepend=-1.0))  # of stretches of equal rates
    heights = np.concatenate([[-1.0], rates[starts], [-1.0]])
    peaks = starts[(heights[1:-1] > heights[:-2]) & (heights[1:-1] > heights[2:])].tolist()
    fallen = np.concatenate([[0.0], np.cumsum((rates[1:] + rates[:-1]) / 2 * np.diff(x))])
    while peaks:
        lows = [a + int(np.argmin(rates[a : b + 1])) for a, b in pairwise(peaks)]
        falls = np.diff(fallen[[0, *lows, -1]])
        least = int(np.argmin(falls))
        if falls[least] <= smallest:
            del peaks[least]
            continue
        lengths = [_slow(rates, a, b).size for a, b in pairwise(peaks)]
        if not lengths or min(lengths) >= shortest:
            break
        one = int(np.argmin(lengths))
        del peaks[one if falls[one] < falls[one + 1] else one + 1]  # what is left is the larger of the two
    return peaks


def _slow(rates: Floats, a: int, b: int) -> Integers:
    """Places between two drops, or a drop and an end, that fall at most at a fraction of the rate of the slower drop."""
    drops = [rates[i] for i in (a, b) if 0 <= i < rates.size]
    return a + 1 + np.flatnonzero(rates[a + 1 : b] <= _FLAT * min(drops, default=np.inf))


def _merged(x: Floats, y: Floats, flat: list[Stage], closest: float) -> list[Stage]:
    """Plateaus of a falling curve: one that is not lower than the one before it by `closest` belongs to it."""
    merged: list[Stage] = []
    for one in flat:
        if merged and merged[-1].level - one.level <= closest:
            merged[-1] = _between(x, y, merged[-1].start, one.end)
        else:
            merged.append(one)
    return merged


def _refined(x: Floats, y: Floats, flat: list[Stage]) -> tuple[Stage, ...]:
    """Plateaus whose ends are those of the ramp that best joins each to the next, which noise moves less than a cut."""
    starts, ends = [one.start for one in flat], [one.end for one in flat]
    for i, (one, next_) in enumerate(pairwise(flat)):
        rows = (x >= (one.start + one.end) / 2) & (x <= (next_.start + next_.end) / 2)
        if rows.sum() >= 2 * _ramp.SIDE:
            ramp = _ramp.search_all(x[rows], y[rows])
            ends[i], starts[i + 1] = ramp.start, ramp.end
    return tuple(_between(x, y, a, b) for a, b in zip(starts, ends, strict=True))


def _between(x: Floats, y: Floats, start: float, end: float) -> Stage:
    return Stage(float(start), float(end), float(np.median(y[(x >= start) & (x <= end)])))


def _line(t: Floats, y: Floats) -> Floats:
    """The straight line through some points."""
    centred = t - t.mean()
    slope = float(centred @ y) / float(centred @ centred) if t.size > 1 else 0.0
    return y.mean() + slope * centred


def _pieces(x: Floats, y: Floats, noise: float) -> list[tuple[int, int]]:
    """Cuts of a curve into straight pieces at least cost, as (first, after last)."""
    price = _PRICE * np.log(x.size) * noise**2
    cost = _squares(x, y)
    best, origin = np.zeros(x.size + 1), np.zeros(x.size, dtype=int)
    for last in range(x.size):
        total = best[: last + 1] + cost[: last + 1, last] + price
        origin[last] = int(np.argmin(total))
        best[last + 1] = total[origin[last]]
    pieces, after = [], x.size
    while after:
        pieces.append((int(origin[after - 1]), after))
        after = pieces[-1][0]
    return pieces[::-1]


def _squares(x: Floats, y: Floats) -> Floats:
    """Squares that a straight line leaves on every piece [first, last], from running sums."""
    t, z = (x - x[0]) / (x[-1] - x[0]), y - y.mean()
    last, first = np.arange(1, x.size + 1), np.arange(x.size)

    def sums(v: Floats) -> Floats:
        running = np.concatenate([[0.0], np.cumsum(v)])
        return running[last][None, :] - running[first][:, None]

    count = np.maximum(last[None, :] - first[:, None], 1)
    st, sz = sums(t), sums(z)
    tt = np.maximum(sums(t * t) - st**2 / count, 0.0)
    tz, zz = sums(t * z) - st * sz / count, sums(z * z) - sz**2 / count
    slope_part = np.divide(tz**2, tt, out=np.zeros_like(tt), where=tt > 1e-12)
    return np.maximum(zz - slope_part, 0.0)
