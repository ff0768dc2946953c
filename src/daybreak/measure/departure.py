"""Whether a loss that still trains has left its plateau: the question of a transition, asked after every evaluation."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from daybreak._types import ArrayLike
from daybreak.measure import _check, _curve

_FEWEST = 6  # evaluations on the plateau before anything can have left it
_HELD = 2  # evaluations in a row that must lie below
_SURE = 5.0  # standard deviations of the noise that the fall must exceed


def departed(values: ArrayLike, share: float = 0.2) -> bool:
    """Whether the latest evaluations of a loss lie below a share of the plateau that came before them.

    The height of the plateau is the highest that was held: the largest median of six evaluations in a row. What a loss loses in
    its first two or three evaluations does not count, nor does a single wild one. On flat noise it answers no, however large
    the noise: the fall must also exceed five standard deviations of it. Unlike `transition`, which looks back at a whole
    curve, it looks at the end only.

    Args:
        values: the loss at each evaluation so far; it must fall towards zero.
        share: of the height of the plateau.

    Example:
        >>> loss = [3.1, 0.6, 0.52, 0.5, 0.5, 0.49, 0.5, 0.4, 0.2, 0.09]
        >>> departed(loss), departed([*loss, 0.06])
        (False, True)
    """
    share = _check.share("share", share)
    y = np.asarray(values, dtype=np.float64)
    if y.size < _FEWEST + _HELD or not np.all(np.isfinite(y)):
        return False
    before, now = y[:-_HELD], float(y[-_HELD:].max())
    height = float(np.median(sliding_window_view(before, _FEWEST), axis=1).max())
    return bool(now <= share * height and height - now > _SURE * _curve.noise(before))
