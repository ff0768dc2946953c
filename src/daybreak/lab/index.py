"""The index of a lab: one row per run that is done, flat columns, as Parquet.

It is derived from the folders. Each reading compares it with the sizes and times of their files (for equality only, so a
clock may jump), reads the folders that are new or changed, and writes the index again if there were any. An index that is
absent, broken or of another version is rebuilt. Saving a run does not touch it. It is a Parquet file and not a database: it
is replaced in one step, so readers never wait for each other, and every tool reads it.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from daybreak.lab import _files, _parquet
from daybreak.lab._folder import CURVES, RESULT, RUN, RunFolder
from daybreak.lab._marker import SCRATCH, ids, is_lab
from daybreak.lab.provenance import PROVENANCE
from daybreak.lab.result import Result, from_document

VERSION = 2
SHARED = frozenset({"weights"})
"""Fields that more than one part of a run has: the names of their columns start with the part, `model_weights`."""

_MEASURED = ("outcome", "plateau", "censored", "plateau_low", "plateau_high", "last_step")
_STAMP = "stamp"
_NAME, _DIGEST = "index.parquet", "index.sha256"


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
    return flat | document["provenance"]


def settings(run: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run, as `training.to_json` has them, in flat columns."""
    flat: dict[str, Any] = {part: run[part]["name"] for part in ("task", "model", "optimizer")}
    flat["schedule"] = run.get("schedule", {}).get("name", "constant")
    for part in ("task", "model", "optimizer", "stop", "schedule"):
        for name, value in run.get(part, {}).items():
            if name != "name":
                flat[f"{part}_{name}" if name in SHARED else name] = _cell(value)
    return flat | {name: run[name] for name in ("batch", "evaluation", "seed")}


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
    return json.dumps(value) if isinstance(value, list) else value


def refresh(lab: Path, read: Callable[[str], RunFolder | None]) -> pa.Table:
    """The current index of a lab, sorted by id.

    Args:
        lab: its folder.
        read: reads the folder of one run; None if it is not done, or damaged.
    """
    now = _stamps(lab / "runs")
    old = _load(lab)
    indexed = dict(zip(*(old[name].to_pylist() for name in ("id", _STAMP)), strict=True))
    kept = {name for name, stamp in indexed.items() if now.get(name) == stamp}
    folders = ((stamp, read(name)) for name, stamp in now.items() if name not in kept)
    fresh = [{**row(folder), _STAMP: stamp} for stamp, folder in folders if folder is not None]
    if fresh or len(kept) < len(indexed):
        stay = old.filter(pc.is_in(old["id"], pa.array(kept, pa.string())))  # pyright: ignore[reportAttributeAccessIssue]
        old = _joined(stay, fresh).sort_by("id")
        old = old.select(sorted(old.column_names, key=_group))
        _save(lab, old)
    return old.drop_columns([_STAMP])


def _stamps(runs: Path) -> dict[str, str]:
    """Sizes and times of the files of each run that is done, by name."""
    stamps = {}
    for folder in ids(runs):
        done = stamp(f"{runs}/{folder}/{RESULT}")
        if done:
            stamps[folder] = " ".join([done, *(stamp(f"{runs}/{folder}/{file}") for file in (RUN, CURVES))])
    return stamps


def stamp(path: str) -> str:
    """Size and time of a regular file, to compare; empty if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  (three for each of thousands of runs: a Path would cost more than the call)
    except OSError:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}" if stat.S_ISREG(status.st_mode) else ""


def _load(lab: Path) -> pa.Table:
    """The index as it was last written; an empty one if it is absent or damaged."""
    try:
        content = _files.read(lab / _NAME)
        if (lab / _DIGEST).read_text() == _digest(content):
            return _parquet.read(content)
    except (OSError, ValueError):  # pyarrow's own errors are ValueErrors
        pass
    return pa.table({"id": pa.array([], pa.string()), _STAMP: pa.array([], pa.string())})


def _save(lab: Path, table: pa.Table) -> None:
    """Write the index, if the lab can be written to. A power cut may break it; then it is rebuilt."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    if not is_lab(lab):
        return
    aside = lab / SCRATCH
    try:
        aside.mkdir(exist_ok=True)
        _files.write(lab / _NAME, content, aside, lasting=False)
        _files.write(lab / _DIGEST, _digest(content).encode(), aside, lasting=False)
    except OSError:
        pass


def _digest(content: bytes) -> str:
    return _files.sha256(f"index {VERSION}\n".encode() + content)


def _joined(table: pa.Table, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows below a table; columns are those of both."""
    try:
        return pa.concat_tables([table, _table(rows)], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column of numbers gets a text, or the like
        return _table(table.to_pylist() + rows)


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
