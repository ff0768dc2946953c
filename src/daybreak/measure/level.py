"""Levels that end a plateau: relative to the start of a curve, or to the score of guessing."""

import numpy as np

from daybreak._types import ArrayLike
from daybreak.errors import RequestError
from daybreak.measure import _check


def fraction_of_start(values: ArrayLike, fraction: float) -> float:
    """The level at a fraction of the first value: 0.2 for the loss of paper A (A5), which starts at ½ and ends its plateau at 0.1.

    Example:
        >>> fraction_of_start([0.5, 0.49, 0.02], 0.2)
        0.1
    """
    y = np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or not y.size or not np.isfinite(y[0]):
        raise RequestError("values are not allowed: the first value of a curve must be a finite number.")
    return float(_check.fraction("fraction", fraction) * y[0])


def above_guess(guess: float, fraction: float = 0.05, *, best: float = 1.0) -> float:
    """The level at a fraction of the way from the score of guessing to the best one.

    In recall with N pairs, guessing among the values of the context already scores 1/N, more than paper A's level of
    5 % if N < 20: a level above the guess measures emergence at every N.

    Args:
        guess: score of guessing: 1/N for recall, the loss of the best constant for a regression.
        fraction: of the way from there to the best score.
        best: the best score: 1 for an accuracy, 0 for a loss without noise.

    Example:
        >>> round(above_guess(1 / 8, 0.2), 6)
        0.3
    """
    if not (np.isfinite(guess) and np.isfinite(best)) or guess == best:
        raise RequestError(f"guess = {guess} is not allowed: it must be finite and differ from the best score, {best}.")
    return float(guess + _check.fraction("fraction", fraction) * (best - guess))
