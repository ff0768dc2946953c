"""Checks of settings."""

import numpy as np

from daybreak.errors import refuse


def whole(name: str, value: int, least: int) -> int:
    """A whole number, at least `least`."""
    wrong = isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least
    refuse(name, value, bool(wrong), f"it must be a whole number, at least {least}")
    return int(value)


def fraction(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    refuse(name, value, not 0 < value < 1, "it must lie strictly between 0 and 1")
    return float(value)
