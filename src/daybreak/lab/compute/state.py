"""The progress of a sweep: what is done, what each worker trains, and how long the rest takes."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from daybreak.lab.compute.messages import RunStatus
from daybreak.training import Run

_LATE = 1.5  # a run that has not emerged when it was expected to is expected to take this much longer


@final
@dataclass
class Assignment:
    """A cohort that a worker trains."""

    unfinished: dict[str, Run]  # members not yet finished, by id
    operations: dict[str, float]  # of each
    worker: str = ""  # its name; empty while the cohort waits for one
    statuses: dict[str, RunStatus] = field(default_factory=dict)  # the latest of each member, by id
    status_time: float = 0.0  # when they arrived, by the monotonic clock
    steps_per_second: float = 0.0  # of all members together
    message_time: float = 0.0  # when the worker's last message arrived
    failures: int = 0  # in a row, without a member finished or a checkpoint kept in between


@final
@dataclass
class State:
    """The progress of a sweep. Its size grows with the runs under way, not with those that are done."""

    total: int
    existing: int = 0  # done before this sweep began
    reused: int = 0  # of those done since, those whose record was that of a run with another budget
    continued: int = 0  # of those done since, those that went on from the end of a run with a smaller budget
    outcomes: Counter[str] = field(default_factory=Counter)  # of the runs done since
    saved_steps: dict[str, int] = field(default_factory=dict)  # of the checkpoints of runs under way, by id
    # Seconds for each of the operations below, until that is measured; None if no rate is known.
    pace: float | None = None
    # Steps that a run will train, by id, where that is known.
    expected: Mapping[str, float] = field(default_factory=dict)
    # Of the runs that are not done, if each uses its whole budget. Where rates are known, these are seconds of a core instead.
    operations: float = 0.0
    operations_expected: float = 0.0  # of the same, if each trains as long as expected
    computed: float = 0.0  # operations of the runs done since
    computed_before: float = 0.0  # what members had computed when they were first heard of: before the clock runs
    first_report: float | None = None  # by the monotonic clock: compiling is over
    under_way: dict[int, Assignment] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Runs in the lab, failed ones among them."""
        return self.existing + self.outcomes.total()

    @property
    def time_left(self) -> "TimeLeft | None":
        """At the speed since the first report; before, by measured rates, or None if there are none."""
        computed, at_most, expected = self.computed - self.computed_before, self.operations, self.operations_expected
        for assignment in self.under_way.values():
            for name, status in assignment.statuses.items():
                each = assignment.operations[name] / assignment.unfinished[name].stop.budget  # of a step
                computed += each * status.step
                at_most -= each * status.step
                expected -= each * (self.expected_steps(assignment.unfinished[name]) - self._left(assignment, name))
        pace = self.pace
        if self.first_report is not None and computed > 0:
            pace = (time.monotonic() - self.first_report) / computed
        if pace is None or not self.operations:
            return None
        return TimeLeft(pace * max(expected, 0.0) if self.expected else None, pace * at_most)

    def expected_steps(self, run: Run) -> float:
        """Steps that a run will train: as expected, or else its budget."""
        return min(self.expected.get(run.id, run.stop.budget), run.stop.budget)

    def _left(self, assignment: Assignment, name: str) -> float:
        """Steps that a member has left. Once it has emerged they are known; one that is late takes half as long again."""
        run, status = assignment.unfinished[name], assignment.statuses[name]
        end = self.expected_steps(run)
        if status.emerged is not None:
            end = status.emerged * (1 + run.stop.margin)
        elif status.step >= end:
            end = _LATE * status.step
        return max(min(end, run.stop.budget) - status.step, 0.0)


@final
@dataclass(frozen=True)
class TimeLeft:
    """Seconds until all runs are done: if they train as long as expected (None if nothing is known), and at most."""

    expected: float | None
    at_most: float
