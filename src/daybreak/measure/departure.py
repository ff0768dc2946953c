"""Whether the loss of a run in training has left its plateau: a test after every evaluation."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from daybreak._types import ArrayLike
from daybreak.measure import _check, _curve

_FEWEST = 6  # evaluations on the plateau before anything can have left it
_HELD = 2  # evaluations in a row that must lie below the fraction
_SURE = 5.0  # standard deviations of the noise that the fall must exceed


def has_left_plateau(values: ArrayLike, fraction: float = 0.2) -> bool:
    """Whether the latest evaluations of a loss lie below a fraction of the plateau before them.

    The height of the plateau is the largest median of six evaluations in a row. So the fall in the first two or three
    evaluations does not count, nor does a single outlier. The fall must also exceed five standard deviations of the noise, so
    flat noise of any size gives False. `transition` examines a whole curve; this function examines its end only.

    Args:
        values: the loss at each evaluation so far; it must fall towards zero.
        fraction: of the height of the plateau.

    Example:
        >>> loss = [3.1, 0.6, 0.52, 0.5, 0.5, 0.49, 0.5, 0.4, 0.2, 0.09]
        >>> has_left_plateau(loss), has_left_plateau([*loss, 0.06])
        (False, True)
    """
    fraction = _check.fraction("fraction", fraction)
    y = np.asarray(values, dtype=np.float64)
    if y.size < _FEWEST + _HELD or not np.all(np.isfinite(y)):
        return False
    before, now = y[:-_HELD], float(y[-_HELD:].max())
    height = float(np.median(sliding_window_view(before, _FEWEST), axis=1).max())
    return bool(now <= fraction * height and height - now > _SURE * _curve.noise(before))
