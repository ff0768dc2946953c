"""A lab: a directory of runs that is consistent at every moment.

    LAB/runs/<id>/run.json                 what was asked for; its digest begins with <id>
                  curves.parquet           what was measured
                  result.json              its outcome; written last: a run is done if and only if this file exists
                  checkpoint.safetensors   the state of an unfinished run
    LAB/daybreak-lab.json                  marks the folder as a lab
    LAB/.daybreak-scratch/                 files being written
    LAB/damaged/<id>.<n>/                  folders with a file that is not what was written, and why.txt
    LAB/index.parquet, index.sha256        derived, see `daybreak.lab.index`

Every file is written to `tmp` and moved into place in one step, `result.json` after the other files: a process may be
killed at any moment, and a run is done or not done. Against a power cut `result.json` is synced before it gets its
name, and it contains the digests of the other files: if one of them did not reach the disk, that is noticed, and the run is
trained again. A run with a checkpoint has cost time: its other files and its folder are synced too, before the checkpoint is
removed. So a run costs one sync, a long one four (0.5 ms each on an idle disk, ten times that on a busy one). Only runs of the
last seconds that were shorter than the time between two checkpoints can be lost.

Readers need no lock. Two labs merge by copying `runs/*`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import _files, _folder, curves, index, result
from daybreak.lab._folder import CHECKPOINT, CURVES, RESULT, RUN, RunFolder
from daybreak.lab._marker import MARKER, SCRATCH, check_lab, ids, is_id, is_lab
from daybreak.lab.provenance import device as this_device
from daybreak.lab.provenance import provenance
from daybreak.lab.result import DamageError, NewerError, Result

if TYPE_CHECKING:
    from daybreak.training import Record, Run

_log = logging.getLogger("daybreak.lab")


@final
@dataclass(frozen=True)
class Saved:
    """A run as the lab keeps it.

    Args:
        run: what was asked for.
        record: what was measured; None if the run failed.
        result: its outcome, in short.
        document: all of `result.json`: provenance, and the traceback of a run that failed.
    """

    run: "Run"
    record: "Record | None"
    result: Result
    document: dict[str, Any]


@final
@dataclass(frozen=True)
class Damaged:
    """A folder that was set aside, and why."""

    folder: Path
    why: str


@final
class Lab:
    """A directory of runs. Constructing it touches nothing. Reading needs no more; before writing, call `open` once."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._runs = self.path / "runs"
        self._aside = self.path / SCRATCH
        self._damaged = self.path / "damaged"

    def open(self) -> "Lab":
        """Make the folders, and remove incomplete files of killed writers.

        Raises:
            RequestError: if the folder has other files in it and is not a lab, or cannot be written to.
        """
        check_lab(self.path)
        with _files.making(self.path):
            for folder in (self._runs, self._aside):
                folder.mkdir(parents=True, exist_ok=True)
            for part in self._aside.iterdir():
                part.unlink(missing_ok=True)
            _files.write(self.path / MARKER, b'{"schema": 1}\n', self._aside, lasting=False)
        return self

    def save(self, run: "Run", record: "Record", *, seconds: float, command: str, device: str | None = None) -> None:
        """Keep what a run has measured, and remove its checkpoint. A run that is already kept stays as it is.

        Args:
            run: what was asked for.
            record: what was measured.
            seconds: how long it took.
            command: the command line that asked for it.
            device: what it was computed on, see `lab.device`; by default what this process computes on.
        """
        source = provenance(seconds=seconds, command=command, device=device or this_device())
        self._commit(run, curves.encode(record.steps, record.curves), result.measurement(run, record), source)

    def save_failure(
        self, run: "Run", traceback: str, *, seconds: float, command: str, device: str | None = None
    ) -> None:
        """Keep that a run could not be trained, and why. Its checkpoint stays; a later `save` replaces the failure."""
        source = provenance(seconds=seconds, command=command, device=device or this_device())
        self._commit(run, None, result.failure(traceback), source)

    def save_checkpoint(self, run: "Run", data: bytes) -> None:
        """Keep the state of an unfinished run."""
        from daybreak.training import canonical

        folder = self._runs / run.id
        if not (folder / RUN).exists():
            folder.mkdir(exist_ok=True)
            _files.write(folder / RUN, canonical(run), self._aside, lasting=True)
        _files.write(folder / CHECKPOINT, data, self._aside, lasting=True)
        _files.sync(folder)

    def load_checkpoint(self, run: "Run") -> bytes | None:
        """The state of an unfinished run, as it was given to `save_checkpoint`; None if there is none."""
        try:
            return _files.read(self._runs / run.id / CHECKPOINT)
        except FileNotFoundError:
            return None

    def has(self, run: "Run") -> bool:
        """Whether the run is done, did not fail, and is undamaged."""
        return self._has(run.id)

    def missing(self, runs: "Sequence[Run]") -> "list[Run]":
        """Those of many runs that the lab does not have; by the index, and so faster than one by one."""
        table = self.query()
        outcomes = zip(table["id"].to_pylist(), table["outcome"].to_pylist(), strict=True) if table.num_rows else ()
        done = {name for name, outcome in outcomes if outcome != "failed"}
        return [run for run in runs if run.id not in done and not self._is_there(run)]

    def tidy(self, runs: "Sequence[Run]") -> None:
        """Remove checkpoints of runs that are done: their writer was killed between its last two steps."""
        for run in runs:
            if index.stamp(f"{self._runs}/{run.id}/{CHECKPOINT}") and self.has(run):
                (self._runs / run.id / CHECKPOINT).unlink(missing_ok=True)

    def load(self, name: str) -> Saved:
        """A run that is done, with everything that was measured.

        Raises:
            RequestError: no run has that name, or it is not done.
            DamageError: it is not what was written, and was set aside.
        """
        from daybreak.training import Record, from_json

        folder = self._finished(name)
        record = None
        if folder.curves is not None:
            record = Record(*curves.decode(folder.curves), folder.document["outcome"])
        return Saved(from_json(folder.settings), record, result.from_document(folder.document), folder.document)

    def columns_of(self, name: str) -> dict[str, NDArray] | None:
        """The curves of a finished run as plain columns, `step`, `clean_loss`, `attention_1_2` and so on; None if it failed."""
        content = self._finished(name).curves
        return None if content is None else curves.plain(content)

    def results(self) -> list[Result]:
        """The result of every run that is done, sorted by id."""
        return index.results(self.query())

    def query(self, where: str | None = None) -> pa.Table:
        """The runs that are done, one row each, sorted by id; see `lab.index.row` for the columns.

        Folders that are damaged are set aside, runs of a newer version are left out; both are reported.

        Args:
            where: one SQL expression over the columns, `task = 'recall' and N = 8 and outcome = 'emerged'`.
        """
        table = index.refresh(self.path, self._row_of)
        if where is None or not table.num_rows:
            return table
        from daybreak.lab.query import select

        return select(table, where)

    def columns(self, where: str | None = None) -> dict[str, NDArray]:
        """The rows of `query` as arrays, for `measure.fit_law`; without runs that failed and columns that are empty."""
        table = self.query(where)
        if table.num_rows:
            table = table.filter(table["plateau"].is_valid())
        filled = [name for name in table.column_names if table[name].null_count < table.num_rows]
        return {name: table[name].to_numpy() for name in filled}

    def find(self, prefix: str) -> str:
        """The id of the one run, finished or not, that starts with `prefix`."""
        if not prefix:
            raise RequestError("an id must have at least one character: 'daybreak runs list' shows the ids.")
        matches = sorted(x for x in (*self.query()["id"].to_pylist(), *self.unfinished()) if x.startswith(prefix))
        lab = f"in lab {str(self.path)!r}"
        if not matches:
            raise RequestError(f"no run {lab} starts with {prefix!r}.")
        if len(matches) > 1:
            raise RequestError(
                f"{len(matches)} runs {lab} start with {prefix!r}, such as {matches[0]} and {matches[1]}: give more characters."
            )
        return matches[0]

    def unfinished(self) -> list[str]:
        """Ids of the runs that have started and are not done."""
        left = [x for x in ids(self._runs) if not index.stamp(f"{self._runs}/{x}/{RESULT}")]
        return sorted(x for x in left if (self._runs / x / RUN).is_file())

    def damaged(self) -> list[Damaged]:
        """Folders that were set aside."""
        return [
            Damaged(why.parent, why.read_text(errors="replace"))
            for why in sorted(self._damaged.glob("*/why.txt"))
            if why.is_file()
        ]

    def _commit(self, run: "Run", record: bytes | None, document: dict[str, Any], source: dict[str, Any]) -> None:
        from daybreak.training import canonical

        name = run.id
        folder = self._runs / name
        checkpoint = folder / CHECKPOINT
        if self._has(name):
            checkpoint.unlink(missing_ok=True)  # its writer was killed between its last two steps
            return
        folder.mkdir(exist_ok=True)
        lasting = checkpoint.exists()
        files = {RUN: canonical(run)} if record is None else {RUN: canonical(run), CURVES: record}
        for file, content in files.items():
            _files.write(folder / file, content, self._aside, lasting=lasting)
        digests = {file: _files.sha256(content) for file, content in files.items()}
        sealed = {"schema": result.SCHEMA, "id": name, **document, "files": digests, "provenance": source}
        _files.write(folder / RESULT, result.seal(sealed), self._aside, lasting=True)
        if lasting:
            _files.sync(folder)
            if record is not None:
                checkpoint.unlink()

    def _finished(self, name: str) -> RunFolder:
        folder = self._read(name) if is_id(name) else None  # an id, not a path out of the lab
        if folder is None:
            raise RequestError(f"run {name!r} is not among the finished runs of lab {str(self.path)!r}.")
        return folder

    def _is_there(self, run: "Run") -> bool:
        """Whether the lab has a run that its index left out; raises for a run of a newer version."""
        return bool(index.stamp(f"{self._runs}/{run.id}/{RESULT}")) and self.has(run)

    def _has(self, name: str) -> bool:
        try:
            folder = self._read(name)
        except DamageError:
            return False
        return folder is not None and folder.document["outcome"] != "failed"

    def _read(self, name: str) -> RunFolder | None:
        """A run's folder if the run is done; a damaged one is set aside, and the error says where."""
        try:
            return _folder.read(self._runs / name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except NewerError as error:
            raise RequestError(f"run {name} of lab {str(self.path)!r} cannot be read: {error}.") from None
        except DamageError as error:
            sentence = f"run {name} of lab {str(self.path)!r} is damaged: {error}; {self._set_aside(name, str(error))}"
            _log.warning(sentence)
            raise DamageError(sentence) from None

    def _row_of(self, name: str) -> RunFolder | None:
        """A run's folder for the index: one that cannot be read is reported and left out."""
        try:
            return self._read(name)
        except DamageError:
            return None
        except (RequestError, OSError) as error:
            _log.warning("run %s of lab %s is left out: %s", name, self.path, error)
            return None

    def _set_aside(self, name: str, why: str) -> str:
        """Move a run's folder to `damaged`, with a note; returns a sentence that says where."""
        if not is_lab(self.path):
            return "it was left where it is: the folder is not a lab"
        try:
            self._damaged.mkdir(exist_ok=True)
            target = next(x for n in count(1) if not (x := self._damaged / f"{name}.{n}").exists())
            (self._runs / name).rename(target)
            (target / "why.txt").write_text(f"{why}\n")
        except OSError as error:
            return f"it could not be set aside ({error.strerror})"
        return f"it was set aside in {target}"
