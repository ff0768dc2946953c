"""How far studies have come: which scales have results, and how many of their runs are in a lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final, get_args

from daybreak.lab import Lab
from daybreak.studies._study import Scale, Study, Training
from daybreak.studies.found import CLAIMS


@final
@dataclass(frozen=True)
class Standing:
    """How a study stands at a scale: whether its results are written, and how many of its runs are trained."""

    results: bool
    runs: int
    trained: int


def standings(studies: Sequence[Study], out: Path, lab: Lab) -> list[dict[Scale, Standing]]:
    """How each study stands at each scale."""
    done = {result.id for result in lab.results() if result.outcome != "failed"}

    def standing(study: Study, scale: Scale) -> Standing:
        written = (out / study.paper / study.name / scale / CLAIMS).exists()
        runs = study.measure.runs(scale) if isinstance(study.measure, Training) else []
        return Standing(written, len(runs), sum(run.id in done for run in runs))

    return [{scale: standing(study, scale) for scale in get_args(Scale)} for study in studies]
