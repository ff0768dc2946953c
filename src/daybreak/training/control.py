"""The controller of the schedules `adaptive` and `budget`: after each evaluation it decides if training data repeat.

Decisions depend only on the rows of the record, so an interrupted run takes the same decisions when it is resumed.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from daybreak.measure import NotEnoughEvidence, Plateau, forecast, has_left_plateau
from daybreak.training.schedule import Schedule
from daybreak.training.watched import Watch, watched

_STUCK = 0.8  # fraction of its plateau that the loss on diverse data must fall below, or repetition returns
_LOST = 0.5  # fraction of its level that attention must fall below, or repetition stays away
_HELD = 2  # evaluations in a row that must agree about attention
_PATIENCE = 0.25  # fraction of the budget without any evidence after which a run counts as stuck


@final
class RepetitionControl:
    """Decides if the next training data repeat.

    It reads `repeated_loss`, on data that repeat, and `clean_loss`, on data that do not: in either phase, the loss on the data
    that the run is trained on. If the stop rule watches attention, it reads that instead, for such a loss may fall all the time,
    as that of text does. `repeats` holds the current decision.
    """

    def __init__(self, schedule: Schedule, level: float, budget: int, watch: Watch = "score"):
        self.repeats = schedule.name != "budget"
        self._schedule, self._level, self._budget = schedule, level, budget
        self._watch: Watch = watch
        self._steps: list[int] = []
        self._rows: list[Mapping[str, Any]] = []
        self._since = 0  # row of the last change of `repeats`
        self._duration = 0.0  # steps of the last phase of repetition
        self._height = math.inf  # of the plateau of the loss on diverse data

    def see(self, step: int, row: Mapping[str, Any]) -> None:
        """Decide again after one finite evaluation; schedules that are fixed in advance ignore it."""
        if self._schedule.name not in ("adaptive", "budget"):
            return
        self._steps.append(step)
        # A checkpoint of version 0.1.0 has rows in which `train_loss` always was the loss on repeated data.
        self._rows.append({"repeated_loss": row["train_loss"], **row})
        if self.repeats:
            if self._emerged():
                self._height = float(np.median(self._curve("clean_loss", self._since)))
                self._duration = step - self._steps[self._since]
                self._switch()
        elif self._stuck(step):
            self._switch()

    def _switch(self) -> None:
        self.repeats = not self.repeats
        self._since = len(self._steps) - 1

    def _emerged(self) -> bool:
        if self._watch == "attention":
            return self._held(lambda best: best >= self._level)
        return has_left_plateau(self._curve("repeated_loss", self._since), self._schedule.restore_below)

    def _stuck(self, step: int) -> bool:
        if self._duration and self._watch == "attention":
            return self._held(lambda best: best < _LOST * self._level)
        if self._duration:
            waited = step - self._steps[self._since] >= self._duration
            return waited and bool(self._curve("clean_loss", -2).min() > _STUCK * self._height)
        return self._schedule.name == "budget" and self._too_late(step)

    def _held(self, condition: Callable[[float], bool]) -> bool:
        """Whether it was so at the last evaluations since the decision changed, for the head that attends most."""
        latest = self._curve("attention", self._since + 1)[-_HELD:]
        return len(latest) == _HELD and all(condition(float(np.max(x))) for x in latest)

    def _too_late(self, step: int) -> bool:
        """Whether the forecast is that the run does not emerge within its budget."""
        rule = watched(self._level, self._rows[0], self._watch)
        heads = np.clip(self._curve("attention").reshape(len(self._rows), -1), 0, 1)
        values = rule.curve({rule.name: self._curve(rule.name)})
        expected = forecast(self._steps, values, rule.level, heads, direction=rule.direction)
        match expected:
            case Plateau():
                return False
            case NotEnoughEvidence():
                return step >= _PATIENCE * self._budget
            case _:
                return expected.median > self._budget

    def _curve(self, name: str, first: int = 0) -> np.ndarray:
        return np.array([row[name] for row in self._rows[first:]], dtype=np.float64)
