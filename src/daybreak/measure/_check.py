"""Settings, checked at the door."""

import numpy as np

from daybreak.errors import RequestError


def whole(name: str, value: int, least: int) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise RequestError(f"{name} = {value!r} is not allowed: it must be a whole number, at least {least}.")
    return int(value)


def share(name: str, value: float) -> float:
    """A number between 0 and 1."""
    if not 0 < value < 1:
        raise RequestError(f"{name} = {value} is not allowed: it must lie between 0 and 1.")
    return float(value)
