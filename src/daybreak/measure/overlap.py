"""How much heads attend to the same positions: competition and cooperation as a number (paper B)."""

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError


def overlap(attention: ArrayLike) -> Floats:
    """Cosine between the attention of two heads, averaged over all pairs of heads.

    1 if all heads attend to the same positions in the same proportion: they compete. 0 if no two heads attend to a common
    position: they divide the work. Uniform heads overlap too, so also look at how concentrated they are.

    Args:
        attention: not negative, (…, heads, positions); at least two heads.

    Example:
        >>> overlap([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]).round(3), overlap([[1, 0, 0], [0, 1, 0], [0, 1, 0]]).round(3)
        (np.float64(1.0), np.float64(0.333))
    """
    maps = np.asarray(attention, dtype=np.float64)
    if maps.ndim < 2 or maps.shape[-2] < 2:
        raise RequestError(f"attention of shape {maps.shape} is not allowed: at least two heads have to be compared.")
    if not np.all(maps >= 0):
        raise RequestError("attention is not allowed: it must be at least 0 everywhere.")
    length = np.linalg.norm(maps, axis=-1, keepdims=True)
    if not np.all(length > 0):
        raise RequestError("attention is not allowed: a head that attends to nothing cannot be compared.")
    unit = maps / length
    heads = maps.shape[-2]
    cosines = np.einsum("...hp,...gp->...", unit, unit)  # of all ordered pairs, each head with itself among them
    return (cosines - heads) / (heads * (heads - 1))
