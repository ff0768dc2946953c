"""The status of studies: which scales have results, and how many of their runs are in a lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final, get_args

from daybreak.lab import Lab
from daybreak.studies._study import Scale, Study, TrainedData
from daybreak.studies.results import CLAIMS


@final
@dataclass(frozen=True)
class StudyStatus:
    """A study at a scale: whether its results are written, and how many of its runs are trained."""

    results: bool
    runs: int
    trained: int


def statuses(studies: Sequence[Study], out: Path, lab: Lab) -> list[dict[Scale, StudyStatus]]:
    """The status of each study at each scale."""
    done = {result.id for result in lab.results() if result.outcome != "failed"}

    def status(study: Study, scale: Scale) -> StudyStatus:
        written = (out / study.paper / study.name / scale / CLAIMS).exists()
        runs = study.data.runs(scale) if isinstance(study.data, TrainedData) else []
        return StudyStatus(written, len(runs), sum(run.id in done for run in runs))

    return [{scale: status(study, scale) for scale in get_args(Scale)} for study in studies]
