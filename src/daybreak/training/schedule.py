"""Schedules of repetition: at each step, the fraction of examples that repeat as the task defines (such as B, p); the others do not.

Schedules that are fixed in advance (switch, ramp) are functions of the step inside the compiled program. The others (adaptive,
budget) are decided between two evaluations, see `training.control`.
"""

import math
from dataclasses import replace
from typing import Any, Literal, final, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daybreak._check import is_plain
from daybreak.errors import RequestError, format_number
from daybreak.tasks import Task

Name = Literal["constant", "switch", "ramp", "adaptive", "budget"]


@final
class Schedule(eqx.Module):
    """How many of the examples repeat, and when.

    By name:
    - constant: all of them, always.
    - switch: all of them before a step, none from that step on.
    - ramp: linearly fewer, and none from a step on.
    - adaptive: all until the loss on repeated data has left its plateau; again if the loss on diverse data then stays on its own.
    - adaptive, if the stop rule watches attention: all until that is at the level; again if it falls below half of the level.
    - budget: adaptive, but without repetition at first, until the forecast is that the run does not emerge within its budget.

    Example:
        >>> ramp = Schedule("ramp", switch_at=100)
        >>> [float(ramp.fraction(jnp.array(step), jnp.array(True))) for step in (0, 50, 200)]
        [1.0, 0.5, 0.0]
        >>> from daybreak.tasks import SingleLocation
        >>> ramp.check(SingleLocation(T=8, d=4))
        Traceback (most recent call last):
        daybreak.errors.RequestError: schedule = 'ramp' is not allowed at B = 1, p = 0: the task has no repetition.
    """

    # When repetition ends: constant (never), switch, ramp, adaptive or budget.
    name: Name = eqx.field(static=True, default="constant")
    switch_at: float = 0.0  # Step of the switch, or the end of the ramp.
    restore_below: float = 0.2  # Fraction of its plateau below which the loss on repeated data has left it.

    def __check_init__(self):
        if self.name not in get_args(Name):
            names = ", ".join(map(repr, get_args(Name)))
            raise RequestError(f"schedule name = {self.name!r} is unknown: choose one of {names}.")
        if isinstance(self.switch_at, int | float):
            if not (math.isfinite(self.switch_at) and self.switch_at >= 0):
                raise RequestError(f"switch_at = {self.switch_at} is not allowed: it must be a step of at least 0.")
            if self.preset != (self.switch_at > 0):
                why = "it needs the step of" if self.preset else "only 'switch' and 'ramp' have"
                raise RequestError(
                    f"switch_at = {format_number(self.switch_at)} is not allowed with schedule {self.name!r}: {why} a switch."
                )
        if isinstance(self.restore_below, int | float) and not 0 < self.restore_below < 1:
            raise RequestError(f"restore_below = {self.restore_below} is not allowed: it must lie between 0 and 1.")

    @property
    def preset(self) -> bool:
        """Whether it changes at a step that is fixed in advance."""
        return self.name in ("switch", "ramp")

    @property
    def depends_on_budget(self) -> bool:
        """Whether its decisions depend on the budget of the run: then runs with other budgets train differently from the start."""
        return self.name == "budget"

    def check(self, task: Task[Any]) -> None:
        """Refuse a task whose repetition cannot be scheduled, or that has none."""
        if self.name == "constant":
            return
        none = task.repetition
        if not none:
            raise RequestError(f"schedule = {self.name!r} is not allowed: {type(task).__name__} has no repetition.")
        values = {name: getattr(task, name) for name in none}
        if all(is_plain(name, x) for name, x in values.items()) and values == none:
            given = ", ".join(f"{name} = {format_number(x)}" for name, x in none.items())
            raise RequestError(f"schedule = {self.name!r} is not allowed at {given}: the task has no repetition.")

    def fraction(self, step: Int[Array, ""], repeats: Bool[Array, ""]) -> Float[Array, ""]:
        """The fraction of examples that repeat at a step; `repeats` is the decision of `training.control`."""
        match self.name:
            case "constant":
                return jnp.ones(())
            case "switch":
                return (step < self.switch_at).astype(float)
            case "ramp":
                return jnp.clip(1 - step / self.switch_at, 0, 1)
            case "adaptive" | "budget":
                return repeats.astype(float)


def with_repetition(task: Any, repeats: Bool[Array, ""]) -> Any:
    """The task as it is, or without its repetition."""
    return replace(task, **{name: jnp.where(repeats, getattr(task, name), x) for name, x in task.repetition.items()})
