"""The best fit of a curve that is flat, then a ramp down, then flat.

Every pair (start, end) of the ramp is tried at once: for a given pair the two heights are a regression on one variable,
whose sums are differences of running sums.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from daybreak._types import Floats
from daybreak.measure._table import Integers

UNKNOWNS = 4  # start, end, two heights
SIDE = 3  # evaluations that must lie before the ramp, and after its start


class Ramp(NamedTuple):
    """The best ramp of a search, and the range of starts that fit about as well."""

    start: float
    end: float
    before: float
    after: float
    earliest: float
    latest: float
    squares: float  # left by the fit


def search_all(x: Floats, y: Floats) -> Ramp:
    """The best of all ramps between two evaluations of a curve of at least 2 · `SIDE` of them."""
    return search(x, y, *np.triu_indices(x.size, 1))


def search(x: Floats, y: Floats, first: Integers, last: Integers) -> Ramp:
    """Fit every ramp from x[first] to x[last]: y = before + (after − before) · clip((x − start)/(end − start), 0, 1)."""
    rows = x.size
    allowed = (first >= SIDE - 1) & (first < rows - SIDE)
    first, last = first[allowed], last[allowed]
    t, mean = (x - x[0]) / (x[-1] - x[0]), y.mean()
    z = y - mean
    start, width = t[first], t[last] - t[first]
    after = rows - last
    ones, tt, zz, square, product = (_between(v, first, last) for v in (np.ones(rows), t, z, t * t, t * z))
    total = (tt - start * ones) / width + after
    squared = (square - 2 * start * tt + start**2 * ones) / width**2 + after
    shared = (product - start * zz) / width + _between(z, last - 1, np.full_like(last, rows))
    variance = squared - total**2 / rows
    gain = np.where(shared < 0, shared**2 / variance, 0.0)  # only ramps that fall
    best = int(np.argmax(gain))
    left = np.maximum(z @ z - gain, 0.0)
    fall = min(float(shared[best] / variance[best]), 0.0)
    before = float(mean - fall * total[best] / rows)
    close = first[left <= left[best] * (1 + special.fdtri(1, rows - UNKNOWNS, 0.95) / (rows - UNKNOWNS))]
    return Ramp(
        start=float(x[first[best]]),
        end=float(x[last[best]]),
        before=before,
        after=before + fall,
        earliest=float(x[max(close.min() - 1, 0)]),  # a start between two evaluations was not tried
        latest=float(x[close.max() + 1]),
        squares=float(left[best]),
    )


def _between(v: Floats, first: Integers, last: Integers) -> Floats:
    """Sums of v strictly between places first and last."""
    running = np.concatenate([[0.0], np.cumsum(v)])
    return running[last] - running[first + 1]
