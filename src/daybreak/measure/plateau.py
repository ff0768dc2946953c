"""How long until a curve crosses a level: a length, or "censored at n", never NaN."""

from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from daybreak._types import Floats
from daybreak.errors import RequestError

Direction = Literal["down", "up"]


@final
@dataclass(frozen=True)
class Plateau:
    """The length of a plateau.

    Args:
        length: steps or flow time until the level was crossed; if censored, how long the curve was watched.
        censored: whether the curve ended before it crossed.
        bracket: the two evaluations between which it crossed; open to infinity if censored.
    """

    length: float
    censored: bool
    bracket: tuple[float, float]

    def __str__(self) -> str:
        return f"censored at {self.length:g}" if self.censored else f"{self.length:g}"


def plateau(steps: ArrayLike, values: ArrayLike, level: float, *, direction: Direction = "down") -> Plateau:
    """Length of the plateau at the start of a curve: the first crossing of `level`, interpolated linearly.

    Args:
        steps: increasing steps or times of evaluation.
        values: loss or accuracy at each.
        level: value that ends the plateau.
        direction: `down` if the curve falls to the level (a loss), `up` if it rises to it (an accuracy).

    Example:
        >>> plateau([0, 100, 200, 300], [0.5, 0.5, 0.3, 0.05], level=0.1).length
        280.0
        >>> print(plateau([0, 100, 200], [0.5, 0.5, 0.49], level=0.1))
        censored at 200
    """
    if direction not in get_args(Direction):
        raise RequestError(f"direction = {direction!r} is unknown: choose 'down' or 'up'.")
    x, y = _check_curve(steps, values)
    if not np.isfinite(level):
        raise RequestError(f"level = {level} is not allowed: it must be finite.")
    sign = 1.0 if direction == "down" else -1.0
    excess = sign * (y - level)
    crossed = np.flatnonzero(excess <= 0)
    if not crossed.size:
        return Plateau(float(x[-1]), True, (float(x[-1]), np.inf))
    after = int(crossed[0])
    if after == 0:
        return Plateau(float(x[0]), False, (float(x[0]), float(x[0])))
    before = after - 1
    share = excess[before] / (excess[before] - excess[after])
    length = x[before] + share * (x[after] - x[before])
    return Plateau(float(length), False, (float(x[before]), float(x[after])))


def _check_curve(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not x.size:
        raise RequestError(
            f"steps {x.shape} and values {y.shape} are not a curve: give two lists of equal length, not empty."
        )
    if not np.all(np.isfinite(x)) or np.any(np.diff(x) <= 0):
        raise RequestError("steps are not allowed: they must be finite, increase, and not repeat.")
    if not np.all(np.isfinite(y)):
        at = x[np.flatnonzero(~np.isfinite(y))[0]]
        raise RequestError(f"values are not allowed: the value at step {at:g} is not finite.")
    return x, y
