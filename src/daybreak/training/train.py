"""Train a cohort to its end: steps, evaluations, and which members have emerged."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import PyTree
from numpy.typing import NDArray

from daybreak.training.checkpoint import pack, unpack
from daybreak.training.control import RepetitionControl
from daybreak.training.lanes import Lanes, Row
from daybreak.training.record import Outcome, Record
from daybreak.training.run import Run
from daybreak.training.watched import watched


@final
@dataclass(frozen=True)
class Progress:
    """The state of each run of a cohort after an evaluation.

    Args:
        runs: the members.
        steps: the step of each one's latest evaluation.
        rows: the measurements of that evaluation.
        emerged: the step at which each first reached the level of its stop rule; None if not yet.
        outcomes: how each ended; None while it trains.
    """

    runs: Sequence[Run]
    steps: list[int]
    rows: list[Row]
    emerged: list[int | None]
    outcomes: list[Outcome | None]
    _watches: "list[_Watch]"
    _lanes: Lanes

    def record(self, i: int) -> Record:
        """The record of a member that is done."""
        outcome = self.outcomes[i]
        assert outcome is not None  # noqa: S101
        return Record(np.array(self._watches[i].steps), self._watches[i].curves(), outcome)

    def parameters(self, i: int) -> PyTree:
        """Parameters of a member, in the structure of its model's `init`. Valid until the next evaluation."""
        return self._lanes.learner(i).parameters

    def checkpoint(self, i: int) -> bytes:
        """A member that still trains, as bytes from which `evaluations` can resume. Valid until the next evaluation."""
        return pack(self.runs[i].id, self._lanes.learner(i), self._watches[i].curves())


def train(
    runs: Sequence[Run],
    resume: Mapping[str, bytes] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Record]:
    """Train runs of equal shape together until each has emerged and trained for its margin, or spent its budget.

    Args:
        runs: they may differ in seed, learning rate, and scalars of task and model such as B, p and initial scales.
        resume: checkpoints to resume from, by the id of the run.
        on_progress: called after every evaluation.
    """
    progress = None
    for progress in evaluations(runs, resume):
        if on_progress is not None:
            on_progress(progress)
    assert progress is not None  # noqa: S101
    return [progress.record(i) for i in range(len(runs))]


def evaluations(runs: Sequence[Run], resume: Mapping[str, bytes] | None = None) -> Iterator[Progress]:
    """Train as `train` does, and yield after every evaluation.

    Raises:
        DamagedCheckpoint: before any training, if a checkpoint is not one of its run.
    """
    lanes, watches = Lanes(runs), [_Watch(run) for run in runs]
    _resume(lanes, watches, resume or {})
    while any(watch.outcome is None for watch in watches):
        rows = lanes.advance(
            until=[watch.next_step for watch in watches],
            active=[watch.outcome is None for watch in watches],
            repeats=[watch.control.repeats for watch in watches],
        )
        for watch, row in zip(watches, rows, strict=True):
            if row is not None:
                watch.see(row)
        yield Progress(
            runs,
            [watch.steps[-1] for watch in watches],
            [watch.rows[-1] for watch in watches],
            [watch.emerged_at for watch in watches],
            [watch.outcome for watch in watches],
            watches,
            lanes,
        )


def _resume(lanes: Lanes, watches: "list[_Watch]", resume: Mapping[str, bytes]) -> None:
    """Restore members from their checkpoints; each watch is restored by seeing its rows again."""
    if not resume:
        return
    learners = [lanes.learner(i) for i in range(len(watches))]
    for i, watch in enumerate(watches):
        if watch.run.id in resume:
            learners[i], curves = unpack(watch.run.id, learners[i], resume[watch.run.id])
            for at in range(len(curves["clean_loss"])):
                watch.see({name: x[at] for name, x in curves.items()})
    lanes.put(learners)


class _Watch:
    """The rows of one run so far, and the decision when it ends."""

    def __init__(self, run: Run):
        self.run = run
        self.control = RepetitionControl(run.schedule, run.stop.level, run.stop.budget)
        self.steps: list[int] = []
        self.rows: list[Row] = []
        self.emerged_at: int | None = None
        self.outcome: Outcome | None = None
        self._ahead = run.stop.steps()
        self.next_step = next(self._ahead)

    def see(self, row: Row) -> None:
        step, stop = self.next_step, self.run.stop
        self.steps.append(step)
        self.rows.append(row)
        if self.emerged_at is None and watched(stop.level, row).reached(row):
            self.emerged_at = step
        if not np.isfinite(row["clean_loss"]):
            self.outcome = "diverged"
        elif self.emerged_at is not None and step >= self.emerged_at * (1 + stop.margin):
            self.outcome = "emerged"
        elif step >= stop.budget:
            self.outcome = "emerged" if self.emerged_at is not None else "censored" if stop.level else "completed"
        else:
            self.control.see(step, row)
        self.next_step = next(self._ahead, step)

    def curves(self) -> dict[str, NDArray[np.floating]]:
        return {name: np.stack([row[name] for row in self.rows]) for name in sorted(self.rows[0])}
