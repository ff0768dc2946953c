"""Train a cohort to its end: steps, evaluations, and who has emerged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from daybreak.training import cohort as _cohort
from daybreak.training.record import Outcome, Record
from daybreak.training.run import Run


@final
@dataclass(frozen=True)
class Progress:
    """How far a cohort has come: the step of the leading member, and of each whether and how it is done."""

    step: int
    rows: list[dict[str, NDArray[np.floating]]]
    outcomes: list[Outcome | None]


def train(runs: Sequence[Run], on_progress: Callable[[Progress], None] | None = None) -> list[Record]:
    """Train runs of equal shape side by side until each has emerged and gone on a little, or spent its budget.

    Args:
        runs: they may differ in seed, learning rate, and scalars of task and model such as B, p and initial scales.
        on_progress: called after every evaluation.
    """
    members = _cohort.stack(runs)
    learners, ground = _cohort.begin(members)
    watches = [_Watch(run) for run in runs]
    while any(watch.outcome is None for watch in watches):
        until = jnp.array([watch.next_step for watch in watches])
        active = jnp.array([watch.outcome is None for watch in watches])
        learners, rows = _cohort.advance(members, learners, ground, until, active)
        rows = {name: np.asarray(x) for name, x in rows.items()}
        for i, watch in enumerate(watches):
            if watch.outcome is None:
                watch.see({name: x[i] for name, x in rows.items()})
        if on_progress is not None:
            step = max(watch.steps[-1] for watch in watches)
            on_progress(Progress(step, [watch.rows[-1] for watch in watches], [watch.outcome for watch in watches]))
    return [watch.record() for watch in watches]


class _Watch:
    """Rows of one run as they come in, and the decision when it is done."""

    def __init__(self, run: Run):
        self.stop = run.stop
        self.steps: list[int] = []
        self.rows: list[dict[str, NDArray[np.floating]]] = []
        self.emerged_at: int | None = None
        self.outcome: Outcome | None = None
        self.next_step = 0

    def see(self, row: dict[str, NDArray[np.floating]]) -> None:
        step = self.next_step
        self.steps.append(step)
        self.rows.append(row)
        if self.emerged_at is None and self._beyond(row):
            self.emerged_at = step
        if not np.isfinite(row["clean_loss"]):
            self.outcome = "diverged"
        elif self.emerged_at is not None and step >= self.emerged_at * (1 + self.stop.margin):
            self.outcome = "emerged"
        elif step >= self.stop.budget:
            self.outcome = "censored" if self.emerged_at is None else "emerged"
        self.next_step = min(step + self.stop.every, self.stop.budget)

    def _beyond(self, row: dict[str, NDArray[np.floating]]) -> bool:
        if not self.stop.level:
            return False
        if "clean_accuracy" in row:
            return bool(row["clean_accuracy"] >= self.stop.level)
        return bool(row["clean_loss"] <= self.stop.level)

    def record(self) -> Record:
        assert self.outcome is not None  # noqa: S101
        curves = {name: np.stack([row[name] for row in self.rows]) for name in self.rows[0]}
        return Record(np.array(self.steps), curves, self.outcome)
