"""The status of studies: which scales have results, how many of their runs are in a lab, and how long the others take here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final, get_args

from daybreak._machine import cores
from daybreak.lab import Lab
from daybreak.lab.reading.expected import expected_steps
from daybreak.studies import tables
from daybreak.studies._study import Scale, Study, TrainedData
from daybreak.studies.results import CLAIMS
from daybreak.training import Run


@final
@dataclass(frozen=True)
class StudyStatus:
    """A study at a scale.

    Args:
        results: whether they are written.
        runs: of today's grid.
        trained: how many of these a lab has.
        in_tables: how many of these the tables of the results have; None if they do not name their runs.
    """

    results: bool
    runs: int
    trained: int
    in_tables: int | None


def statuses(studies: Sequence[Study], out: Path, lab: Lab) -> list[dict[Scale, StudyStatus]]:
    """The status of each study at each scale."""
    done = {result.id for result in lab.results() if result.outcome != "failed"}

    def status(study: Study, scale: Scale) -> StudyStatus:
        folder = out / study.paper / study.name / scale
        runs = [run.id for run in study.data.runs(scale)] if isinstance(study.data, TrainedData) else []
        named = tables.ids(folder) if runs else None
        in_tables = None if named is None else len(named & set(runs))
        return StudyStatus((folder / CLAIMS).exists(), len(runs), sum(name in done for name in runs), in_tables)

    return [{scale: status(study, scale) for scale in get_args(Scale)} for study in studies]


@final
@dataclass(frozen=True)
class StudyCost:
    """What is left to train of a study, in seconds on all cores of this machine: as long as expected, and at most.

    Args:
        seconds_expected: if runs train as long as expected.
        expected_by: how that is known; empty if it is not, and the time is that of the budgets.
        seconds_at_most: if every run spends its budget.
    """

    seconds_expected: float
    expected_by: str
    seconds_at_most: float


def missing(study: Study, scale: Scale, lab: Lab) -> list[Run]:
    """The runs of a study that a lab lacks; of those that go on from each other, the longest."""
    return lab.missing(study.data.trainings(scale), study.data.keep) if isinstance(study.data, TrainedData) else []


def cost_of(runs: Sequence[Run], lab: Lab, seconds: Callable[[Run], float | None]) -> StudyCost | None:
    """What runs cost on this machine; None if a run has no rate.

    Args:
        runs: to be trained.
        lab: whose runs say how long others train.
        seconds: of a run on one core if it spends its budget, see `lab.compute.rates`.
    """
    each = [x for run in runs if (x := seconds(run)) is not None]
    if len(each) < len(runs):
        return None
    expected = expected_steps(lab, runs)
    fractions = [expected.steps.get(run.id, run.stop.budget) / run.stop.budget for run in runs]
    at_once = min(len(cores()), len(runs)) or 1
    likely = sum(x * fraction for x, fraction in zip(each, fractions, strict=True))
    return StudyCost(likely / at_once, expected.source, sum(each) / at_once)
