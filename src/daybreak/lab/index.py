"""The index of a lab: one row per run that is done, flat columns, as Parquet.

It is derived from the folders. Each reading compares it with the sizes and times of their files (for equality only, so a
clock may jump), and reads the folders that are new or changed. Readers keep the outcome in memory; the one writer of a lab
also writes it to disk. An index that is absent, broken or of another version is rebuilt. Saving a run does not touch it. It
is one Parquet file, with a digest of the whole file in its metadata, and not a database: it is replaced in one step, so
nobody reads half of it or waits, and every tool reads it.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from daybreak.lab import _files, _parquet
from daybreak.lab._folder import CURVES, RESULT, RUN, RunFolder, evaluations
from daybreak.lab._marker import SCRATCH, ids
from daybreak.lab._settings import OBSERVED, is_observed
from daybreak.lab.provenance import PROVENANCE
from daybreak.lab.result import UNFINISHED, Result, from_document
from daybreak.lab.rows import last_step

VERSION = 4
SHARED = frozenset({"weights"})
"""Fields that more than one part of a run has: the names of their columns start with the part, `model_weights`."""

_MEASURED = ("outcome", "plateau", "censored", "plateau_low", "plateau_high", "last_step")
_PARTS = ("task", "model", "optimizer", "stop", "schedule")
_STAMP = "stamp"
_NAME = "index.parquet"
_SEAL = f"daybreak index {VERSION} sha256 ".encode()  # before the digest, in the metadata of the file
_DIGITS = 64  # of a digest
_EMPTY = pa.table({"id": pa.array([], pa.string()), _STAMP: pa.array([], pa.string())})


def row(folder: RunFolder) -> dict[str, Any]:
    """A run and its result as one flat row.

    Settings have the names that they have in the run: T, d, learning_rate, layers; `task`, `model` and `optimizer` are the names
    of the parts. Columns of the last evaluation start with `final_`.
    """
    document = folder.document
    flat: dict[str, Any] = {"id": document["id"], **settings(folder.settings)}
    plateau = document["plateau"] or {"length": None, "censored": None, "bracket": (None, None)}
    measured = (document["outcome"], plateau["length"], plateau["censored"], *plateau["bracket"], document["last_step"])
    flat |= dict(zip(_MEASURED, measured, strict=True))
    flat |= {f"final_{name}": x for name, x in document["final"].items() if not isinstance(x, list)}
    return flat | document["provenance"] | {"id": document["id"]}


def unfinished_row(folder: Path) -> dict[str, Any]:
    """A run that is not done as a row of the index, with the step that it has reached; its id only, if it cannot be read."""
    flat = dict.fromkeys(("id", *_MEASURED)) | {"id": folder.name, "outcome": UNFINISHED}
    try:
        run = json.loads(_files.read(folder / RUN))
        if is_observed(run):
            return flat | settings(run) | {"last_step": last_step(folder)}
        count = evaluations(folder)
        step = min((count - 1) * run["stop"]["every"], run["stop"]["budget"]) if count else None
        return flat | settings(run) | {"last_step": step}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return flat


def settings(run: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run, as `training.to_json` has them, in flat columns.

    Parts that only a newer version has get columns too, whose names start with the part.
    """
    if is_observed(run):
        return _observed(run[OBSERVED], run.get("settings", {}))
    flat: dict[str, Any] = {part: run.get(part, {}).get("name", "unknown") for part in ("task", "model", "optimizer")}
    flat["schedule"] = run.get("schedule", {}).get("name", "constant")
    flat["precision"] = _cell(run.get("precision", "float32"))
    for part in _PARTS:
        for name, value in run.get(part, {}).items():
            if name != "name":
                flat[_column_of(run, part, name)] = _cell(value)
    for part in sorted(run.keys() - {*_PARTS, "schema", "batch", "evaluation", "seed", "precision"}):
        values = run[part].items() if isinstance(run[part], dict) else [("", run[part])]
        flat |= {f"{part}_{name}".rstrip("_"): _cell(value) for name, value in values}
    return flat | {name: run.get(name) for name in ("batch", "evaluation", "seed")}


def _observed(about: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Columns of an observed run: its settings by their names; `setting_time` where a name has another meaning.

    A model, an optimizer, a batch, a seed of its own are in the columns in which those of other runs are.
    """
    own = {"task": OBSERVED, "model": "unknown", "optimizer": "unknown", "schedule": "constant"}
    own |= {name: about.get(name) for name in ("name", "curve", "level", "direction")}
    free = {"model", "optimizer"}
    taken = {"id", "configuration", *own, *_MEASURED, *PROVENANCE, _STAMP} - free
    flat: dict[str, Any] = {"batch": None, "evaluation": None, "seed": None, "precision": None}
    for name, value in given.items():
        is_taken = name.lower() in taken or name.startswith(("final_", "setting_")) or (name in free and value is None)
        flat[f"setting_{name}" if is_taken else name] = _cell(value)
    return own | flat


def _column_of(run: dict[str, Any], part: str, name: str) -> str:
    """The column of a setting: its name; with the part before it, `task_batch`, where that name means something else.

    A part with a `source` is not built in, and its fields may have any name.
    """
    if "source" not in run[part]:
        return f"{part}_{name}" if name in SHARED else name
    other = {"task": "model", "model": "task"}.get(part, "")
    of_both = "source" in run.get(other, {}) and any(
        x.lower() == name.lower() and not _is_taken(other, x) for x in run[other]
    )
    return f"{part}_{name}" if of_both or _is_taken(part, name) else name


def _is_taken(part: str, name: str) -> bool:
    """Whether a column of this name has another meaning than a field of such a part."""
    prefixed = name in SHARED or name == "source" or name.startswith(("final_", "task_", "model_"))
    return prefixed or (name.lower() in _taken() and name not in _built_in(part))


@cache
def _built_in(part: str) -> frozenset[str]:
    """The fields of the built-in tasks, of the built-in models, of the optimizer, and so on."""
    from daybreak.models import MODELS
    from daybreak.tasks import TASKS
    from daybreak.training import Optimizer, Schedule, Stop

    kinds = {"task": TASKS.values(), "model": MODELS.values(), "optimizer": [Optimizer], "stop": [Stop]}
    return frozenset(field.name for kind in kinds.get(part, [Schedule]) for field in fields(kind))


@cache
def _taken() -> frozenset[str]:
    """Columns that have a meaning, in lower case: SQL does not tell it from upper case."""
    columns = {"id", "seed", "batch", "evaluation", "precision", "configuration"}
    columns |= {*_PARTS, *_MEASURED, *PROVENANCE, _STAMP}
    return frozenset(name.lower() for name in columns.union(*map(_built_in, _PARTS)))


def setting_columns(columns: Iterable[str]) -> list[str]:
    """Those columns that are settings of the run."""
    return [name for name in columns if name != "id" and _group(name) == 0]


def _group(name: str) -> int:
    """Columns are sorted by what they are: settings, outcome, last row, provenance."""
    if name in _MEASURED:
        return 1
    if name.startswith("final_"):
        return 2
    return 3 if name in (*PROVENANCE, _STAMP) else 0


def results(table: pa.Table) -> list[Result]:
    """The results in the rows of an index."""
    kept = [name for name in table.column_names if name in ("id", "seconds") or _group(name) in (1, 2)]
    return [from_document(_document(flat)) for flat in table.select(kept).to_pylist()]


def _document(flat: dict[str, Any]) -> dict[str, Any]:
    """The parts of `result.json` that a row contains."""
    bracket = flat["plateau_low"], flat["plateau_high"]
    plateau = {"length": flat["plateau"], "censored": flat["censored"], "bracket": bracket}
    return {
        **{name: flat[name] for name in ("id", "outcome", "last_step")},
        "plateau": None if flat["plateau"] is None else plateau,
        "final": {name.removeprefix("final_"): x for name, x in flat.items() if name.startswith("final_")},
        "provenance": {"seconds": flat["seconds"]},
    }


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


@final
class Index:
    """The index of a lab, as this process last saw it."""

    def __init__(self, lab: Path):
        self._lab = lab
        self._table: pa.Table | None = None  # None before the first reading
        self._left_out: dict[str, tuple[str, str]] = {}  # stamp and reason, by id
        self._written = True  # whether the file, if there is one, has what the table has

    @property
    def left_out(self) -> dict[str, str]:
        """Runs that are done and could not be read at the last refresh: why, by id."""
        return {name: why for name, (_, why) in self._left_out.items()}

    def refresh(self, read: Callable[[str], RunFolder | str | None], *, write: bool) -> pa.Table:
        """The current index, sorted by id. A folder is read once, and again only after it was changed.

        Args:
            read: reads the folder of one run: its content, or why it is left out; None if it is not there any more.
            write: whether to write the index to disk if that has an older one.
        """
        now = _stamps(self._lab / "runs")
        old = _load(self._lab) if self._table is None else self._table
        indexed = dict(zip(*(old[name].to_pylist() for name in ("id", _STAMP)), strict=True))
        kept = {name for name, stamp in indexed.items() if now.get(name) == stamp}
        left_out = {name: x for name, x in self._left_out.items() if now.get(name) == x[0]}
        fresh = []
        for name in sorted(now.keys() - kept - left_out.keys()):
            match _row_or_reason(read(name)):
                case str(why):
                    left_out[name] = (now[name], why)
                case dict(flat):
                    fresh.append({**flat, _STAMP: now[name]})
        if fresh or len(kept) < len(indexed):
            stay = old.filter(pc.is_in(old["id"], pa.array(kept, pa.string())))  # pyright: ignore[reportAttributeAccessIssue]
            old = _joined(stay, _table(fresh)).sort_by("id")
            old = old.select(sorted(old.column_names, key=_group))
            self._written = False
        self._table, self._left_out = old, left_out
        if write and not self._written:
            _save(self._lab, old)
            self._written = True
        return old.drop_columns([_STAMP])


def _row_or_reason(content: RunFolder | str | None) -> dict[str, Any] | str | None:
    if not isinstance(content, RunFolder):
        return content
    try:
        return row(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"its documents have another form ({type(error).__name__}: {error})"


def with_unfinished(rows: list[dict[str, Any]], table: pa.Table) -> pa.Table:
    """Rows of runs that are not done above an index."""
    if not rows:
        return table
    both = _joined(_table(rows), table)
    return both.select(sorted(both.column_names, key=_group))


def _stamps(runs: Path) -> dict[str, str]:
    """Sizes and times of the files of each run that is done, by name."""
    stamps = {}
    for folder in ids(runs):
        done = stamp(f"{runs}/{folder}/{RESULT}")
        if done:
            stamps[folder] = " ".join([done, *(stamp(f"{runs}/{folder}/{file}") for file in (RUN, CURVES))])
    return stamps


def stamp(path: str) -> str:
    """Size and time of a regular file, to compare; empty if there is none, a word if that is not ours to know."""
    try:
        status = os.stat(path)  # noqa: PTH116  (three for each of thousands of runs: a Path would cost more than the call)
    except PermissionError:
        return "forbidden"
    except OSError:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}" if stat.S_ISREG(status.st_mode) else ""


def _load(lab: Path) -> pa.Table:
    """The index as it was last written; an empty one if it is absent, damaged or of another version."""
    try:
        content = _files.read(lab / _NAME)
        before, after = _around_digest(content)
        if content == _sealed(before, after):
            return _parquet.read(content).replace_schema_metadata(None)
    except (OSError, ValueError):  # pyarrow's own errors are ValueErrors
        pass
    return _EMPTY


def _save(lab: Path, table: pa.Table) -> None:
    """Write the index, if there is space. A power cut may break it; then it is rebuilt."""
    sink = pa.BufferOutputStream()
    sealed = table.replace_schema_metadata({"daybreak": _SEAL + b"0" * _DIGITS})
    parquet.write_table(sealed, sink, compression="zstd")
    content = _sealed(*_around_digest(sink.getvalue().to_pybytes()))
    with suppress(OSError):
        _files.write(lab / _NAME, content, lab / SCRATCH, lasting=False)


def _around_digest(content: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the place of the digest in an index."""
    at = content.rindex(_SEAL) + len(_SEAL)
    return content[:at], content[at + _DIGITS :]


def _sealed(before: bytes, after: bytes) -> bytes:
    return before + _files.sha256(before + after).encode() + after


def _joined(first: pa.Table, second: pa.Table) -> pa.Table:
    """A table below another; columns are those of both."""
    try:
        return pa.concat_tables([first, second], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of numbers gets a text, or the like
        return _table(first.to_pylist() + second.to_pylist())


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: _column([x.get(name) for x in rows]) for name in _ordered(rows)})


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # mixed types, or a number of more than 64 bits
        return pa.array([None if x is None else str(x) for x in values])


def _ordered(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Names of all columns, in the order in which they first occur."""
    return list(dict.fromkeys(name for x in rows for name in x))
