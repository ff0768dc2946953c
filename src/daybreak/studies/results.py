"""What lies in a folder of results: one finding per study, at the largest scale that is there."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final, get_args

from daybreak.errors import WorkError
from daybreak.studies._study import Scale
from daybreak.studies.catalogue import STUDIES

CLAIMS = "claims.json"
_KEYS = {"study", "title", "scale", "claims", "laws", "command"}


@final
@dataclass(frozen=True)
class StudyResult:
    """The folder of a study at a scale, and its `claims.json`."""

    folder: Path
    document: dict[str, Any]

    @property
    def name(self) -> str:
        """What the command calls the study."""
        return str(self.document["study"]).rpartition("/")[2]

    @property
    def cost(self) -> str:
        """What its training took; empty if it trains nothing."""
        runs, seconds = self.document.get("runs"), self.document.get("training_seconds")
        return (
            f"{runs:,} runs, {seconds / 3600:.1f} hours of one worker by the clock"
            if runs and seconds is not None
            else ""
        )


def read_all(out: Path) -> list[StudyResult]:
    """All studies with results under a folder, in the order of the papers.

    Raises:
        WorkError: if a `claims.json` is not what a study writes.
    """
    return [read(folder) for study in STUDIES if (folder := _largest(out / study.paper / study.name)) is not None]


def _largest(folder: Path) -> Path | None:
    scales = [folder / scale for scale in reversed(get_args(Scale))]
    return next((scale for scale in scales if (scale / CLAIMS).exists()), None)


def read(folder: Path) -> StudyResult:
    """The study in a folder; raises as above."""
    path = folder / CLAIMS
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if not document.keys() >= _KEYS:
            raise ValueError
    except (OSError, ValueError, AttributeError):
        raise WorkError(f"{path} is not what a study writes: delete it, and reproduce the figure again.") from None
    return StudyResult(folder, document)
