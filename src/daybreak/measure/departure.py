"""Whether a loss that still trains has left its plateau: the question of a transition, asked after every evaluation."""

import numpy as np
from numpy.typing import ArrayLike

from daybreak.measure import _check, _curve

_FEWEST = 6  # evaluations on the plateau before anything can have left it
_HELD = 2  # evaluations in a row that must lie below
_SURE = 5.0  # standard deviations of the noise that the fall must exceed


def departed(values: ArrayLike, share: float = 0.2) -> bool:
    """Whether the latest evaluations of a loss lie below a share of the plateau that came before them.

    The height of the plateau is the median of all earlier evaluations, so that what a loss loses in its first steps does not
    count, nor does a single wild evaluation. On flat noise it answers no, however large the noise: the fall must also exceed
    five standard deviations of it. Unlike `transition`, which looks back at a whole curve, it looks at the end only.

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
    height = float(np.median(before))
    return bool(now <= share * height and height - now > _SURE * _curve.noise(before))
