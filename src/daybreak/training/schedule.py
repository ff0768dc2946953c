"""Schedules of repetition: which share of the examples repeats as its task says (B, p) at which step; the others do not.

What is decided beforehand (switch, ramp) is a function of the step inside the compiled program. What is decided on the way
(adaptive, budget) is decided between two evaluations, and follows from the rows of the record alone: a run that was interrupted
decides the same again.
"""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Literal, final, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from daybreak.errors import RequestError
from daybreak.measure import NotEnoughEvidence, Plateau, forecast, has_left_plateau
from daybreak.tasks import Task

Name = Literal["constant", "switch", "ramp", "adaptive", "budget"]

_STUCK = 0.8  # share of its plateau that a loss on diverse data must have come below, or repetition returns
_PATIENCE = 0.25  # share of the budget without any evidence after which a run counts as stuck


@final
class Schedule(eqx.Module):
    """How much of the task's repetition is shown when.

    constant: all of it, always.
    switch: all of it until a step, none from there on.
    ramp: evenly less, and none from a step on.
    adaptive: until the loss on repeated data has left its plateau; again if the loss on diverse data then stays on its own.
    budget: adaptive, but not before the forecast says that the run would not emerge within its budget.
    """

    name: Name = eqx.field(static=True, default="constant")  # Who decides when diversity is restored.
    switch_at: float = 0.0  # Step of the switch, or at which the ramp ends.
    restore_below: float = 0.2  # Share of its plateau at which the loss on repeated data has made its transition.

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
                    f"switch_at = {self.switch_at:g} is not allowed with schedule {self.name!r}: {why} a switch."
                )
        if isinstance(self.restore_below, int | float) and not 0 < self.restore_below < 1:
            raise RequestError(f"restore_below = {self.restore_below} is not allowed: it must lie between 0 and 1.")

    @property
    def preset(self) -> bool:
        """Whether all is known beforehand but for a constant one."""
        return self.name in ("switch", "ramp")

    def check(self, task: Task[Any]) -> None:
        """Refuse a task whose repetition cannot be scheduled, or that has none."""
        if self.name == "constant":
            return
        levers = {field.name: getattr(task, field.name) for field in fields(task) if field.name in ("B", "p")}
        if len(levers) < 2:
            raise RequestError(f"schedule = {self.name!r} is not allowed: {type(task).__name__} has no repetition.")
        if levers == {"B": 1.0, "p": 0.0}:
            raise RequestError(
                f"schedule = {self.name!r} is not allowed at B = 1, p = 0: there is no repetition to take away."
            )

    def share(self, step: Int[Array, ""], repeats: Bool[Array, ""]) -> Float[Array, ""]:
        """Of the examples at a step, those that repeat; `repeats` is what was decided on the way."""
        match self.name:
            case "constant":
                return jnp.ones(())
            case "switch":
                return (step < self.switch_at).astype(float)
            case "ramp":
                return jnp.clip(1 - step / self.switch_at, 0, 1)
            case "adaptive" | "budget":
                return repeats.astype(float)


def thinned(task: Any, repeats: Bool[Array, ""]) -> Any:
    """The task as it is, or without repetition."""
    return replace(task, B=jnp.where(repeats, task.B, 1.0), p=jnp.where(repeats, task.p, 0.0))


@final
class RepetitionControl:
    """What an adaptive run is shown next, decided after every evaluation from losses on data that the learner may see.

    These are `train_loss`, on data that repeat, and `clean_loss`, on data that do not: in either phase, the loss of what
    it is trained on.
    """

    def __init__(self, schedule: Schedule, level: float, budget: int):
        self.repeats = schedule.name != "budget"
        self._schedule, self._level, self._budget = schedule, level, budget
        self._steps: list[int] = []
        self._rows: list[Mapping[str, Any]] = []
        self._since = 0  # row from which on it has been as it is
        self._lasted = 0.0  # steps that repetition was needed for, the last time
        self._height = math.inf  # of the plateau of the loss on diverse data

    def see(self, step: int, row: Mapping[str, Any]) -> None:
        """Take in one evaluation; only schedules that decide on the way look at it."""
        if self._schedule.name not in ("adaptive", "budget"):
            return
        self._steps.append(step)
        self._rows.append(row)
        if self.repeats:
            if has_left_plateau(self._curve("train_loss", self._since), self._schedule.restore_below):
                self._height = float(np.median(self._curve("clean_loss", self._since)))
                self._lasted = step - self._steps[self._since]
                self._turn()
        elif self._stuck(step):
            self._turn()

    def _turn(self) -> None:
        self.repeats = not self.repeats
        self._since = len(self._steps) - 1

    def _stuck(self, step: int) -> bool:
        if self._lasted:
            waited = step - self._steps[self._since] >= self._lasted
            return waited and bool(self._curve("clean_loss", -2).min() > _STUCK * self._height)
        return self._schedule.name == "budget" and self._too_late(step)

    def _too_late(self, step: int) -> bool:
        """Whether the run will not emerge within its budget, as far as one can see."""
        rising = "clean_accuracy" in self._rows[0]
        heads = np.clip(self._curve("attention").reshape(len(self._rows), -1), 0, 1)
        values = self._curve("clean_accuracy" if rising else "clean_loss")
        if not np.all(np.isfinite(values)):
            return False
        said = forecast(self._steps, values, self._level, heads, direction="up" if rising else "down")
        match said:
            case Plateau():
                return False
            case NotEnoughEvidence():
                return step >= _PATIENCE * self._budget
            case _:
                return said.median > self._budget

    def _curve(self, name: str, first: int = 0) -> np.ndarray:
        return np.array([row[name] for row in self._rows[first:]], dtype=np.float64)
