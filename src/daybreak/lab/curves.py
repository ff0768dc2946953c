"""The curves of a record as Parquet: one row per evaluation, one column per number.

Arrays become several columns, whose names end in 1-based indices: `attention_1_2` is layer 1, head 2. Any tool that
reads Parquet can plot them, and `decode` restores the arrays. Equal curves give equal bytes.
"""

import math
import re
from collections.abc import Collection

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from daybreak.lab import _parquet

Curves = dict[str, NDArray[np.floating]]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_+[a-z][a-z0-9]*)*")  # a word that is a number is the place in an array
COLUMN = re.compile(rf"({_NAME.pattern})((?:_[1-9]\d*)*)")
"""A name of a column: of a curve, and of the place in an array."""


def columns(steps: NDArray[np.integer], curves: Curves) -> dict[str, NDArray]:
    """Steps and curves as plain columns, one for each element of an array."""
    columns: dict[str, NDArray] = {"step": np.asarray(steps, np.int64)}
    for name, curve in curves.items():
        values = np.asarray(curve, np.float32)
        for place in np.ndindex(values.shape[1:]):
            columns["_".join([name, *(str(i + 1) for i in place)])] = values[(slice(None), *place)]
    return columns


def check_name(name: str) -> None:
    """Refuse a name that a curve cannot have."""
    if not _NAME.fullmatch(name) or name == "step":
        raise ValueError(
            f"a curve cannot be called {name!r}: lower-case words between _ only, that start with a letter, and not 'step'."
        )


def encode(steps: NDArray[np.integer], curves: Curves) -> bytes:
    """A Parquet file of the curves, in single precision."""
    for name in curves:
        check_name(name)
    sink = pa.BufferOutputStream()
    # Short columns of noise: a dictionary, statistics or a slower compression would take time and save no space.
    parquet.write_table(
        pa.table(columns(steps, curves)),
        sink,
        compression="snappy",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    )
    return sink.getvalue().to_pybytes()


def plain(content: bytes) -> dict[str, NDArray]:
    """The columns of a Parquet file, `step` first."""
    table = _parquet.read(content)
    return {name: table[name].to_numpy() for name in table.column_names}


def decode(content: bytes) -> tuple[NDArray[np.int64], Curves]:
    """Steps and curves from a Parquet file, arrays restored. Columns that are no part of an array are curves of that name."""
    columns = plain(content)
    steps = columns.pop("step")
    return steps, joined(columns)


def joined(columns: dict[str, NDArray]) -> Curves:
    """Plain columns as curves, arrays restored."""
    parts: dict[str, dict[tuple[int, ...], str]] = {}
    for column in columns:
        match = COLUMN.fullmatch(column)
        name, numbers = (match[1], match[2].split("_")[1:]) if match else (column, [])
        parts.setdefault(name, {})[tuple(int(i) - 1 for i in numbers)] = column
    curves: Curves = {}
    for name, places in parts.items():
        whole = _shape(places)
        if whole is None:
            curves |= {column: np.asarray(columns[column], np.float32) for column in places.values()}
        else:
            parts_of = np.stack([columns[places[x]] for x in np.ndindex(whole)], 1, dtype=np.float32)
            curves[name] = parts_of.reshape(len(parts_of), *whole)
    return curves


def _shape(places: Collection[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of an array with exactly these elements; None if there is none."""
    if len({len(place) for place in places}) > 1:
        return None
    shape = tuple(max(i) + 1 for i in zip(*places, strict=True))
    return shape if math.prod(shape) == len(places) else None
