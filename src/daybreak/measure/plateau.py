"""How long until a curve crosses a level: a length, or "censored at n", never NaN."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import special

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _check, _curve
from daybreak.measure._curve import Direction

_DEGREE = 2  # of the local polynomial: follows the bend of a drop


@final
@dataclass(frozen=True)
class Plateau:
    """The length of a plateau.

    Args:
        length: steps or flow time until the level was crossed; if censored, how long it certainly lasted.
        censored: whether the curve ended before it crossed.
        bracket: where the crossing lies; open to infinity if censored. The two evaluations around it, or, if the curve
            was smoothed, its 95 % interval under noise.
    """

    length: float
    censored: bool
    bracket: tuple[float, float]

    def __str__(self) -> str:
        """With no digit finer than a tenth of the bracket: `56`, not `55.9406`, if evaluations are 20 steps apart."""
        width = self.bracket[1] - self.bracket[0]
        if self.censored or not 0 < width < np.inf:
            return f"{'censored at ' * self.censored}{self.length:g}"
        return f"{self.length:.{max(0, -math.floor(math.log10(width / 10)))}f}"


def plateau(
    steps: ArrayLike,
    values: ArrayLike,
    level: float,
    *,
    direction: Direction = "down",
    hold: int = 1,
    smooth: int = 1,
) -> Plateau:
    """Length of the plateau at the start of a curve: the first crossing of `level`, interpolated linearly.

    Noise makes the first crossing come early. `hold` ignores single evaluations beyond the level; `smooth` fits a
    parabola to each evaluation and its neighbours, that number in all, and measures where *that* crosses:
    nearly unbiased, and then `bracket` is a 95 % interval (Student's t on the residuals of the fit at the crossing,
    inverted). It is valid if a parabola follows the curve over that number of evaluations: take at most
    the number that the drop lasts.

    Args:
        steps: increasing steps or times of evaluation.
        values: loss or accuracy at each.
        level: value that ends the plateau; see also `fraction_of_start` and `above_guess`.
        direction: `down` if the curve falls to the level (a loss), `up` if it rises to it (an accuracy).
        hold: evaluations in a row that must lie beyond the level; a crossing too near the end to count is censored.
        smooth: evaluations under each parabola, 1 for none, otherwise at least 5.

    Example:
        >>> plateau([0, 100, 200, 300], [0.5, 0.5, 0.3, 0.05], level=0.1).length
        280.0
        >>> print(plateau([0, 100, 200], [0.5, 0.5, 0.49], level=0.1))
        censored at 200
        >>> plateau([0, 1, 2, 3, 4], [9, 0, 9, 1, 1], level=5, hold=2).length
        2.5
    """
    x, y = _curve.check(steps, values)
    if y.ndim != 1:
        raise RequestError(f"values of shape {y.shape} are not allowed: give one curve at a time.")
    if not np.isfinite(level):
        raise RequestError(f"level = {level} is not allowed: it must be finite.")
    excess = _curve.sign(direction) * (y - level)
    hold, smooth = _check.whole("hold", hold, 1), _check.whole("smooth", smooth, 1)
    if smooth == 1:
        return _crossing(x, excess, hold)
    if not 2 * _DEGREE + 1 <= smooth <= x.size:
        raise RequestError(
            f"smooth = {smooth} is not allowed: 1, or from {2 * _DEGREE + 1} to the {x.size} evaluations there are."
        )
    return _smoothed_crossing(x, excess, hold, smooth)


def _crossing(x: Floats, excess: Floats, hold: int) -> Plateau:
    beyond = np.concatenate([[0], np.cumsum(excess <= 0)])
    held = np.flatnonzero(beyond[hold:] - beyond[:-hold] == hold) if hold <= x.size else np.array([], dtype=int)
    if not held.size:
        # Evaluations beyond the level at the very end may be the crossing: the plateau certainly lasted only until then.
        above = np.flatnonzero(excess > 0)
        last = float(x[above[-1]] if above.size else x[0])
        return Plateau(last, True, (last, np.inf))
    after = int(held[0])
    before = max(after - 1, 0)
    return Plateau(float(_zero(x, excess, before, after)), False, (float(x[before]), float(x[after])))


def _zero(x: Floats, excess: Floats, before: int, after: int) -> float:
    fall = excess[before] - excess[after]
    fraction = excess[before] / fall if fall else 0.0
    return x[before] + fraction * (x[after] - x[before])


def _smoothed_crossing(x: Floats, excess: Floats, hold: int, smooth: int) -> Plateau:
    """Crossing of local parabolas, and the interval in which they do not differ from the level."""
    powers = np.vander(np.linspace(-1, 1, smooth), _DEGREE + 1)
    hat = powers @ np.linalg.pinv(powers)
    # Windows stay inside the curve: near its ends the parabola is evaluated away from its centre, where it is less certain.
    first = np.clip(np.arange(x.size) - smooth // 2, 0, x.size - smooth)
    place = np.arange(x.size) - first
    windows = excess[first[:, None] + np.arange(smooth)]
    fitted = np.einsum("ij,ij->i", hat[place], windows)
    crossing = _crossing(x, fitted, hold)
    if crossing.censored:
        return crossing
    after = int(np.searchsorted(x, crossing.bracket[1]))
    residuals = windows[after] - hat @ windows[after]
    freedom = smooth - _DEGREE - 1
    noise = np.sqrt(residuals @ residuals / freedom)
    margin = special.stdtrit(freedom, 0.975) * noise * np.sqrt(hat[place, place])
    low = _last_certain(x, fitted - margin, after)
    high = -_last_certain(-x[::-1], -(fitted + margin)[::-1], x.size - 1 - after)
    return Plateau(crossing.length, False, (min(low, crossing.length), max(high, crossing.length)))


def _last_certain(x: Floats, lower: Floats, until: int) -> float:
    """Where the lower end of the band last left the level before an evaluation; the start if it was never above."""
    above = np.flatnonzero(lower[:until] > 0)
    return float(_zero(x, lower, int(above[-1]), int(above[-1]) + 1)) if above.size else float(x[0])
