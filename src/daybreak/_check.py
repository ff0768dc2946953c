"""Checks of the fields of tasks and models: plain numbers get one form, and bad ones are refused with a sentence.

Sizes are static and always plain. Scalars such as B and p may also be arrays or tracers, one value per member of a
cohort. Those were plain when their runs were described, and are not checked again.
"""

import math
from numbers import Real
from typing import Any, get_args

import jax
import numpy as np

from daybreak.errors import refuse


def as_int(value: Any) -> Any:
    """A NumPy integer as a Python one, so that equal tasks have equal JSON; anything else as it is.

    Example:
        >>> as_int(np.int64(8)), as_int("8")
        (8, '8')
    """
    return int(value) if isinstance(value, np.integer) else value


def as_float(value: Any) -> Any:
    """A plain number as a Python float, so that B = 1 and B = 1.0 are the same task; anything else as it is.

    Example:
        >>> as_float(1), as_float(np.float32(0.5)), as_float("1")
        (1.0, 0.5, '1')
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return float(value) if plain else value


def as_floats(values: Any) -> Any:
    """Several numbers, such as a list read from JSON, as a tuple of floats; anything else as it is.

    Example:
        >>> as_floats([1, 2]), as_floats(None)
        ((1.0, 2.0), None)
    """
    return tuple(as_float(x) for x in values) if isinstance(values, list | tuple) else values


def check_whole(name: str, value: Any, least: int, what: str, most: int | None = None) -> None:
    """Refuse what is not a whole number of at least `least`, and of at most `most`.

    Example:
        >>> check_whole("length", 8, 2, "the sequence length")
        >>> check_whole("length", 1, 2, "the sequence length")
        Traceback (most recent call last):
        daybreak.errors.RequestError: length = 1 is not allowed: the sequence length must be at least 2.
    """
    refuse(name, value, not isinstance(value, int) or isinstance(value, bool), f"{what} must be a whole number")
    refuse(name, value, value < least, f"{what} must be at least {least}")
    refuse(name, value, most is not None and value > most, f"{what} must be at most {most:,}" if most else "")


def is_plain(name: str, value: Any) -> bool:
    """Whether a scalar field holds one number that can be checked here; what is neither number nor array is refused.

    Example:
        >>> is_plain("p", 0.5), is_plain("p", np.array([0.1, 0.5]))  # one number, and one per member of a cohort
        (True, False)
    """
    if isinstance(value, jax.Array | np.ndarray):
        return False
    refuse(name, value, not isinstance(value, Real) or isinstance(value, bool), "it must be a number")
    refuse(name, value, not math.isfinite(value), "it must be finite")
    return True


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse what is not among the values of a `Literal`.

    Example:
        >>> from typing import Literal
        >>> check_choice("order", "up", Literal["up", "down"])
        >>> check_choice("order", "sideways", Literal["up", "down"])
        Traceback (most recent call last):
        daybreak.errors.RequestError: order = 'sideways' is not allowed: choose 'up' or 'down'.
    """
    allowed = get_args(choices)
    refuse(name, value, value not in allowed, f"choose {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")


def check_bool(name: str, value: Any) -> None:
    """Refuse what is neither True nor False.

    Example:
        >>> check_bool("causal", 1)
        Traceback (most recent call last):
        daybreak.errors.RequestError: causal = 1 is not allowed: it must be true or false.
    """
    refuse(name, value, not isinstance(value, bool), "it must be true or false")


def check_p(p: Any) -> None:
    """Refuse a probability of cross-sample repetition outside [0, 1)."""
    if is_plain("p", p):
        refuse("p", p, not 0 <= p < 1, "the probability of repetition must lie in [0, 1)")
