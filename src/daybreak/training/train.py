"""Train a cohort to its end: steps, evaluations, and which members have emerged."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import PyTree
from numpy.typing import NDArray

from daybreak.training.checkpoint import DamagedCheckpoint, pack, unpack
from daybreak.training.control import RepetitionControl
from daybreak.training.lanes import Lanes, Row
from daybreak.training.maps import MapHistory, ProbeMaps
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

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> from daybreak.training import Optimizer, Stop
        >>> task = SingleLocation(T=8, d=4, position="fixed", feature=False)
        >>> run = Run(task, ToyAttention(), Optimizer("sgd", 1.0), Stop(budget=30, level=0))
        >>> *_, before, last = evaluations([run], keep_maps=True)
        >>> checkpoint = before.checkpoint(0)  # bytes
        >>> last.record(0).steps.tolist(), last.parameters(0).W.shape
        ([0, 20, 30], (4, 4))
        >>> last.maps(0).steps, last.state(0) is not None  # a run with a larger budget could go on
        ([0, 20], True)
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
        """A member that still trains, as bytes from which `evaluations` can resume.

        Valid until the next evaluation, and after an interruption of `evaluations`: the state may then be ahead of the last
        evaluation, by at most the steps until the next one, which is where a resumed run is evaluated first.
        """
        watch = self._watches[i]
        return pack(self.runs[i].id, self._lanes.learner(i), watch.curves(), watch.maps and watch.maps.arrays())

    def state(self, i: int) -> bytes | None:
        """The end of a member that would go on with a larger budget, as a checkpoint; None of one that would not, or not equally.

        A last row that is not at a multiple of `every` is left out: a longer run is not evaluated there.
        """
        run, watch = self.runs[i], self._watches[i]
        if not watch.spent or run.schedule.depends_on_budget:
            return None
        rows = len(watch.rows) - (run.stop.budget % run.stop.every > 0)
        curves = {name: x[:rows] for name, x in watch.curves().items()}
        return pack(run.id, self._lanes.learner(i), curves, watch.maps and watch.maps.arrays())

    def maps(self, i: int) -> MapHistory:
        """The attention maps of a member, of `evaluations` that keep them."""
        maps = self._watches[i].maps
        assert maps is not None  # noqa: S101
        return maps


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

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> from daybreak.training import Optimizer, Stop
        >>> task = SingleLocation(T=8, d=4, position="fixed", feature=False)
        >>> two = [Run(task, ToyAttention(), Optimizer("sgd", 1.0), Stop(budget=200), seed) for seed in (0, 1)]
        >>> for record in train(two):
        ...     print(record.outcome, record.steps.tolist(), *sorted(record.curves))
        emerged [0, 20, 40, 60] attention clean_loss entropy train_loss
        emerged [0, 20, 40, 60] attention clean_loss entropy train_loss
    """
    progress = None
    for progress in evaluations(runs, resume):
        if on_progress is not None:
            on_progress(progress)
    assert progress is not None  # noqa: S101
    return [progress.record(i) for i in range(len(runs))]


def evaluations(
    runs: Sequence[Run], resume: Mapping[str, bytes] | None = None, *, keep_maps: bool = False
) -> Iterator[Progress]:
    """Train as `train` does, and yield after every evaluation; once if checkpoints show that all members were done.

    Raises:
        DamagedCheckpoint: before any training, if a checkpoint is not one of its run.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> from daybreak.training import Optimizer, Stop
        >>> task = SingleLocation(T=8, d=4, position="fixed", feature=False)
        >>> run = Run(task, ToyAttention(), Optimizer("sgd", 1.0), Stop(budget=200))
        >>> first, second, *_ = evaluations([run])
        >>> second.steps, bool(second.rows[0]["clean_loss"] < first.rows[0]["clean_loss"])
        ([20], True)
    """
    lanes, watches = Lanes(runs), [_Watch(run, keep_maps) for run in runs]
    _resume(lanes, watches, resume or {})
    done = all(watch.outcome is not None for watch in watches)
    if done:
        yield _progress(runs, watches, lanes)
    while not done:
        rows = lanes.advance(
            until=[watch.next_step for watch in watches],
            active=[watch.outcome is None for watch in watches],
            repeats=[watch.control.repeats for watch in watches],
        )
        for i, (watch, row) in enumerate(zip(watches, rows, strict=True)):
            if row is not None:
                watch.see(row)
                if watch.wants_maps:
                    watch.add_maps(lanes.maps(i))
        done = all(watch.outcome is not None for watch in watches)
        yield _progress(runs, watches, lanes)


def _progress(runs: Sequence[Run], watches: "list[_Watch]", lanes: Lanes) -> Progress:
    return Progress(
        runs,
        [watch.steps[-1] for watch in watches],
        [watch.rows[-1] for watch in watches],
        [watch.emerged_at for watch in watches],
        [watch.outcome for watch in watches],
        watches,
        lanes,
    )


def within(run: Run, record: Record) -> Record | None:
    """The record of a run, from that of a run that differs only in its budget; None if that does not determine it.

    It does if the run ends, by its own rule, at an evaluation that the other one also has.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> from daybreak.training import Optimizer, Stop
        >>> task = SingleLocation(T=8, d=4, position="fixed", feature=False)
        >>> long, short = (Run(task, ToyAttention(), Optimizer("sgd", 1.0), Stop(budget=x)) for x in (200, 40))
        >>> (record,) = train([long])
        >>> within(short, record).steps.tolist(), within(short, record).outcome  # nothing is trained again
        ([0, 20, 40], 'emerged')
    """
    watch = _Watch(run)
    for at, step in enumerate(record.steps.tolist()):
        if step != watch.next_step:  # a last row that is not at a multiple of `every`: of this budget, or of the other
            return None
        watch.see({name: x[at] for name, x in record.curves.items()})
        if watch.outcome is not None:
            return Record(np.array(watch.steps), watch.curves(), watch.outcome)
    return None


def _resume(lanes: Lanes, watches: "list[_Watch]", resume: Mapping[str, bytes]) -> None:
    """Restore members from their checkpoints; each watch is restored by seeing its rows again."""
    if not resume:
        return
    learners = [lanes.learner(i) for i in range(len(watches))]
    for i, watch in enumerate(watches):
        if watch.run.id in resume:
            learners[i], curves, maps = unpack(watch.run.id, learners[i], resume[watch.run.id])
            for at in range(len(curves["clean_loss"])):
                watch.see({name: x[at] for name, x in curves.items()})
            if watch.maps is not None:
                if not maps:
                    raise DamagedCheckpoint(watch.run.id, "it has no attention maps, and they are to be kept")
                watch.maps.restore(maps)
    lanes.put(learners)


class _Watch:
    """The rows of one run so far, and the decision when it ends."""

    def __init__(self, run: Run, keep_maps: bool = False):
        self.run = run
        self.maps = MapHistory(run.stop) if keep_maps else None
        self.control = RepetitionControl(run.schedule, run.stop.level, run.stop.budget, run.stop.watch)
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
        if self.emerged_at is None and watched(stop.level, row, stop.watch).reached(row):
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

    @property
    def spent(self) -> bool:
        """Whether it ended only because its budget was spent: with a larger one it would go on."""
        if self.outcome in (None, "diverged"):
            return False
        return self.emerged_at is None or self.steps[-1] < self.emerged_at * (1 + self.run.stop.margin)

    @property
    def wants_maps(self) -> bool:
        """Whether the attention maps of the last evaluation are to be kept."""
        return self.maps is not None and self.maps.wants(self.steps[-1], self.emerged_at)

    def add_maps(self, maps: ProbeMaps) -> None:
        """Keep the attention maps of the last evaluation."""
        assert self.maps is not None  # noqa: S101
        self.maps.add(self.steps[-1], self.emerged_at, maps)

    def curves(self) -> dict[str, NDArray[np.floating]]:
        return {name: np.stack([row[name] for row in self.rows]) for name in sorted(self.rows[0])}
