"""Curves: checked for increasing steps and finite values, and thinned if they are long."""

from typing import Literal, get_args

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError

Direction = Literal["down", "up"]


def check(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """Steps and values of a curve as arrays; `values` may hold several curves over the same steps, one per row."""
    try:
        x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RequestError("steps and values are not a curve: give two lists of numbers of equal length.") from None
    if x.ndim != 1 or x.shape != y.shape[-1:] or not x.size:
        raise RequestError(
            f"steps {x.shape} and values {y.shape} are not a curve: give two lists of equal length, not empty."
        )
    if not np.all(np.isfinite(x)) or np.any(np.diff(x) <= 0):
        raise RequestError(f"steps are not allowed{_first_wrong(x)}: they must be finite, increase, and not repeat.")
    if not np.all(np.isfinite(y)):
        at = x[np.flatnonzero(~np.isfinite(np.atleast_2d(y)).all(axis=0))[0]]
        raise RequestError(f"values are not allowed: the value at step {at:g} is not finite.")
    return x, y


def sign(direction: Direction) -> float:
    """1 for a curve that falls at emergence, −1 for one that rises."""
    if direction not in get_args(Direction):
        raise RequestError(f"direction = {direction!r} is unknown: choose 'down' or 'up'.")
    return 1.0 if direction == "down" else -1.0


def thin(x: Floats, y: Floats, most: int) -> tuple[Floats, Floats]:
    """The curve as at most `most` means over neighbouring evaluations, which also averages their noise."""
    edges = np.linspace(0, x.size, min(most, x.size) + 1).round().astype(int)
    sizes = np.diff(edges)
    return np.add.reduceat(x, edges[:-1]) / sizes, np.add.reduceat(y, edges[:-1]) / sizes


def noise(y: Floats) -> float:
    """Standard deviation of the noise of evaluations, from second differences, where a smooth curve leaves nothing.

    Median absolute value, so that a jump of the curve does not count as noise.
    """
    if y.size < 3:
        return 0.0
    return float(np.median(np.abs(np.diff(y, n=2))) / 0.6745 / np.sqrt(6))


def median_of_three(y: Floats) -> Floats:
    """The running median of three values, which removes single outliers; the first and the last stay."""
    if y.size < 3:
        return y
    middle = np.sort(np.stack([y[:-2], y[1:-1], y[2:]]), axis=0)[1]
    return np.concatenate([y[:1], middle, y[-1:]])


def _first_wrong(x: Floats) -> str:
    wrong = np.flatnonzero(~np.isfinite(x[1:]) | ~(np.diff(x) > 0)) if x.size > 1 else np.array([], dtype=int)
    return f" at {x[wrong[0] + 1]:g} after {x[wrong[0]]:g}" if wrong.size else ""
