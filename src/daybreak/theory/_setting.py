"""A point of the toy problem: sequence length T, dimension d, repetition B and p, and how the logits move."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from daybreak import errors
from daybreak._types import ArrayLike, Bools, Floats
from daybreak.errors import RequestError

Logits = Literal["tied", "free"]


class ToySetting(NamedTuple):
    """Checked settings, one number or one array per field; a pytree, so that `vmap` can map over it."""

    T: Floats
    d: Floats
    B: Floats
    p: Floats
    free: Floats  # 1 if each position has its own logit, 0 if one scalar drives the relevant ones

    @property
    def mobility(self):
        """Factor with which Δa follows its gradient.

        1 when one scalar drives all relevant logits (`tied`, what paper A integrates), 1/B + 1/(T−B) when each
        position has its own logit (`free`, what paper A defines).
        """
        return 1 + self.free * (1 / self.B + 1 / (self.T - self.B) - 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch of settings."""
        return self.T.shape


def check_setting(T: ArrayLike, d: ArrayLike, B: ArrayLike, p: ArrayLike, logits: str) -> ToySetting:
    """Broadcast the arguments against each other and refuse what the mathematics does not cover.

    Raises:
        RequestError: naming the argument, the first value at fault and what is allowed.
    """
    if logits not in get_args(Logits):
        raise RequestError(f"logits = {logits!r} is unknown: choose 'tied' or 'free'.")
    numbers = [as_numbers(name, value) for name, value in (("T", T), ("d", d), ("B", B), ("p", p))]
    try:
        T, d, B, p = (np.array(x) for x in np.broadcast_arrays(*numbers))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in zip("TdBp", numbers, strict=True))
        raise RequestError(f"T, d, B and p must broadcast against each other, but their shapes are {shapes}.") from None
    refuse("T", T, T < 2, "the sequence length must be at least 2")
    refuse("d", d, d < 1, "the dimension must be at least 1")
    refuse("B", B, B < 1, "the relevant token must appear at least once")
    refuse("B", B, B > T - 1, "the relevant token may fill all places but one, so B must be at most T − 1")
    refuse("p", p, (p < 0) | (p >= 1), "the probability of repetition must lie in [0, 1)")
    return ToySetting(T, d, B, p, np.full_like(T, logits == "free"))


def check_fraction(name: str, value: ArrayLike) -> Floats:
    """Refuse what does not lie strictly between 0 and 1."""
    x = as_numbers(name, value)
    refuse(name, x, (x <= 0) | (x >= 1), "it is a fraction of the starting loss and must lie strictly between 0 and 1")
    return x


def check_level(level: ArrayLike) -> Floats:
    """Refuse a level that is no fraction, or so close to 0 or 1 that an integrator cannot resolve when the loss crosses it."""
    x = check_fraction("level", level)
    refuse("level", x, (x < 1e-12) | (x > 1 - 1e-9), "the flow is resolved for levels between 1e-12 and 1 − 1e-9")
    return x


def check_resolved(setting: ToySetting) -> None:
    """Refuse sequences and dimensions so large that an integrator cannot resolve their flow in double precision."""
    for name in ("T", "d"):
        x = getattr(setting, name)
        refuse(name, x, x > 1e12, "the flow is resolved up to 1e12; closed forms have no such limit")


def check_times(times: ArrayLike) -> Floats:
    """Refuse what is not at least two increasing flow times from zero on."""
    t = np.asarray(times, dtype=np.float64)
    if t.ndim != 1 or t.size < 2 or not np.all(np.isfinite(t)) or t[0] < 0 or np.any(np.diff(t) <= 0):
        raise RequestError("times are not allowed: give at least two flow times, finite, increasing, and not negative.")
    return t


def as_numbers(name: str, value: ArrayLike) -> Floats:
    """Finite float64 numbers; anything else is refused."""
    try:
        x = np.asarray(value)
        if x.dtype.kind not in "iufO":  # whole numbers beyond 64 bits are objects
            raise TypeError
        x = x.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(f"{name} = {value!r} is not allowed: it must be a number or an array of numbers.") from None
    refuse(name, x, ~np.isfinite(x), "it must be finite")
    return x


def as_number(name: str, value: float) -> Floats:
    """One finite float64 number; anything else is refused."""
    x = as_numbers(name, value)
    if x.shape:
        raise RequestError(f"{name} of shape {x.shape} is not allowed: give one number.")
    return x


def refuse(name: str, values: Floats, at_fault: Bools, why: str) -> None:
    """Refuse the first value at fault: `errors.refuse` for arrays."""
    if np.any(at_fault):
        errors.refuse(name, float(values[at_fault].flat[0]), True, why)
