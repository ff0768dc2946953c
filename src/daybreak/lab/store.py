"""A lab: a directory of runs that is consistent at every moment.

    LAB/runs/<id>/run.json                 what was asked for; its digest begins with <id>
                  curves.parquet           what was measured
                  result.json              its outcome; written last: a run is done if and only if this file exists
                  checkpoint.safetensors   the state of an unfinished run
                  state.safetensors        the end of a run whose budget was spent: one with a larger budget goes on from it. May be
                                           removed; it contains its own digest
                  parameters.safetensors, maps.safetensors   if the run was asked to keep them; `result.json` has their digests
    LAB/daybreak-lab.json                  marks the folder as a lab
    LAB/.daybreak-scratch/                 files being written
    LAB/damaged/<id>.<n>/                  folders with a file that is not what was written, and why.txt
    LAB/index.parquet                      derived, see `daybreak.lab.index`

Every file is written to the scratch folder and moved into place in one step, `result.json` after the other files: a process may be
killed at any moment, and a run is done or not done. Against a power cut `result.json` is synced before it gets its
name, and it contains the digests of the other files: if one of them did not reach the disk, that is noticed, and the run is
trained again. A run with a checkpoint has cost time: its other files and its folder are synced too, before the checkpoint is
removed. So a run costs one sync, a long one four (0.5 ms each on an idle disk, ten times that on a busy one). Only runs of the
last seconds that were shorter than the time between two checkpoints can be lost.

Readers need no lock and change nothing: no file, no folder, no time of a file. The one writer, who holds the lock and has
called `open`, also writes the index and sets damaged folders aside. Two labs merge by copying `runs/*`.
"""

import json
import logging
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import pyarrow as pa
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import _files, _folder, curves, index, result
from daybreak.lab._folder import CHECKPOINT, CURVES, FILES, KEPT, RESULT, RUN, STATE, RunFolder
from daybreak.lab._marker import MARKER, SCRATCH, check_lab, ids, is_id
from daybreak.lab._marker import SCHEMA as LAB_SCHEMA
from daybreak.lab.index import Index
from daybreak.lab.provenance import device as this_device
from daybreak.lab.provenance import provenance
from daybreak.lab.result import DamageError, NewerError, OtherRecordError, Result
from daybreak.lab.saved import Keep, Saved

if TYPE_CHECKING:
    from daybreak.training import Record, Run

_log = logging.getLogger("daybreak.lab")
_PAUSE = 10.0  # seconds after which a writer updates the index, at least …
_SHARE = 50  # … and after this many times the time that it took


@final
@dataclass(frozen=True)
class Damaged:
    """The folder of a run that cannot be read, where it was set aside or where it is, and why."""

    folder: Path
    why: str


@final
class Lab:
    """A directory of runs. Constructing and reading it changes nothing. Before writing, call `open`; after it, `close`.

    Example:
        >>> from tempfile import mkdtemp
        >>> import numpy as np
        >>> from daybreak import models, tasks, training
        >>> run = training.Run(tasks.SingleLocation(T=8, d=4), models.ToyAttention())
        >>> record = training.Record(np.array([0, 20, 40]), {"clean_loss": np.array([0.5, 0.5, 0.0])}, "emerged")
        >>> lab = Lab(mkdtemp()).open()
        >>> lab.save(run, record, seconds=1.5, command="by hand", state=b"its end")
        >>> lab.update_index()  # now and then in a long sweep, so that readers are quick
        >>> lab.close()
        >>> lab.query("T = 8 and outcome = 'emerged'").select(["task", "model", "last_step"]).to_pylist()
        [{'task': 'single-location', 'model': 'toy', 'last_step': 40}]
        >>> lab.load(lab.find(run.id[:4])).record.curves["clean_loss"].tolist()[0]
        0.5
        >>> [str(result.plateau) for result in lab.results()], list(lab.columns_of(run.id))
        (['36'], ['step', 'clean_loss'])
        >>> lab.columns()["plateau"].round(3)  # arrays, as `measure.fit_law` takes them
        array([36.])
        >>> lab.has(run), lab.is_done(run.id), lab.missing([run]), lab.unfinished(), lab.damaged()
        (True, True, [], [], [])
        >>> lab.tidy([run])  # removes the checkpoints of runs that are done
        >>> lab.load_state(run.id), lab.remove_states()  # a run with a larger budget would go on from it; bytes freed
        (b'its end', 7)
        >>> lab.delete(run.id)  # files of others would stay, and be listed
        []
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._runs = self.path / "runs"
        self._aside = self.path / SCRATCH
        self._damaged = self.path / "damaged"
        self._index = Index(self.path)
        self._writing = False
        self._due = 0.0  # when the index on disk is next brought up to date, by the monotonic clock

    def open(self) -> "Lab":
        """Make the folders, and remove incomplete files of killed writers. From now on damaged runs are set aside.

        Raises:
            RequestError: if the folder has other files in it and is not a lab, or cannot be written to.
        """
        check_lab(self.path)
        with _files.making(self.path):
            for folder in (self._runs, self._aside):
                folder.mkdir(parents=True, exist_ok=True)
            for part in self._aside.iterdir():
                part.unlink(missing_ok=True)
            _files.write(self.path / MARKER, f'{{"schema": {LAB_SCHEMA}}}\n'.encode(), self._aside, lasting=False)
        self._index, self._writing, self._due = Index(self.path), True, time.monotonic() + _PAUSE
        return self

    def close(self) -> None:
        """Bring the index on disk up to date, so that readers are quick. From now on nothing is changed."""
        if self._writing:
            self.query()
            self._writing = False

    def update_index(self) -> None:
        """While writing: bring the index on disk up to date, unless that was done a moment ago."""
        if time.monotonic() >= self._due:
            start = time.monotonic()
            self.query()
            self._due = time.monotonic() + max(_PAUSE, _SHARE * (time.monotonic() - start))

    def save(
        self,
        run: "Run",
        record: "Record",
        *,
        seconds: float,
        command: str,
        device: str | None = None,
        kept: Mapping[Keep, bytes] = MappingProxyType({}),
        state: bytes | None = None,
        from_run: str | None = None,
        step_seconds: float | None = None,
    ) -> None:
        """Keep what a run has measured, and remove its checkpoint. A run that is already kept stays as it is; it gets files to keep.

        Args:
            run: what was asked for.
            record: what was measured.
            seconds: how long it took.
            command: the command line that asked for it.
            device: what it was computed on, see `lab.device`; by default what this process computes on.
            kept: files that were asked for, by what they contain.
            state: its end, if a run with a larger budget can go on from it.
            from_run: a run with another budget whose record it shares, or whose end it started from.
            step_seconds: how long a step took on one core, with its part of the evaluations.

        Raises:
            OtherRecordError: there are files to keep, and the run is already kept with another record.
        """
        source = provenance(
            seconds=seconds,
            command=command,
            device=device or this_device(),
            from_run=from_run,
            step_seconds=step_seconds,
        )
        content = curves.encode(record.steps, record.curves)
        files = {KEPT[what]: data for what, data in kept.items()}
        if self._has(run.id):
            self._add(run.id, content, files)
        elif state is not None:
            (self._runs / run.id).mkdir(exist_ok=True)
            _files.write(self._runs / run.id / STATE, state, self._aside, lasting=False)
        self._commit(run, content, result.measurement(run, record), source, files)

    def save_failure(
        self, run: "Run", traceback: str, *, seconds: float, command: str, device: str | None = None
    ) -> None:
        """Keep that a run could not be trained, and why. Its checkpoint stays; a later `save` replaces the failure.

        Example:
            >>> from tempfile import mkdtemp
            >>> from daybreak import models, tasks, training
            >>> lab, run = Lab(mkdtemp()).open(), training.Run(tasks.SingleLocation(T=8, d=4), models.ToyAttention())
            >>> lab.save_failure(run, "MemoryError", seconds=0.1, command="by hand")
            >>> lab.load(run.id).document["traceback"], lab.has(run)
            ('MemoryError', False)
        """
        source = provenance(seconds=seconds, command=command, device=device or this_device())
        self._commit(run, None, result.failure(traceback), source)

    def save_checkpoint(self, run: "Run", data: bytes) -> None:
        """Keep the state of an unfinished run.

        Example:
            >>> from tempfile import mkdtemp
            >>> from daybreak import models, tasks, training
            >>> lab, run = Lab(mkdtemp()).open(), training.Run(tasks.SingleLocation(T=8, d=4), models.ToyAttention())
            >>> lab.save_checkpoint(run, b"what Progress.checkpoint gave")
            >>> lab.unfinished() == [run.id], lab.load_checkpoint(run)
            (True, b'what Progress.checkpoint gave')
        """
        from daybreak.training import canonical

        folder = self._runs / run.id
        if not (folder / RUN).exists():
            folder.mkdir(exist_ok=True)
            _files.write(folder / RUN, canonical(run), self._aside, lasting=True)
        _files.write(folder / CHECKPOINT, data, self._aside, lasting=True)
        _files.sync(folder)

    def load_checkpoint(self, run: "Run") -> bytes | None:
        """The state of an unfinished run, as it was given to `save_checkpoint`; None if there is none.

        Example:
            >>> from daybreak import models, tasks, training
            >>> Lab("nowhere").load_checkpoint(training.Run(tasks.SingleLocation(T=8, d=4), models.ToyAttention())) is None
            True
        """
        try:
            return _files.read(self._runs / run.id / CHECKPOINT)
        except FileNotFoundError:
            return None

    def has(self, run: "Run") -> bool:
        """Whether the run is done, did not fail, and is undamaged."""
        return self._has(run.id)

    def load_state(self, name: str) -> bytes | None:
        """The end of a run whose budget was spent, as it was given to `save`; None if there is none."""
        try:
            return _files.read(self._runs / name / STATE)
        except FileNotFoundError:
            return None

    def remove_states(self, names: Iterable[str] | None = None) -> int:
        """Remove the ends of runs, of all by default; returns how many bytes that frees. Records stay.

        Only a run with a larger budget misses them: it starts at step 0.
        """
        freed = 0
        for name in ids(self._runs) if names is None else names:
            file = self._runs / name / STATE
            if is_id(name) and file.exists():
                freed += file.stat().st_size
                file.unlink(missing_ok=True)
        return freed

    def missing(self, runs: "Sequence[Run]", keep: Collection[Keep] = ()) -> "list[Run]":
        """Those of many runs that the lab does not have, or without files to keep; by the index, and so faster than one by one."""
        table = self.query()
        outcomes = zip(table["id"].to_pylist(), table["outcome"].to_pylist(), strict=True) if table.num_rows else ()
        done = {name for name, outcome in outcomes if outcome != "failed"}
        left = {run.id for run in runs if run.id not in done and not self._is_there(run)}
        return [run for run in runs if run.id in left or (keep and not self._keeps(run.id, keep))]

    def tidy(self, runs: "Sequence[Run]") -> None:
        """Remove checkpoints of runs that are done: their writer was killed between its last two steps."""
        for run in runs:
            if index.stamp(f"{self._runs}/{run.id}/{CHECKPOINT}") and self.has(run):
                (self._runs / run.id / CHECKPOINT).unlink(missing_ok=True)

    def load(self, name: str) -> Saved:
        """A run that is done, with everything that was measured.

        Raises:
            RequestError: no run has that name, or it is not done.
            DamageError: it is not what was written.
        """
        from daybreak.training import Record

        folder = self._finished(name)
        record = None
        if folder.curves is not None:
            record = Record(*curves.decode(folder.curves), folder.document["outcome"])
        brief = result.from_document(folder.document)
        return Saved(folder.settings, record, brief, folder.document, self._runs / name)

    def columns_of(self, name: str) -> dict[str, NDArray] | None:
        """The curves of a finished run as plain columns, `step`, `clean_loss`, `attention_1_2` and so on; None if it failed."""
        content = self._finished(name).curves
        return None if content is None else curves.plain(content)

    def results(self) -> list[Result]:
        """The result of every run that is done, sorted by id."""
        return index.results(self.query())

    def query(self, where: str | None = None, *, unfinished: bool = False) -> pa.Table:
        """The runs that are done, one row each, sorted by id; see `lab.index.row` for the columns.

        Runs that are damaged or of a newer version are left out and reported; `damaged` names them.

        Args:
            where: one SQL expression over the columns, `task = 'recall' and N = 8 and outcome = 'emerged'`.
            unfinished: whether runs that are not done come too, before the others, with the step that they have reached.
        """
        table = self._index.refresh(self._row_of, write=self._writing)
        if unfinished:
            table = index.with_unfinished([index.unfinished_row(self._runs / x) for x in self.unfinished()], table)
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
        matches = sorted(x for x in ids(self._runs) if x.startswith(prefix) and self._has_begun(x))
        lab = f"in lab {str(self.path)!r}"
        if not matches:
            raise RequestError(f"no run {lab} starts with {prefix!r}.")
        if len(matches) > 1:
            raise RequestError(
                f"{len(matches)} runs {lab} start with {prefix!r}, such as {matches[0]} and {matches[1]}: give more characters."
            )
        return matches[0]

    def is_done(self, name: str) -> bool:
        """Whether the run of this id is done, as far as one can tell without reading it."""
        return bool(index.stamp(f"{self._runs}/{name}/{RESULT}"))

    def unfinished(self) -> list[str]:
        """Ids of the runs that have started and are not done."""
        left = [x for x in ids(self._runs) if not self.is_done(x)]
        return sorted(x for x in left if self._has_begun(x))

    def damaged(self) -> list[Damaged]:
        """Folders that were set aside, and runs that the last `query` could not read."""
        notes = [x for x in sorted(self._damaged.glob("*/why.txt")) if x.is_file()]
        aside = [Damaged(x.parent, x.read_text(errors="replace")) for x in notes]
        return aside + [Damaged(self._runs / name, why) for name, why in sorted(self._index.left_out.items())]

    def delete(self, name: str) -> list[Path]:
        """Delete a run, finished or not: the files that a lab writes, and their folder if nothing else is in it.

        Returns:
            What else is in the folder, and stays.
        """
        folder = self._runs / name
        for file in FILES:
            (folder / file).unlink(missing_ok=True)
        left = sorted(folder.iterdir())
        if not left:
            folder.rmdir()
        return left

    def _add(self, name: str, record: bytes, files: Mapping[str, bytes]) -> None:
        """Files to keep of a run that is done, if it was trained again to the record that it has."""
        folder = self._finished(name)
        if not files:
            return
        if _files.sha256(record) != folder.document["files"][CURVES]:
            source = folder.document["provenance"]
            raise OtherRecordError(
                f"run {name} was trained again, and its record is not the one in the lab, which stays: nothing else was kept. "
                f"The last bits depend on device and threads; that record was made on {source['device']!r} by "
                f"{source['command']!r}."
            )
        path = self._runs / name
        for file, content in files.items():
            _files.write(path / file, content, self._aside, lasting=False)
        document = json.loads(_files.read(path / RESULT))
        del document["sha256"]
        document["files"] |= {file: _files.sha256(content) for file, content in files.items()}
        _files.write(path / RESULT, result.seal(document), self._aside, lasting=True)

    def _keeps(self, name: str, keep: Collection[Keep]) -> bool:
        try:
            folder = self._read(name)
        except DamageError:
            return False
        files = {} if folder is None else folder.document["files"]
        return all(KEPT[x] in files and index.stamp(f"{self._runs}/{name}/{KEPT[x]}") for x in keep)

    def _commit(
        self,
        run: "Run",
        record: bytes | None,
        document: dict[str, Any],
        source: dict[str, Any],
        kept: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        from daybreak.training import canonical

        name = run.id
        folder = self._runs / name
        checkpoint = folder / CHECKPOINT
        if self._has(name):
            checkpoint.unlink(missing_ok=True)  # its writer was killed between its last two steps
            return
        folder.mkdir(exist_ok=True)
        lasting = checkpoint.exists()
        files = {RUN: canonical(run)} if record is None else {RUN: canonical(run), CURVES: record, **kept}
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
        return self.is_done(run.id) and self.has(run)

    def _has_begun(self, name: str) -> bool:
        return any(os.path.exists(self._runs / name / file) for file in (RUN, RESULT))  # noqa: PTH110  (False where it is forbidden)

    def _has(self, name: str) -> bool:
        try:
            folder = self._read(name)
        except DamageError:
            return False
        return folder is not None and folder.document["outcome"] != "failed"

    def _read(self, name: str) -> RunFolder | None:
        """A run's folder if the run is done; a writer sets a damaged one aside, and the error says where."""
        try:
            return _folder.read(self._runs / name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except NewerError as error:
            raise RequestError(f"run {name} of lab {str(self.path)!r} cannot be read: {error}.") from None
        except DamageError as error:
            raise DamageError(
                self._report(name, str(error), log=self._writing)
            ) from None  # a reader is told by the error

    def _row_of(self, name: str) -> RunFolder | str | None:
        """A run's folder for the index; one that cannot be read is reported, and left out if it stays where it is."""
        try:
            return _folder.read(self._runs / name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except DamageError as error:
            self._report(name, str(error))
            return str(error) if self.is_done(name) else None
        except (NewerError, OSError) as error:
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            _log.warning("run %s of lab %r is left out: %s", name, str(self.path), why)
            return why

    def _report(self, name: str, why: str, *, log: bool = True) -> str:
        """Log that a run is damaged, if asked to, and set it aside when writing; returns the sentence."""
        where = (
            self._set_aside(name, why) if self._writing else "the next command that trains into this lab sets it aside"
        )
        sentence = f"run {name} of lab {str(self.path)!r} is damaged: {why}; {where}."
        if log:
            _log.warning(sentence)
        return sentence

    def _set_aside(self, name: str, why: str) -> str:
        """Move a run's folder to `damaged`, with a note; returns where it is now."""
        try:
            self._damaged.mkdir(exist_ok=True)
            target = next(x for n in count(1) if not (x := self._damaged / f"{name}.{n}").exists())
            (self._runs / name).rename(target)
            (target / "why.txt").write_text(f"{why}\n")
        except OSError as error:
            return f"it could not be set aside ({error.strerror})"
        return f"it was set aside in {target}"
