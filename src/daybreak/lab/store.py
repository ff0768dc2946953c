"""A lab: a directory of runs that is consistent at every moment.

    LAB/runs/<id>/run.json                 what was asked for; its digest begins with <id>
                  curves.parquet           what was measured
                  result.json              what it came to; written last: a run is done if and only if this is there
                  checkpoint.safetensors   where an unfinished run stands
    LAB/tmp/                               files being written
    LAB/damaged/<id>.<n>/                  folders in which something is not what was written, and why.txt
    LAB/index.parquet                      derived, see `daybreak.lab.index`

Every file is written to `tmp`, synced and moved into place, `result.json` after its companions. So a killed process
leaves a run done or not done, and a power cut takes no run that `save` has returned for. Whether the disk kept its
word is checked when a run is read, by the digests in `result.json` and its own.

Readers need no lock. Two labs merge by copying `runs/*`.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from daybreak.errors import RequestError
from daybreak.lab import _files, _folder, curves, result
from daybreak.lab._folder import CHECKPOINT, CURVES, RESULT, RUN
from daybreak.lab.provenance import device as this_device
from daybreak.lab.provenance import provenance
from daybreak.lab.result import Damage

if TYPE_CHECKING:
    from daybreak.training import Record, Run

_log = logging.getLogger("daybreak.lab")


@final
@dataclass(frozen=True)
class Saved:
    """A run as the lab keeps it: what was asked for, what was measured (None if it failed), what it came to."""

    run: "Run"
    record: "Record | None"
    result: dict[str, Any]


@final
class Lab:
    """A directory of runs. Making one touches nothing and reading needs nothing more; writing needs `open` once."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._runs = self.path / "runs"
        self._aside = self.path / "tmp"

    def open(self) -> "Lab":
        """Make the folders, and sweep what killed writers left half written."""
        try:
            for folder in (self._runs, self._aside):
                folder.mkdir(parents=True, exist_ok=True)
            for part in self._aside.iterdir():
                part.unlink(missing_ok=True)
            probe = self._aside / "probe"
            _files.write(probe, b"", self._aside)
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
        files = {CURVES: curves.encode(record.steps, record.curves)}
        self._commit(run, files, result.measurement(run, record), source)

    def save_failure(
        self, run: "Run", traceback: str, *, seconds: float, command: str, device: str | None = None
    ) -> None:
        """Keep that a run could not be trained, and why. Its checkpoint stays, and a later `save` replaces this."""
        source = provenance(seconds=seconds, command=command, device=device or this_device())
        self._commit(run, {}, result.failure(traceback), source)

    def save_checkpoint(self, run: "Run", data: bytes) -> None:
        """Keep where an unfinished run stands."""
        from daybreak.training import canonical

        folder = self._runs / run.id
        if not (folder / RUN).exists():
            folder.mkdir(exist_ok=True)
            _files.write(folder / RUN, canonical(run), self._aside)
        _files.write(folder / CHECKPOINT, data, self._aside)
        _files.sync(folder)

    def load_checkpoint(self, run: "Run") -> bytes | None:
        """Where an unfinished run stands, as it was given to `save_checkpoint`; None if nothing is known."""
        try:
            return (self._runs / run.id / CHECKPOINT).read_bytes()
        except FileNotFoundError:
            return None

    def has(self, run: "Run") -> bool:
        """Whether the run is done, did not fail, and is whole."""
        found = self._read(run.id)
        return found is not None and found.document["outcome"] != "failed"

    def load(self, id: str) -> Saved:  # noqa: A002
        """A run that is done, with everything that was measured."""
        from daybreak.training import Record, from_json

        found = self._read(id)
        if found is None:
            raise RequestError(f"run {id!r} is not in lab {str(self.path)!r}, or is not done.")
        record = None
        if found.curves is not None:
            record = Record(*curves.decode(found.curves), found.document["outcome"])
        return Saved(from_json(found.settings), record, found.document)

    def _commit(self, run: "Run", files: dict[str, bytes], document: dict[str, Any], source: dict[str, Any]) -> None:
        from daybreak.training import canonical

        if self.has(run):
            return
        folder = self._runs / run.id
        folder.mkdir(exist_ok=True)
        files = {RUN: canonical(run), **files}
        for name, content in files.items():
            _files.write(folder / name, content, self._aside)
        digests = {name: _files.sha256(content) for name, content in files.items()}
        whole = {"schema": result.SCHEMA, "id": run.id, **document, "files": digests, "provenance": source}
        _files.write(folder / RESULT, result.seal(whole), self._aside)
        _files.sync(folder)
        if document["outcome"] != "failed":
            (folder / CHECKPOINT).unlink(missing_ok=True)

    def _read(self, id: str) -> _folder.Whole | None:  # noqa: A002
        """A run's folder if it is done and whole; a damaged one is set aside."""
        try:
            return _folder.read(self._runs / id)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Damage as damage:
            self._set_aside(id, str(damage))
            return None

    def _set_aside(self, id: str, why: str) -> None:  # noqa: A002
        _log.warning("run %s in lab %s is damaged: %s", id, self.path, why)
