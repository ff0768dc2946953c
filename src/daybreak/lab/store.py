"""A lab: a directory of runs that is consistent at every moment.

    LAB/runs/<id>/run.json                 what was asked for; its digest begins with <id>
                  curves.parquet           what was measured
                  result.json              what it came to; written last: a run is done if and only if this is there
                  checkpoint.safetensors   where an unfinished run stands
    LAB/tmp/                               files being written
    LAB/damaged/<id>.<n>/                  folders in which something is not what was written, and why.txt
    LAB/index.parquet, index.sha256        derived, see `daybreak.lab.index`

Every file is written to `tmp` and moved into place in one step, `result.json` after its companions: a process may be
killed at any moment, and a run is done or not done. Against a power cut `result.json` is synced before it gets its
name, and names the digests of its companions; one that did not reach the disk shows, and the run is trained again. A run
with a checkpoint has cost time: its companions and folder are synced too, before the checkpoint goes. So a run costs
one sync, a long one four (0.5 ms each on an idle disk, ten times that on a busy one), and only runs of
the last seconds that were shorter than the time between two checkpoints can be lost, never half kept.

Readers need no lock. Two labs merge by copying `runs/*`.
"""

import logging
import re
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
        result: what it came to, in short.
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
    """A directory of runs. Making one touches nothing and reading needs nothing more; writing needs `open` once."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._runs = self.path / "runs"
        self._aside = self.path / "tmp"
        self._damaged = self.path / "damaged"

    def open(self) -> "Lab":
        """Make the folders, and sweep what killed writers left half written."""
        try:
            for folder in (self._runs, self._aside):
                folder.mkdir(parents=True, exist_ok=True)
            for part in self._aside.iterdir():
                part.unlink(missing_ok=True)
            probe = self._aside / "probe"
            _files.write(probe, b"?", self._aside, lasting=False)
            probe.unlink(missing_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise RequestError(
                f"lab = {str(self.path)!r} is not allowed: a file is in its way, and a folder is needed."
            ) from None
        except OSError as error:
            raise RequestError(
                f"lab = {str(self.path)!r} is not allowed: it cannot be written to ({error.strerror})."
            ) from None
        return self

    def save(self, run: "Run", record: "Record", *, seconds: float, command: str, device: str | None = None) -> None:
        """Keep what a run has measured, and drop its checkpoint. A run that is already kept stays as it is.

        Args:
            run: what was asked for.
            record: what was measured.
            seconds: how long it took.
            command: what a person typed to get it.
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
        """Keep where an unfinished run stands."""
        from daybreak.training import canonical

        folder = self._runs / run.id
        if not (folder / RUN).exists():
            folder.mkdir(exist_ok=True)
            _files.write(folder / RUN, canonical(run), self._aside, lasting=True)
        _files.write(folder / CHECKPOINT, data, self._aside, lasting=True)
        _files.sync(folder)

    def load_checkpoint(self, run: "Run") -> bytes | None:
        """Where an unfinished run stands, as it was given to `save_checkpoint`; None if nothing is known."""
        try:
            return (self._runs / run.id / CHECKPOINT).read_bytes()
        except FileNotFoundError:
            return None

    def has(self, run: "Run") -> bool:
        """Whether the run is done, did not fail, and is whole."""
        return self._has(run.id)

    def missing(self, runs: "Sequence[Run]") -> "list[Run]":
        """Those of many runs that the lab does not have; by the index, and so faster than one by one."""
        table = self.query()
        ends = zip(table["id"].to_pylist(), table["outcome"].to_pylist(), strict=True) if table.num_rows else ()
        done = {name for name, outcome in ends if outcome != "failed"}
        return [run for run in runs if run.id not in done and not self._is_there(run)]

    def tidy(self, runs: "Sequence[Run]") -> None:
        """Drop checkpoints of runs that are done: a writer was killed between its last two steps."""
        for run in runs:
            if index.stamp(f"{self._runs}/{run.id}/{CHECKPOINT}") and self.has(run):
                (self._runs / run.id / CHECKPOINT).unlink(missing_ok=True)

    def load(self, name: str) -> Saved:
        """A run that is done, with everything that was measured.

        Raises:
            RequestError: there is none of that name, or it is not done.
            DamageError: it is not what was written, and was set aside.
        """
        from daybreak.training import Record, from_json

        found = self._finished(name)
        record = None
        if found.curves is not None:
            record = Record(*curves.decode(found.curves), found.document["outcome"])
        return Saved(from_json(found.settings), record, result.from_document(found.document), found.document)

    def columns_of(self, name: str) -> dict[str, NDArray] | None:
        """The curves of a finished run as plain columns, `step`, `clean_loss`, `attention_1_2` and so on; None if it failed."""
        found = self._finished(name)
        return None if found.curves is None else curves.plain(found.curves)

    def results(self) -> list[Result]:
        """What every run that is done came to, by id."""
        return index.results(self.query())

    def query(self, where: str | None = None) -> pa.Table:
        """The runs that are done, one row each, by id; see `lab.index.row` for the columns.

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
        """The same as arrays, as `measure.fit_law` takes them, without runs that failed and columns that are empty."""
        table = self.query(where)
        if table.num_rows:
            table = table.filter(table["plateau"].is_valid())
        filled = [name for name in table.column_names if table[name].null_count < table.num_rows]
        return {name: table[name].to_numpy() for name in filled}

    def find(self, prefix: str) -> str:
        """The full name of the finished run that begins like this."""
        return index.find(prefix, self.query()["id"].to_pylist(), self.path, "finished run")

    def unfinished(self) -> list[str]:
        """Names of the runs that have begun and are not done."""
        left = [x for x in index.names(self._runs) if not index.stamp(f"{self._runs}/{x}/{RESULT}")]
        return sorted(x for x in left if (self._runs / x / RUN).exists())

    def damaged(self) -> list[Damaged]:
        """Folders that were set aside."""
        return [Damaged(why.parent, why.read_text(errors="replace")) for why in sorted(self._damaged.glob("*/why.txt"))]

    def _commit(self, run: "Run", record: bytes | None, document: dict[str, Any], source: dict[str, Any]) -> None:
        from daybreak.training import canonical

        name = run.id
        folder = self._runs / name
        checkpoint = folder / CHECKPOINT
        if self._has(name):
            checkpoint.unlink(missing_ok=True)  # a writer was killed between its last two steps
            return
        folder.mkdir(exist_ok=True)
        lasting = checkpoint.exists()
        files = {RUN: canonical(run)} if record is None else {RUN: canonical(run), CURVES: record}
        for file, content in files.items():
            _files.write(folder / file, content, self._aside, lasting=lasting)
        digests = {file: _files.sha256(content) for file, content in files.items()}
        whole = {"schema": result.SCHEMA, "id": name, **document, "files": digests, "provenance": source}
        _files.write(folder / RESULT, result.seal(whole), self._aside, lasting=True)
        if lasting:
            _files.sync(folder)
            if record is not None:
                checkpoint.unlink()

    def _finished(self, name: str) -> RunFolder:
        found = self._whole(name) if re.fullmatch("[0-9a-f]{16}", name) else None  # a name, not a way out of the lab
        if found is None:
            raise RequestError(f"run {name!r} is not among the finished runs of lab {str(self.path)!r}.")
        return found

    def _is_there(self, run: "Run") -> bool:
        """Whether the lab has a run that its index left out; one of a newer version is refused."""
        return bool(index.stamp(f"{self._runs}/{run.id}/{RESULT}")) and self.has(run)

    def _has(self, name: str) -> bool:
        try:
            found = self._whole(name)
        except DamageError:
            return False
        return found is not None and found.document["outcome"] != "failed"

    def _whole(self, name: str) -> RunFolder | None:
        """A run's folder if the run is done; one that is damaged is set aside, and the error says so."""
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
        """A run's folder for the index: what cannot be read is reported, and left out."""
        try:
            return self._whole(name)
        except DamageError:
            return None
        except (RequestError, OSError) as error:
            _log.warning("run %s of lab %s is left out: %s", name, self.path, error)
            return None

    def _set_aside(self, name: str, why: str) -> str:
        """Move a run's folder out of the way, with a note; says where it went."""
        try:
            self._damaged.mkdir(exist_ok=True)
            target = next(x for n in count(1) if not (x := self._damaged / f"{name}.{n}").exists())
            (self._runs / name).rename(target)
            (target / "why.txt").write_text(f"{why}\n")
        except OSError as error:
            return f"it could not be set aside ({error.strerror})"
        return f"it was set aside in {target}"
