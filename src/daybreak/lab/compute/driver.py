"""The driver of a sweep: finds the runs that are missing, gives them to an executor, and keeps what it measures.

Only the driver writes to the lab. If it dies, or a worker, what has been written stays. The rest is computed again from
its last checkpoint, to the same bits.
"""

import heapq
import itertools
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import final

from daybreak.errors import WorkError
from daybreak.lab._marker import check_lab
from daybreak.lab.compute import reuse
from daybreak.lab.compute.cohorts import Cohort, pack
from daybreak.lab.compute.cost import check_memory
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
from daybreak.lab.compute.rates import duration
from daybreak.lab.compute.state import Assignment, State
from daybreak.lab.lock import locked
from daybreak.lab.result import OtherRecordError
from daybreak.lab.saved import Keep
from daybreak.lab.store import Lab
from daybreak.training import Run

_log = logging.getLogger("daybreak.lab")
_WAIT = 0.5  # seconds for a message, before the driver checks how long workers have been silent
_LAST = 5.0  # seconds for the last checkpoints of workers, when interrupted


@final
@dataclass(frozen=True)
class Rules:
    """When a run is tried again, when a worker is killed, and how often checkpoints are kept."""

    retries: int = 2  # Times that a run is tried again after it failed.
    patience: float = 1800.0  # Seconds without a message after which a worker is killed.
    checkpoint: float = 30.0  # Seconds between two checkpoints of a run; the first ones come earlier.


_DEFAULT = Rules()


def train_missing(
    runs: Sequence[Run],
    lab: Lab,
    executor: Executor,
    *,
    command: str,
    memory: float | None = None,
    rules: Rules = _DEFAULT,
    keep: Collection[Keep] = (),
    expected: Mapping[str, float] | None = None,
    seconds: Callable[[Run], float | None] = lambda run: None,
    on_change: Callable[[State], None] = lambda state: None,
) -> State:
    """Compute what a lab does not have yet. After an interruption, the same call continues.

    Args:
        runs: all of them; those in the lab are not computed again, unless they had failed or lack what is to be kept.
        lab: where they are kept.
        executor: computes them.
        command: what a person typed to get this, for the record.
        memory: bytes that a worker may plan with; by default the executor's own limit.
        rules: retries, patience and checkpoints.
        keep: files to keep of every run, besides its record.
        expected: steps that runs are expected to train, by id, see `lab.reading.expected`; for the time that is left.
        seconds: of a run on one core if it spends its budget, see `rates`; for the time that is left until speeds are measured.
        on_change: called after every wait for messages, with the state of the sweep.

    Raises:
        RequestError: if the lab is in use, its folder cannot be made, or a run needs more memory than a worker has.
        WorkError: if the lab cannot be written to any more.
        KeyboardInterrupt: when interrupted; its message says what is safe and how to continue.
    """
    check_lab(lab.path)  # before anything in it is read or changed
    todo = lab.missing(runs, keep)
    if not todo:
        lab.tidy(runs)
        return State(len(runs), len(runs))
    with closing(executor):
        executor.open()  # before the lab is touched: a wrong address must not create one
        check_memory(todo, executor.memory)
        with locked(lab.path), closing(lab.open()):
            todo = lab.missing(todo, keep)  # another sweep may have written until now
            unfinished = {run.id for run in todo}
            lab.tidy([run for run in runs if run.id not in unfinished])
            state = State(len(runs), len(runs) - len(todo), expected=expected or {})
            driver = _Driver(lab, executor, command, rules, tuple(keep), state, on_change)
            with _interruptible(driver):
                left = driver.reuse(todo)
                cohorts = pack(left, executor.workers, memory or executor.memory, executor.at_once) if left else []
                driver.run(_in_seconds(cohorts, seconds, executor, state))
    return state


def _in_seconds(
    cohorts: list[Cohort], seconds: Callable[[Run], float | None], executor: Executor, state: State
) -> list[Cohort]:
    """Cohorts whose work is given in seconds, and in the state what a second of work lasts; as they are, if a run has no rate."""
    each = [[x for run in cohort.runs if (x := seconds(run))] for cohort in cohorts]
    if not cohorts or any(len(x) < len(cohort.runs) for x, cohort in zip(each, cohorts, strict=True)):
        return cohorts
    state.pace = duration(each, executor.workers, executor.at_once) / sum(map(sum, each))
    timed = [Cohort(cohort.runs, tuple(x)) for cohort, x in zip(cohorts, each, strict=True)]
    return sorted(timed, key=lambda cohort: -cohort.operations)


@final
class _Driver:
    """Submits cohorts, longest first, and handles the messages of workers."""

    def __init__(
        self,
        lab: Lab,
        executor: Executor,
        command: str,
        rules: Rules,
        keep: tuple[Keep, ...],
        state: State,
        on_change: Callable[[State], None],
    ):
        self.lab, self.executor, self.command = lab, executor, command
        self.rules, self.keep, self.state, self.on_change = rules, keep, state, on_change
        self._sources: dict[
            str, str
        ] = {}  # by the id of a run: the run with a smaller budget from whose end it goes on
        self._numbers = itertools.count()
        self._waiting: list[tuple[float, int, Assignment]] = []

    def reuse(self, runs: Sequence[Run]) -> list[Run]:
        """Save the records that runs with other budgets determine; returns the runs that are to be trained."""
        others, left = reuse.relatives(self.lab, runs), []
        for run in runs:
            found = others.get(run.id, [])
            with _writing(self.lab, self.state):
                record = reuse.reuse(self.lab, run, found, command=self.command, keep=self.keep)
            if record is not None:
                self.state.outcomes[record.outcome] += 1
                self.state.reused += 1
                continue
            source = reuse.longest(self.lab, run, found, keep=self.keep)
            if source is not None:
                self._sources[run.id] = source
            left.append(run)
        return left

    def run(self, cohorts: Sequence[Cohort]) -> None:
        """Until every run is done or has failed for good."""
        under_way = self.state.under_way
        for cohort in cohorts:
            for run, operations in zip(cohort.runs, cohort.each, strict=True):
                self._plan(run, operations, 1)
            names = [run.id for run in cohort.runs]
            self._queue(dict(zip(names, cohort.runs, strict=True)), dict(zip(names, cohort.each, strict=True)))
        while self._waiting or under_way:
            while self._waiting and len(under_way) < self.executor.workers:
                self._submit_next()
            for number, message in self.executor.events(_WAIT):
                if number in under_way:
                    self._handle(number, under_way[number], message)
            self._kill_silent_workers()
            self.lab.update_index()
            self.on_change(self.state)

    def save_reached(self) -> None:
        """Keep the steps that runs under way have reached, as far as their workers send them."""
        for number, message in self.executor.interrupt(_LAST):
            if number in self.state.under_way and isinstance(message, Checkpoint | Finished):
                self._handle(number, self.state.under_way[number], message)

    def _plan(self, run: Run, operations: float, sign: int) -> None:
        """Count a run to those that are to be done, or with sign −1 no longer."""
        self.state.operations += sign * operations
        self.state.operations_expected += sign * operations * self.state.expected_steps(run) / run.stop.budget

    def _queue(self, runs: dict[str, Run], operations: dict[str, float], failures: int = 0) -> None:
        assignment = Assignment(runs, operations, failures=failures)
        heapq.heappush(self._waiting, (-sum(operations[name] for name in runs), next(self._numbers), assignment))

    def _submit_next(self) -> None:
        _, number, assignment = heapq.heappop(self._waiting)
        stored = {name: self._checkpoint(run) for name, run in assignment.unfinished.items()}
        checkpoints = {name: data for name, data in stored.items() if data is not None}
        self.state.under_way[number] = assignment
        runs = tuple(assignment.unfinished.values())
        self.executor.submit(number, Job(runs, checkpoints, self.rules.checkpoint, self.keep))

    def _checkpoint(self, run: Run) -> bytes | None:
        data = self.lab.load_checkpoint(run)
        if data is None and run.id in self._sources:
            data = reuse.checkpoint(self.lab, run, self._sources[run.id])
            if data is None:
                del self._sources[run.id]
        return data

    def _handle(self, number: int, assignment: Assignment, message: Message) -> None:
        assignment.message_time = time.monotonic()
        match message:
            case Started(worker):
                assignment.worker = worker
            case Advanced(statuses):
                self._update(assignment, statuses)
            case Checkpoint(run, step, data):
                with _writing(self.lab, self.state):
                    self.lab.save_checkpoint(assignment.unfinished[run], data)
                self.state.saved_steps[run] = step
                assignment.failures = 0
            case StartedOver(run, why):
                _log.warning("run %s starts over: %s", run, why)
            case Finished():
                self._save(assignment, message)
                assignment.failures = 0
            case Ended(None):
                del self.state.under_way[number]
            case Ended(traceback):
                self._retry(number, assignment, str(traceback), separately=True)
            case Died(why):
                # The first time the cause may be elsewhere. A second time without progress, it may be one of the members.
                self._retry(number, assignment, f"The worker died: {why}", separately=assignment.failures > 0)

    def _save(self, assignment: Assignment, done: Finished) -> None:
        outcome = done.record.outcome
        try:
            with _writing(self.lab, self.state):
                self.lab.save(
                    assignment.unfinished[done.run],
                    done.record,
                    seconds=done.seconds,
                    command=self.command,
                    device=done.device,
                    kept=done.kept,
                    state=done.state,
                    from_run=self._sources.get(done.run),
                    step_seconds=done.step_seconds,
                )
            self.state.continued += done.run in self._sources
        except OtherRecordError as error:
            _log.warning(str(error))
            outcome = "failed"
        self._count(assignment, done.run, outcome, int(done.record.steps[-1]))

    def _update(self, assignment: Assignment, statuses: Mapping[str, RunStatus]) -> None:
        before, assignment.statuses = assignment.statuses, dict(statuses)
        if before:
            steps = sum(x.step - before[name].step for name, x in statuses.items() if name in before)
            assignment.steps_per_second = steps / (assignment.message_time - assignment.status_time)
        else:
            self.state.computed_before += sum(
                assignment.operations[name] * x.step / assignment.unfinished[name].stop.budget
                for name, x in statuses.items()
            )
            self.state.first_report = self.state.first_report or assignment.message_time
        assignment.status_time = assignment.message_time

    def _kill_silent_workers(self) -> None:
        for number, assignment in list(self.state.under_way.items()):
            if assignment.worker and time.monotonic() - assignment.message_time > self.rules.patience:
                self.executor.kill(number)
                why = f"The worker was killed: it sent no message for {self.rules.patience:g} seconds."
                self._retry(number, assignment, why, separately=True)

    def _retry(self, number: int, assignment: Assignment, why: str, *, separately: bool) -> None:
        """Try again, or record the run as failed. Members tried one by one do not suffer from the one that is at fault."""
        del self.state.under_way[number]
        if len(assignment.unfinished) > 1 and separately:
            for name, run in assignment.unfinished.items():
                self._queue({name: run}, assignment.operations)
        elif len(assignment.unfinished) == 1 and assignment.failures >= self.rules.retries:
            ((name, run),) = assignment.unfinished.items()
            with _writing(self.lab, self.state):
                self.lab.save_failure(run, why, seconds=0.0, command=self.command, device=assignment.worker)
            self._count(assignment, name, "failed", 0)
        elif assignment.unfinished:
            self._queue(assignment.unfinished, assignment.operations, assignment.failures + 1)

    def _count(self, assignment: Assignment, name: str, outcome: str, steps: int) -> None:
        run, operations = assignment.unfinished.pop(name), assignment.operations[name]
        assignment.statuses.pop(name, None)
        self.state.saved_steps.pop(name, None)
        self.state.outcomes[outcome] += 1
        self._plan(run, operations, -1)
        if self.state.first_report is not None:
            self.state.computed += operations * steps / run.stop.budget


@contextmanager
def _interruptible(driver: _Driver) -> Iterator[None]:
    """When interrupted, keep what has been reached; the message says what is safe, and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        driver.save_reached()
        safe = _safe(driver.lab, driver.state)
        raise KeyboardInterrupt(f"Interrupted: {safe}. Run the same command again to go on.") from None


@contextmanager
def _writing(lab: Lab, state: State) -> Iterator[None]:
    """An error of the disk becomes one sentence."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise WorkError(
            f"The lab cannot be written to ({why}): {_safe(lab, state)}. Fix that, and run the same command again to go on."
        ) from error


def _safe(lab: Lab, state: State) -> str:
    safe = f"{state.done:,} of {state.total:,} runs are done in lab {str(lab.path)!r}"
    steps = state.saved_steps.values()
    if steps:
        reached = " to ".join(f"{step:,}" for step in sorted({min(steps), max(steps)}))
        safe += f", and {len(steps):,} more are saved up to step {reached}"
    return safe
