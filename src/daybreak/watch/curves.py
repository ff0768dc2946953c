"""Curves from a file of somebody's training: CSV, JSON lines, JSON, Parquet, or a folder of TensorBoard's event files.

Whatever the format, the answer is one row per step and one column per number. Training that went back to a checkpoint writes some
steps twice: then the later rows count, and the earlier ones of the same steps and after are left out.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError, nearest
from daybreak.lab import _files, _parquet
from daybreak.lab.reading.columns import listed
from daybreak.watch import tensorboard

STEPS = ("step", "global_step", "_step", "trainer/global_step", "iteration", "iter", "steps", "iterations")
"""Names of the column with the step, the first of which counts; in upper or lower case."""
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

_MOST = 2**30  # bytes of a file
_TAGS = ("tag", "curve", "metric", "name", "key", "variable")  # the column that names the curve in a long table
_NONE = ["", "nan", "NaN", "NAN", "null", "None", "NA", "N/A"]


@final
@dataclass(frozen=True)
class FileCurves:
    """What a file contains.

    Args:
        path: the file or folder.
        step: name of the column with the steps.
        steps: of the rows, increasing.
        columns: by name; NaN where a row has no value.
        notes: what was left out, in sentences.
    """

    path: Path
    step: str
    steps: NDArray[np.int64]
    columns: dict[str, NDArray[np.float64]]
    notes: tuple[str, ...]


@final
class NoRowsError(RequestError):
    """A file that can be read and has no row with a step and a number, or none yet."""


def is_curves(path: Path) -> bool:
    """Whether a path is a file, or a folder with event files; a folder with anything else is not."""
    try:
        return (path.exists() and not path.is_dir()) or bool(path.is_dir() and tensorboard.files(path))
    except OSError:
        return False


def read(path: Path, step: str | None = None, *, growing: bool = False) -> FileCurves:
    """The curves in a file or folder.

    Args:
        path: its name says which format it is.
        step: the column with the steps; by default one of `STEPS`.
        growing: whether somebody writes it at the moment: then a last line without an end is left for later.

    Raises:
        RequestError: it cannot be read, or has no steps; the message names the columns that there are.
    """
    try:
        if path.is_dir():
            return _events(path, tensorboard.files(path))
        if "tfevents" in path.name:
            return _events(path, {".": [path]})
        check_suffix(path)
        content = _files.read(path, _MOST)
    except FileNotFoundError:
        raise RequestError(f"file = {str(path)!r} is not allowed: it does not exist.") from None
    except OSError as error:
        raise RequestError(f"file = {str(path)!r} is not allowed: {error.strerror}.") from None
    try:
        raw = _columns(path, content, growing=growing)
    except (ValueError, RecursionError) as error:  # pyarrow's own errors are ValueErrors
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise RequestError(f"file = {str(path)!r} cannot be read as {path.suffix[1:] or 'a table'}: {why}.") from None
    return _table(path, raw, step)


def check_suffix(path: Path) -> None:
    """Refuse a file of another format, by its name."""
    if path.suffix.lower() not in SUFFIXES and path.exists():
        allowed = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise RequestError(
            f"file = {str(path)!r} is not allowed: its name must end in {allowed}, or it is a folder of TensorBoard."
        )


def _columns(path: Path, content: bytes, *, growing: bool) -> dict[str, NDArray]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        table = _parquet.read(content)
        return {name: _numbers(table[name].to_pylist()) for name in table.column_names}
    if growing:
        content = content[: content.rfind(b"\n") + 1]
    if suffix in (".csv", ".tsv"):
        return _csv(content)
    return _rows(_json(content) if suffix == ".json" else _json_lines(content))


def _csv(content: bytes) -> dict[str, NDArray]:
    import pyarrow as pa
    from pyarrow import csv

    if content.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16, as some programs of Windows write it
        content = content.decode("utf-16", "ignore").encode()
    head = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    if not head.strip():
        return {}
    if any(byte < 32 and byte not in b"\t\r\x1b" for byte in head):  # an escape is shown as plain text
        raise ValueError("it is not a text file, its first line has control characters")
    delimiter = max(",\t;", key=lambda x: head.count(x.encode()))
    table = csv.read_csv(
        pa.BufferReader(content),
        csv.ReadOptions(use_threads=False, encoding="utf-8" if _is_utf8(content) else "latin-1"),
        csv.ParseOptions(delimiter=delimiter, invalid_row_handler=lambda row: "skip"),  # the last one may be incomplete
        csv.ConvertOptions(null_values=_NONE, strings_can_be_null=True, decimal_point="." if delimiter == "," else ","),
    )
    columns: dict[str, NDArray] = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        columns.setdefault(name.strip(), _numbers(values.to_pylist()))
    return columns


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_lines(content: bytes) -> Iterable[Any]:
    """The objects of the lines; a line that is none is left out, unless all are none."""
    rows, wrong = [], ""
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            if line.strip():
                rows.append(json.loads(line))
        except ValueError:
            wrong = wrong or f"line {number} is no JSON"
    if wrong and not rows:
        raise ValueError(wrong)
    return rows


def _json(content: bytes) -> Iterable[Any]:
    """A list of objects, or a Trainer's state, which has such a list, or columns."""
    data = json.loads(content)
    if isinstance(data, dict):
        data = data.get("log_history", data)
    if isinstance(data, dict) and data and all(isinstance(x, list) for x in data.values()):
        return [dict(zip(data, row, strict=False)) for row in zip(*data.values(), strict=False)]
    if not isinstance(data, list):
        raise ValueError("a list of objects, or columns as lists, are needed")
    return data


def _rows(rows: Iterable[Any]) -> dict[str, NDArray]:
    """Objects as columns: parts of an object are `part/name`, elements of a list are numbered from 1, `induction_1_2`."""
    flat = [_flat(row) for row in rows if isinstance(row, dict)]
    names = dict.fromkeys(name for row in flat for name in row)
    return {name: _numbers([row.get(name) for row in flat]) for name in names}


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        parts = ((f"{name}/{key}" if name else str(key), x) for key, x in value.items())
    elif isinstance(value, list):
        parts = ((f"{name}_{i}", x) for i, x in enumerate(value, 1))
    else:
        return {name: value}
    return {key: x for part, one in parts for key, x in _flat(one, part).items()}


def _numbers(values: list[Any]) -> NDArray:
    """Numbers as floats, NaN for what is missing; a column that is mostly text as it is. One broken cell does not lose a column."""
    numbers = [_number(x) for x in values]
    there = sum(x is not None for x in values)
    if 2 * sum(x is not None for x in numbers) <= there and any(isinstance(x, str) for x in values):
        return np.array(values, object)
    return np.array([np.nan if x is None else x for x in numbers], np.float64)


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _table(path: Path, raw: Mapping[str, NDArray], step: str | None) -> FileCurves:
    name = _step_name(path, list(raw), step)
    tags = [x for x in raw if x.lower() in _TAGS and raw[x].dtype == object]
    values = [x for x in raw if x.lower() == "value"]
    steps = _whole_steps(path, name, raw[name])
    there = steps >= 0
    if len(tags) == len(values) == 1 and raw[values[0]].dtype != object:
        return _long(path, name, steps[there], raw[tags[0]][there], raw[values[0]][there], _runs(raw, there))
    numbers = {x: raw[x][there] for x in raw if x != name and raw[x].dtype != object}
    rows = steps[there]
    kept = _counting(rows)
    notes = [_left_out(int((~kept).sum()))] if not kept.all() else []
    points = {x: (rows[kept], y[kept]) for x, y in numbers.items()}
    return _merged(path, name, points, notes)


def _step_name(path: Path, names: list[str], step: str | None) -> str:
    if not names:
        raise NoRowsError(f"file = {str(path)!r} has no columns: it is empty.")
    by_lower = {name.lower(): name for name in reversed(names)}
    if step is None:
        found = [by_lower[x] for x in STEPS if x in by_lower]
        if not found:
            raise RequestError(
                f"file = {str(path)!r} has no column 'step': name it with --step; there are {listed(names)}."
            )
        return found[0]
    if step not in names:
        near = nearest(step, names)
        hint = f"perhaps you meant {near!r}" if near else f"there are {listed(names)}"
        raise RequestError(f"step = {step!r} is not allowed: there is no such column; {hint}.")
    return step


def _whole_steps(path: Path, name: str, values: NDArray) -> NDArray[np.int64]:
    """Steps as whole numbers; −1 for a row without one."""
    if values.dtype == object:
        text = next(x for x in values if isinstance(x, str))
        raise RequestError(f"column {name!r} of {str(path)!r} is no step: it contains {text!r}.")
    finite = np.isfinite(values)
    wrong = finite & ((values != np.round(values)) | (values < 0) | (values >= 2**53))
    if wrong.any():
        raise RequestError(
            f"column {name!r} of {str(path)!r} is no step: it contains {values[wrong][0]:g}. Steps are whole numbers, at least 0."
        )
    return np.where(finite, np.nan_to_num(values, posinf=0), -1).astype(np.int64)


def _counting(steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows count: those after which no row has an earlier step. Of a table that is sorted downwards, all."""
    if steps.size and (np.diff(steps) <= 0).all():
        return np.ones(steps.size, np.bool_)
    least = np.minimum.accumulate(steps[::-1])[::-1]
    return steps <= np.append(least[1:], np.iinfo(np.int64).max)


def _runs(raw: Mapping[str, NDArray], there: NDArray[np.bool_]) -> NDArray | None:
    """The run of each row of a long table, if it has several."""
    name = next((x for x in raw if x.lower() in ("id", "run") and raw[x].dtype == object), None)
    runs = None if name is None else raw[name][there]
    return runs if runs is not None and len({*runs}) > 1 else None


def _long(
    path: Path, name: str, steps: NDArray[np.int64], tags: NDArray, values: NDArray, runs: NDArray | None
) -> FileCurves:
    """A table with one number in each row: step, tag and value."""
    if runs is not None:
        tags = np.array([f"{str(run)[:12]}/{tag}" for run, tag in zip(runs, tags, strict=True)], object)
    places: dict[str, list[int]] = {}
    for i, tag in enumerate(tags):
        if tag is not None:
            places.setdefault(str(tag), []).append(i)
    return _separate(path, name, {tag: (steps[rows], values[rows]) for tag, rows in places.items()}, [])


def _events(path: Path, files: Mapping[str, list[Path]]) -> FileCurves:
    """The scalars of event files. Those of several folders have the name of the folder before the tag."""
    if not files:
        raise RequestError(
            f"file = {str(path)!r} is not allowed: this folder has no event files of TensorBoard (*tfevents*)."
        )
    tags: dict[str, tuple[list[int], list[float]]] = {}
    notes = []
    for folder, inside in files.items():
        prefix = "" if len(files) == 1 or folder == "." else f"{folder}/"
        for file in inside:
            for one in tensorboard.scalars(_files.read(file, _MOST)):
                if isinstance(one, tensorboard.Damage):
                    notes.append(f"{file.name} is damaged at byte {one.byte:,}: what follows was not read.")
                elif one.step >= 0:
                    steps, values = tags.setdefault(prefix + one.tag, ([], []))
                    steps.append(one.step)
                    values.append(one.value)
    if not tags:
        raise NoRowsError(f"file = {str(path)!r} has no scalars{' yet' * (not notes)}. {' '.join(notes)}".strip())
    points = {tag: (np.array(x, np.int64), np.array(y, np.float64)) for tag, (x, y) in tags.items()}
    return _separate(path, "step", points, notes)


def _separate(
    path: Path, name: str, points: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]], notes: list[str]
) -> FileCurves:
    """Curves that were written one by one: each may have gone back by itself."""
    left = 0
    for tag, (steps, values) in points.items():
        kept = _counting(steps)
        left += int((~kept).sum())
        points[tag] = steps[kept], values[kept]
    return _merged(path, name, points, notes + [_left_out(left)] * bool(left))


def _merged(
    path: Path, name: str, points: Mapping[str, tuple[NDArray[np.int64], NDArray]], notes: list[str]
) -> FileCurves:
    """Curves on the union of their steps. Of several values at a step, the last that is a number counts."""
    finite = {tag: (x[~np.isnan(y)], y[~np.isnan(y)]) for tag, (x, y) in points.items()}
    steps = np.unique(np.concatenate([x for x, _ in finite.values()] or [np.array([], np.int64)]))
    columns = {}
    for tag, (x, y) in finite.items():
        columns[tag] = np.full(steps.size, np.nan)
        columns[tag][np.searchsorted(steps, x)] = y  # the last of equal steps stays
    if not steps.size:
        raise NoRowsError(
            f"file = {str(path)!r} has no row with a step and a number; its columns are {listed([name, *points])}."
        )
    return FileCurves(path, name, steps, columns, tuple(notes))


def _left_out(count: int) -> str:
    of = "1 row was" if count == 1 else f"{count:,} rows were"
    return f"{of} left out: training went back to an earlier step, and wrote later ones again."


def default_value(columns: Iterable[str]) -> str:
    """The column that decides if none is named: the loss, or the only one."""
    names = list(columns)
    return names[0] if len(names) == 1 else "loss"
