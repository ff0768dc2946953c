"""Stages of a curve that falls in steps: how many plateaus it has, and where each starts and ends.

The curve is cut into straight pieces by dynamic programming, with a price for each cut (Bellman and Roth 1969; the price
is that of Yao 1988, growing as the log of the number of points). Pieces that are flat are plateaus; steep ones are the
drops between them, which may be gradual.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _check, _curve, _ramp

_POINTS = 256  # the curve is thinned to this many
_PRICE = 3.0  # of a cut, in log(points) · noise²: a place, a height and a slope
_FAINTEST = 0.005  # fraction of the curve's range below which a bend is not worth a cut, even without noise
_FLAT = 0.5  # a piece is flat if it changes at less than this fraction of the whole curve's mean rate


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


def stages(steps: ArrayLike, values: ArrayLike, *, smallest: float = 0.05, shortest: float = 0.03) -> tuple[Stage, ...]:
    """The plateaus of a curve, in their order; for paper B, where the loss falls in three steps (B1).

    Starts and ends are resolved to 1/256 of the curve. A curve that falls evenly has no plateau, a flat one has one.

    Args:
        steps: increasing steps or times of evaluation.
        values: loss, or another curve that falls or rises in steps.
        smallest: least difference between the heights of two neighbouring plateaus, as a fraction of the curve's range.
        shortest: least length of a plateau, as a fraction of the whole.

    Example:
        >>> import numpy as np
        >>> steps = np.arange(0, 1000, 5)
        >>> for stage in stages(steps, np.where(steps < 330, 1.0, np.where(steps < 575, 0.4, 0.1))):
        ...     print(stage)
        1 from 0 to 325
        0.4 from 330 to 570
        0.1 from 575 to 995
    """
    smallest, shortest = _check.fraction("smallest", smallest), _check.fraction("shortest", shortest)
    x, y = _curve.check(steps, values)
    if y.ndim != 1:
        raise RequestError(f"values of shape {y.shape} are not allowed: give one curve at a time.")
    if x.size == 1:
        return (Stage(float(x[0]), float(x[0]), float(y[0])),)
    x, y = _curve.thin(x, y, _POINTS)
    height, length = float(np.ptp(y)), float(x[-1] - x[0])
    if height <= 1e-12 * np.abs(y).max():
        return (Stage(float(x[0]), float(x[-1]), float(y.mean())),)
    flat = [piece for piece in _pieces(x, y) if _rate(x, y, piece) * length <= _FLAT * height]
    plateaus = [_between(x, y, x[first], x[after - 1]) for first, after in flat]
    # Merge once before and once after short ones are dropped: a spike is flat too, and separates equal plateaus.
    for _ in range(2):
        plateaus = _merged(x, y, plateaus, smallest * height)
        plateaus = [stage for stage in plateaus if stage.end - stage.start >= shortest * length]
    return _refined(x, y, plateaus)


def _merged(x: Floats, y: Floats, plateaus: list[Stage], closest: float) -> list[Stage]:
    merged: list[Stage] = []
    for stage in plateaus:
        if merged and abs(merged[-1].level - stage.level) <= closest:
            merged[-1] = _between(x, y, merged[-1].start, stage.end)
        else:
            merged.append(stage)
    return merged


def _refined(x: Floats, y: Floats, plateaus: list[Stage]) -> tuple[Stage, ...]:
    """Stages whose ends are those of the ramp that best joins each to the next, which noise moves less than a cut."""
    starts, ends = [stage.start for stage in plateaus], [stage.end for stage in plateaus]
    for i, (one, next_) in enumerate(pairwise(plateaus)):
        rows = (x >= (one.start + one.end) / 2) & (x <= (next_.start + next_.end) / 2)
        if rows.sum() >= 2 * _ramp.SIDE:
            ramp = _ramp.search_all(x[rows], y[rows] if next_.level < one.level else -y[rows])
            ends[i], starts[i + 1] = ramp.start, ramp.end
    return tuple(_between(x, y, a, b) for a, b in zip(starts, ends, strict=True))


def _between(x: Floats, y: Floats, start: float, end: float) -> Stage:
    return Stage(float(start), float(end), float(np.median(y[(x >= start) & (x <= end)])))


def _rate(x: Floats, y: Floats, piece: tuple[int, int]) -> float:
    """Absolute slope of the straight line through a piece; a single point belongs to no plateau."""
    first, after = piece
    if after - first == 1:
        return np.inf
    t = x[first:after] - x[first:after].mean()
    return float(abs(t @ y[first:after]) / (t @ t))


def _pieces(x: Floats, y: Floats) -> list[tuple[int, int]]:
    """Cuts of a curve into straight pieces at least cost, as (first, after last)."""
    noise = max(_curve.noise(y), _FAINTEST * np.ptp(y))
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
