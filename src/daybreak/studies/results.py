"""Results that `daybreak reproduce` wrote: for each study and scale a folder with `claims.json`, tables and a picture."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final, get_args

from daybreak.errors import WorkError
from daybreak.studies._study import Scale
from daybreak.studies.catalogue import STUDIES

CLAIMS = "claims.json"
SCHEMA = 1
"""Of `claims.json`; one without a schema is of version 0.1.0, and has this one."""
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
    def place(self) -> str:
        """Where it lies in the folder of results: `emergence/fig1c/laptop`."""
        return "/".join(self.folder.parts[-3:])

    @property
    def picture(self) -> Path | None:
        """Its figure; None if there is none in the folder."""
        path = self.folder / "figure.png"
        return path if is_inside(path, self.folder) else None

    @property
    def tables(self) -> dict[str, Path]:
        """The tables it was judged by, by name."""
        return {path.stem: path for path in sorted(self.folder.glob("*.parquet")) if is_inside(path, self.folder)}

    @property
    def cost(self) -> str:
        """What its training took; empty if it trains nothing."""
        runs, seconds = self.document.get("runs"), self.document.get("training_seconds")
        return (
            f"{runs:,} runs, {seconds / 3600:.1f} hours of one worker by the clock"
            if runs and seconds is not None
            else ""
        )


def shipped() -> Path:
    """The folder of results that come with the package: part of an installed one, else the repository's."""
    installed = Path(__file__).parents[1] / "_results"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "results"


def read_all(out: Path) -> list[StudyResult]:
    """All studies with results under a folder, in the order of the papers, each at its largest scale.

    Raises:
        WorkError: if a `claims.json` is not what a study writes.
    """
    return [read(folder) for study in STUDIES if (folder := _largest(out / study.paper / study.name)) is not None]


def read_every_scale(out: Path) -> dict[str, StudyResult]:
    """All results under a folder, by place. What cannot be read, or is a link out of the folder, is left out."""
    results = {}
    for path in sorted(out.glob(f"*/*/*/{CLAIMS}")):
        if is_inside(path, out):
            with suppress(WorkError):
                result = read(path.parent)
                results[result.place] = result
    return results


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a file exists in a folder, and no link on the way leads out of it."""
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _largest(folder: Path) -> Path | None:
    scales = [folder / scale for scale in reversed(get_args(Scale))]
    return next((scale for scale in scales if (scale / CLAIMS).exists()), None)


def read(folder: Path) -> StudyResult:
    """The study in a folder; raises as above."""
    path = folder / CLAIMS
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        schema = document.get("schema", SCHEMA)
        missing = _KEYS - document.keys()
        parts = [x["id"] for x in document["claims"]] + [x["form"] for x in document["laws"].values()]
        if missing or not isinstance(schema, int) or not all(isinstance(x, str) for x in parts):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise WorkError(f"{path} is not what a study writes: delete it, and reproduce the figure again.") from None
    if schema > SCHEMA:
        raise WorkError(f"{path} has schema {schema}, and this version reads up to {SCHEMA}: update Daybreak.")
    return StudyResult(folder, document)
