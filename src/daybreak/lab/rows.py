"""The rows of an observed run: lines of JSON, appended while something else trains.

    {"step":200,"loss":3.25,"induction":[[0.01,null]]}   what was measured at a step; null is NaN, 1e999 is infinite
    {"resume":150}                                       training goes on from step 150: rows above with a later step do not count

Rows of the same step are one row. A line that is not complete, as a killed writer or a full disk leaves it, is ignored.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daybreak.lab import _files

ROWS = "observed.jsonl"

_TAIL = 2**18  # bytes in which the last line is looked for first


def row(step: int, values: Mapping[str, NDArray[np.float32]]) -> bytes:
    """The line of a row. Numbers have as many digits as single precision needs."""
    fields = [f'"step":{step}', *(f"{json.dumps(name)}:{_text(x)}" for name, x in values.items())]
    return f"{{{','.join(fields)}}}\n".encode()


def resume(step: int) -> bytes:
    """The line that says from which step training goes on."""
    return f'{{"resume":{step}}}\n'.encode()


def _text(values: NDArray[np.float32] | np.float32) -> str:
    if isinstance(values, np.ndarray) and values.ndim:
        return f"[{','.join(map(_text, values))}]"
    if np.isnan(values):
        return "null"
    return str(np.float32(values)) if np.isfinite(values) else "1e999" if values > 0 else "-1e999"


def append(folder: Path, line: bytes, *, torn: bool) -> None:
    """Append a line in one call of the system; after a torn one, on a line of its own.

    Raises:
        OSError: the run was deleted, or the disk is full. Then a part of the line may be there.
    """
    content = memoryview(b"\n" * torn + line)
    file = os.open(folder / ROWS, os.O_WRONLY | os.O_APPEND)
    try:
        while content:
            content = content[os.write(file, content) :]
    finally:
        os.close(file)


def is_torn(folder: Path) -> bool:
    """Whether the last line is not complete."""
    with (folder / ROWS).open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def read(folder: Path) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float32]]]:
    """Steps and curves of all complete rows that count; NaN where a row has no value of a curve.

    Raises:
        OSError: the file cannot be read.
    """
    return parse(_files.read(folder / ROWS))


def parse(content: bytes) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float32]]]:
    """The same, from the bytes of the file."""
    rows: dict[int, dict[str, Any]] = {}
    for line in content.split(b"\n"):
        match _line(line):
            case {"step": int(step), **values}:
                rows[step] = rows.get(step, {}) | values
            case {"resume": int(last)}:
                rows = {step: values for step, values in rows.items() if step <= last}
    steps = sorted(rows)
    names = dict.fromkeys(name for step in steps for name in rows[step])
    return np.array(steps, np.int64), {name: _curve([rows[step].get(name) for step in steps]) for name in names}


def last_step(folder: Path) -> int | None:
    """The step that an observed run has reached, by the end of its file; None if it has no row."""
    try:
        if not (folder / ROWS).is_file():  # a pipe may have no end
            return None
        with (folder / ROWS).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            for tail in (_TAIL, size):
                file.seek(max(size - tail, 0))
                for line in reversed(file.read().split(b"\n")):
                    match _line(line):
                        case {"step": int(step)} | {"resume": int(step)}:
                            return step
    except OSError:
        pass
    return None


def _line(line: bytes) -> Any:
    try:
        return json.loads(line) if line else None
    except (ValueError, RecursionError):
        return None


def _curve(values: list[Any]) -> NDArray[np.float32]:
    """A curve of single numbers or of arrays, all of the shape of the first; NaN where there is none, or another shape."""
    arrays = [None if x is None else _array(x) for x in values]
    shape = next((x.shape for x in arrays if x is not None), ())
    missing = np.full(shape, np.nan, np.float32)
    return np.stack([missing if x is None or x.shape != shape else x for x in arrays])


def _array(value: Any) -> NDArray[np.float32] | None:
    """A value of JSON as an array; None if it is none."""
    try:
        with np.errstate(over="ignore"):
            return np.array(value, np.float64).astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        return None
