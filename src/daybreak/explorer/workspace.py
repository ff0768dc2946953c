"""What the page shows: a lab and a folder of results. Either may be empty; nothing outside of both is read."""

import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import final

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from daybreak.errors import RequestError
from daybreak.lab import Damaged, DamageError, Lab, Saved, index
from daybreak.lab._folder import CHECKPOINT, RUN
from daybreak.lab.reading.progress import RunCurves, run_curves
from daybreak.lab.rows import ROWS
from daybreak.studies.results import StudyResult, is_inside, read_every_scale

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
                begun = [index.unfinished_row(self.lab.path / "runs" / x) for x in self._going]
                self._runs = index.with_unfinished(begun, self.lab.query())
                self._until = time.monotonic() + max(0.5, _REST * (time.monotonic() - start))
            return self._runs

    def stamp(self) -> str:
        """A text that changes when the lab has something new to show."""
        table = self.runs()
        stamps = [str(table.num_rows), *map(self._progress_stamp, self._going)]
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
        if not self.lab.is_done(name):
            return self._progress(name, self._progress_stamp(name))
        try:
            saved = self._load(name)
        except DamageError as damage:
            raise RequestError(str(damage)) from None
        if saved.record is None:
            raise RequestError(f"run {name} has no curves: it failed.")
        return RunCurves(name, saved.settings, saved.record.steps, saved.record.curves, True)

    def damaged(self) -> list[Damaged]:
        """Runs that cannot be read: in what way, and where they are."""
        places = {x: [y for y in (x.folder, x.folder / "why.txt") if y.exists()] for x in self.lab.damaged()}
        return [x for x, files in places.items() if all(is_inside(y, self.lab.path) for y in files)]

    def studies(self) -> dict[str, StudyResult]:
        """What was reproduced, by place, such as `emergence/fig1c/laptop`."""
        return read_every_scale(self.results)

    def _progress_stamp(self, name: str) -> str:
        """A text that changes when an unfinished run has something new to show."""
        return " ".join(index.stamp(f"{self.lab.path}/runs/{name}/{file}") for file in (CHECKPOINT, ROWS))

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
