"""When to probe: often enough to see something begin, and never for more than a share of the training time."""

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import final

from daybreak.errors import refuse

_CALM, _MOVING = 50, 200  # steps between two probes are at least this fraction of the steps so far
_CALM_SHARE = 0.35  # of the share: what is spent while nothing moves
_MOVING_SHARE = 0.6  # and while something does: the rest is for the first probe, and for caches that probes leave cold
_MOVED = 0.1  # relative change over the last probes that counts as moving
_LOOK = 4  # probes over which it is looked for


@final
@dataclass
class Spacing:
    """Decides at each step whether to probe. Time is given, in seconds, so that a test needs no clock.

    Args:
        share: largest fraction of the training time that watching takes.
        every: steps between probes; then the share is only reported. None: by the share.
        least: values of the curve below it are alike: noise around zero is no movement.
    """

    share: float = 0.01
    every: int | None = None
    least: float = 0.0
    elapsed: float = 0.0  # until the last step
    spent: float = 0.0  # on probes, and on all else that watching does
    _next: int = 0
    _first: float = 0.0
    _at: float = 0.0  # when the last probe ended
    _costs: deque[float] = field(default_factory=lambda: deque(maxlen=5))
    _values: deque[float] = field(default_factory=lambda: deque(maxlen=_LOOK))

    def __post_init__(self) -> None:
        refuse("share", self.share, not 0 < self.share <= 1, "the share of the training time must lie above 0, up to 1")
        whole = self.every is None or (isinstance(self.every, int) and self.every >= 1)
        refuse("every", self.every, not whole, "the number of steps between probes must be a whole number, at least 1")

    def due(self, step: int, seconds: float) -> bool:
        """Whether to probe at a step, `seconds` after the step before."""
        self.elapsed += seconds
        if step < self._next:
            return False
        if self.every is not None or not self._costs:
            return True
        cost = median(self._costs)
        # Since the last probe, so that a burst is not followed by a long gap; and in all, so that expensive ones are paid for.
        paid = cost <= self.share * (self.elapsed - self._at) * (_MOVING_SHARE if self.moving else _CALM_SHARE)
        return paid and self.spent - self._first + cost <= _MOVING_SHARE * self.share * self.elapsed

    def probed(self, step: int, seconds: float, value: float | None) -> None:
        """Note what a probe cost, and the value of the curve that is waited for, if it has one."""
        if self._first:
            self._costs.append(seconds)
        else:  # it sets everything up, once: it counts in `cost`, but the next probes need not wait for it
            self._first = seconds
        self.worked(seconds)
        self._at = self.elapsed
        if value is not None:
            self._values.append(value)
        gap = step // (_MOVING if self.moving else _CALM)
        self._next = step + (max(1, gap) if self.every is None else self.every)

    def worked(self, seconds: float) -> None:
        """Note what else a step of watching took, such as a row of the loss: later probes pay for it."""
        self.spent += seconds
        self.elapsed += seconds

    @property
    def moving(self) -> bool:
        """Whether the curve has changed over the last probes."""
        first, last = (self._values[0], self._values[-1]) if self._values else (0.0, 0.0)
        return abs(last - first) > _MOVED * max(abs(first), abs(last), self.least)

    @property
    def cost(self) -> float:
        """The share of the training time that watching took so far."""
        return self.spent / self.elapsed if self.elapsed else 0.0
