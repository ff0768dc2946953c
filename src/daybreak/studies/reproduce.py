"""Carry out a study and write what came of it: tables, claims, laws, picture.

`OUT/<paper>/<figure>/<scale>/` holds each table as Parquet and CSV, `claims.json`, `figure.png` and `figure.pdf`. Every
file is written aside and moved into place, so a folder never holds half a file.
"""

import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import pyarrow as pa
from pyarrow import csv, parquet

from daybreak import pictures
from daybreak.errors import RequestError
from daybreak.studies._study import Findings, Scale, Study, Table


@final
@dataclass(frozen=True)
class Reproduction:
    """A study carried out at a scale: what it found and where that lies."""

    study: Study
    scale: Scale
    findings: Findings
    folder: Path
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """What was found, as plain data."""
        return {
            "study": f"{self.study.paper}/{self.study.name}",
            "title": self.study.title,
            "scale": self.scale,
            "claims": [claim.as_json() for claim in self.findings.claims],
            "laws": {name: law.as_json() for name, law in self.findings.laws.items()},
        }


def reproduce(study: Study, scale: Scale, out: Path) -> Reproduction:
    """Measure, judge, draw, and write under `out`."""
    folder = out / study.paper / study.name / scale
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RequestError(
            f"out = {str(out)!r} is not allowed: {folder} cannot be a folder, a file is in its way."
        ) from None
    start = time.monotonic()
    tables = study.measure(scale)
    findings = study.judge(tables)
    with pictures.look():
        figure = study.draw(tables, findings)
    done = Reproduction(study, scale, findings, folder, time.monotonic() - start)
    for name, table in tables.items():
        _write_table(folder, name, table)
    for path in pictures.save(figure, folder / ".figure.part"):
        path.replace(folder / f"figure{path.suffix}")
    command = f"daybreak reproduce {study.name} --scale {scale}"
    document = {**done.as_json(), "command": command, "daybreak": version("daybreak")}
    _replace(folder / "claims.json", (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    return done


def _write_table(folder: Path, name: str, table: Table) -> None:
    arrow = pa.table(dict(table))
    for suffix, write in ((".parquet", parquet.write_table), (".csv", csv.write_csv)):
        part = folder / f".{name}.part"
        write(arrow, part)
        part.replace(folder / f"{name}{suffix}")


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
