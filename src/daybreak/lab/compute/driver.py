"""The driver of a sweep: which runs are missing, who computes them, and what becomes of what they say.

The driver alone writes to the lab. Whatever dies, it or a worker, what has been written stays; the rest is computed
again from its last checkpoint, to the same bits.
"""

import heapq
import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import final

from daybreak.errors import WorkError
from daybreak.lab.compute.cohorts import Cohort, pack
from daybreak.lab.compute.executor import Executor
from daybreak.lab.compute.messages import (
    Advanced,
    Checkpoint,
    Died,
    Ended,
    Finished,
    Job,
    Message,
    RunStatus,
    Started,
    StartedOver,
)
from daybreak.lab.lock import locked
from daybreak.lab.store import Lab
from daybreak.training import Run

_log = logging.getLogger("daybreak.lab")
_WAIT = 0.5  # seconds for a word from a worker, before the driver looks at the clock


@final
@dataclass(frozen=True)
class Rules:
    """How patient a sweep is."""

    retries: int = 2  # Times that a run is tried again after it failed.
    patience: float = 1800.0  # Seconds without a word after which a worker is taken to hang.
    checkpoint: float = 30.0  # Seconds between two checkpoints of a run, at least.


_USUAL = Rules()


@final
@dataclass
class Assignment:
    """A cohort at a worker."""

    unfinished: dict[str, Run]  # members not yet finished, by id
    operations: dict[str, float]  # of each
    where: str = ""  # which worker; empty while it waits for one
    statuses: dict[str, RunStatus] = field(default_factory=dict)  # of members that have said how they stand, by id
    stood: float = 0.0  # when they said so
    pace: float = 0.0  # steps a second, of all members together
    heard: float = 0.0  # when the worker last spoke, by the monotonic clock
    failures: int = 0  # in a row, without a member finished or a checkpoint kept in between


@final
@dataclass
class State:
    """How a sweep stands. Grows with the runs under way, not with those that are done."""

    total: int
    existing: int = 0  # done before this sweep began
    outcomes: Counter[str] = field(default_factory=Counter)  # of the runs done since
    operations: float = 0.0  # of the runs to do
    operations_done: float = 0.0  # of those done since
    operations_before: float = 0.0  # of those, what earlier sweeps had done when they were interrupted
    began: float = field(default_factory=time.monotonic)
    under_way: dict[int, Assignment] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Runs in the lab, failed ones among them."""
        return self.existing + self.outcomes.total()

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far, if every run spends its budget; None before there is a speed."""
        ahead = sum(_share(assignment, name) for assignment in self.under_way.values() for name in assignment.statuses)
        done = self.operations_done + ahead
        since = done - self.operations_before
        return (time.monotonic() - self.began) * (self.operations - done) / since if since > 0 else None


def train_missing(
    runs: Sequence[Run],
    lab: Lab,
    executor: Executor,
    *,
    command: str,
    memory: float | None = None,
    rules: Rules = _USUAL,
    on_change: Callable[[State], None] = lambda state: None,
) -> State:
    """Compute what a lab does not have yet. Interrupted at any moment, the same call goes on.

    Args:
        runs: all of them; those in the lab are not computed again, unless they had failed.
        lab: where they are kept.
        executor: who computes them.
        command: what a person typed to get this, for the record.
        memory: bytes that a worker may plan with; by default what the executor says.
        rules: how often and how long to try.
        on_change: called whenever there is news, with the state of the sweep.

    Raises:
        RequestError: if the lab is in use or cannot be one.
        WorkError: if the lab cannot be written to any more.
        KeyboardInterrupt: when interrupted; its sentence says what is safe and how to go on.
    """
    todo = lab.missing(runs)
    if not todo:
        lab.tidy(runs)
        return State(len(runs), len(runs))
    with closing(executor):
        executor.open()  # before the lab is touched: an address where nobody answers leaves no trace
        with locked(lab.path):
            lab.open()
            lab.tidy(runs)
            todo = lab.missing(todo)  # another sweep may have been at work until now
            state = State(len(runs), len(runs) - len(todo))
            with _interruptible(lab, state):
                driver = _Driver(lab, executor, command, rules, state, on_change)
                driver.run(pack(todo, executor.workers, memory or executor.memory, executor.at_once))
    return state


@final
class _Driver:
    """Hands out cohorts, longest first, and takes in what workers say."""

    def __init__(
        self,
        lab: Lab,
        executor: Executor,
        command: str,
        rules: Rules,
        state: State,
        on_change: Callable[[State], None],
    ):
        self.lab, self.executor, self.command = lab, executor, command
        self.rules, self.state, self.on_change = rules, state, on_change
        self._numbers = itertools.count()
        self._waiting: list[tuple[float, int, Assignment]] = []

    def run(self, cohorts: Sequence[Cohort]) -> None:
        """Until every run is done or has failed for good."""
        under_way = self.state.under_way
        self.state.operations = sum(cohort.operations for cohort in cohorts)
        for cohort in cohorts:
            names = [run.id for run in cohort.runs]
            self._queue(dict(zip(names, cohort.runs, strict=True)), dict(zip(names, cohort.each, strict=True)))
        while self._waiting or under_way:
            while self._waiting and len(under_way) < self.executor.workers:
                self._hand_out()
            for number, message in self.executor.events(_WAIT):
                if number in under_way:
                    self._hear(number, under_way[number], message)
            self._look_at_the_clock()
            self.on_change(self.state)

    def _queue(self, runs: dict[str, Run], operations: dict[str, float], failures: int = 0) -> None:
        assignment = Assignment(runs, operations, failures=failures)
        heapq.heappush(self._waiting, (-sum(operations[name] for name in runs), next(self._numbers), assignment))

    def _hand_out(self) -> None:
        _, number, assignment = heapq.heappop(self._waiting)
        found = {name: self.lab.load_checkpoint(run) for name, run in assignment.unfinished.items()}
        checkpoints = {name: data for name, data in found.items() if data is not None}
        self.state.under_way[number] = assignment
        self.executor.submit(number, Job(tuple(assignment.unfinished.values()), checkpoints, self.rules.checkpoint))

    def _hear(self, number: int, assignment: Assignment, message: Message) -> None:
        assignment.heard = time.monotonic()
        match message:
            case Started(where):
                assignment.where = where
            case Advanced(statuses):
                self._advance(assignment, statuses)
            case Checkpoint(run, data):
                with _writing(self.lab, self.state):
                    self.lab.save_checkpoint(assignment.unfinished[run], data)
                assignment.failures = 0
            case StartedOver(run, why):
                _log.warning("run %s starts over: %s", run, why)
            case Finished(run, record, seconds, device):
                with _writing(self.lab, self.state):
                    self.lab.save(
                        assignment.unfinished[run], record, seconds=seconds, command=self.command, device=device
                    )
                self._count(assignment, run, record.outcome)
                assignment.failures = 0
            case Ended(None):
                del self.state.under_way[number]
            case Ended(traceback):
                self._fail(number, assignment, str(traceback), apart=True)
            case Died(why):
                # Once may be bad luck. Twice without progress, and it may be one of the members.
                self._fail(number, assignment, f"The worker died: {why}", apart=assignment.failures > 0)

    def _advance(self, assignment: Assignment, statuses: Mapping[str, RunStatus]) -> None:
        before, assignment.statuses = assignment.statuses, dict(statuses)
        if before:
            steps = sum(x.step - before[name].step for name, x in statuses.items())
            assignment.pace = steps / (assignment.heard - assignment.stood)
        else:
            self.state.operations_before += sum(_share(assignment, name) for name in statuses)
        assignment.stood = assignment.heard

    def _look_at_the_clock(self) -> None:
        for number, assignment in list(self.state.under_way.items()):
            if assignment.where and time.monotonic() - assignment.heard > self.rules.patience:
                self.executor.kill(number)
                why = f"The worker was killed: it had not said a word for {self.rules.patience:g} seconds."
                self._fail(number, assignment, why, apart=True)

    def _fail(self, number: int, assignment: Assignment, why: str, *, apart: bool) -> None:
        """Try again: members of a cohort on their own, so that the one at fault takes no other with it."""
        del self.state.under_way[number]
        if len(assignment.unfinished) > 1 and apart:
            for name, run in assignment.unfinished.items():
                self._queue({name: run}, assignment.operations)
        elif len(assignment.unfinished) == 1 and assignment.failures >= self.rules.retries:
            ((name, run),) = assignment.unfinished.items()
            with _writing(self.lab, self.state):
                self.lab.save_failure(run, why, seconds=0.0, command=self.command, device=assignment.where)
            self._count(assignment, name, "failed")
        elif assignment.unfinished:
            self._queue(assignment.unfinished, assignment.operations, assignment.failures + 1)

    def _count(self, assignment: Assignment, run: str, outcome: str) -> None:
        del assignment.unfinished[run]
        assignment.statuses.pop(run, None)
        self.state.outcomes[outcome] += 1
        self.state.operations_done += assignment.operations[run]


def _share(assignment: Assignment, run: str) -> float:
    """Operations that a member under way has behind it."""
    return assignment.operations[run] * assignment.statuses[run].step / assignment.unfinished[run].stop.budget


@contextmanager
def _interruptible(lab: Lab, state: State) -> Iterator[None]:
    """An interruption says what is safe and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Interrupted: {_safe(lab, state)}. Run the same command again to go on.") from None


@contextmanager
def _writing(lab: Lab, state: State) -> Iterator[None]:
    """A disk that is full, or gone, is a sentence."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise WorkError(
            f"The lab cannot be written to ({why}): {_safe(lab, state)}. Mend that, and run the same command again to go on."
        ) from error


def _safe(lab: Lab, state: State) -> str:
    return f"{state.done:,} of {state.total:,} runs are safe in lab {str(lab.path)!r}"
