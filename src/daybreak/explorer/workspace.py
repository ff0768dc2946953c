"""What the page shows: a lab and a folder of results. Either may be empty; nothing outside of both is read."""

import json
import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, final

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from daybreak.errors import RequestError
from daybreak.lab import Damaged, DamageError, Lab, Saved, index
from daybreak.lab._folder import CHECKPOINT, RUN
from daybreak.lab.reading.progress import RunCurves, run_curves
from daybreak.studies.results import StudyResult, is_inside, read_every_scale

UNFINISHED = "unfinished"
_REST = 20  # a lab is read again after 20 times the time that reading it took


@final
class Workspace:
    """A lab and a folder of results, read when needed."""

    def __init__(self, lab: Path, results: Path):
        self.lab = Lab(lab)
        self.results = results
        self._lock = Lock()
        self._going: list[str] = []
        self._runs, self._until = pa.table({"id": pa.array([], pa.string())}), 0.0
        self._load = lru_cache(maxsize=64)(self.lab.load)
        self._progress = lru_cache(maxsize=16)(lambda name, stamp: run_curves(self.lab, name))

    def runs(self) -> pa.Table:
        """One row per run, finished or not; those that still train have the outcome `unfinished` and come first."""
        with self._lock:
            if time.monotonic() >= self._until:
                start = time.monotonic()
                self._going = [x for x in self.lab.unfinished() if self._is_inside(x)]
                self._runs = _joined([*map(self._begun, self._going)], self.lab.query())
                self._until = time.monotonic() + max(0.5, _REST * (time.monotonic() - start))
            return self._runs

    def stamp(self) -> str:
        """A text that changes when the lab has something new to show."""
        table = self.runs()
        going = [self.lab.path / "runs" / name / CHECKPOINT for name in self._going]
        stamps = [str(table.num_rows), *(index.stamp(str(path)) for path in going)]
        return sha256(" ".join(stamps).encode()).hexdigest()

    def saved(self, name: str) -> Saved:
        """A finished run."""
        self._check_inside(name)
        return self._load(name)

    def run_curves(self, name: str) -> RunCurves:
        """A run as far as it was trained, named in full.

        Raises:
            RequestError: there is none of that name, it is damaged, or it has no curves; the message states which.
        """
        self._check_inside(name)
        if stamp := index.stamp(str(self.lab.path / "runs" / name / CHECKPOINT)):
            return self._progress(name, stamp)
        try:
            saved = self._load(name)
        except DamageError as damage:
            raise RequestError(f"{damage}.") from None
        if saved.record is None:
            raise RequestError(f"run {name} has no curves: it failed.")
        return RunCurves(saved.run, saved.record.steps, saved.record.curves, True)

    def damaged(self) -> list[Damaged]:
        """Runs that were set aside because something in them is not what was written."""
        return [x for x in self.lab.damaged() if is_inside(x.folder / "why.txt", self.lab.path)]

    def studies(self) -> dict[str, StudyResult]:
        """What was reproduced, by place, such as `emergence/fig1c/laptop`."""
        return read_every_scale(self.results)

    def _begun(self, name: str) -> dict[str, Any]:
        """A run that is not done as a row of the index, as far as it can be read."""
        row: dict[str, Any] = {"id": name, "outcome": UNFINISHED}
        try:
            return row | index.settings(json.loads((self.lab.path / "runs" / name / RUN).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return row

    def _is_inside(self, name: str) -> bool:
        return "/" not in name and is_inside(self.lab.path / "runs" / name / RUN, self.lab.path)

    def _check_inside(self, name: str) -> None:
        if not self._is_inside(name):
            raise RequestError(f"run {name!r} is not in lab {str(self.lab.path)!r}.")


def names(path: Path) -> list[str]:
    """The columns of a table of results; none if it cannot be read."""
    try:
        return parquet.read_schema(path).names
    except (OSError, ValueError):  # pyarrow's own errors are ValueErrors
        return []


def columns(path: Path) -> dict[str, NDArray]:
    """A table of results as arrays."""
    table = parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def _joined(begun: list[dict[str, Any]], done: pa.Table) -> pa.Table:
    """Rows of runs that are not done above a table of those that are."""
    if not begun:
        return done
    names = dict.fromkeys(name for row in begun for name in row)
    rows = pa.table({name: [row.get(name) for row in begun] for name in names})
    return pa.concat_tables([rows, done], promote_options="permissive")
