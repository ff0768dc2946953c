"""The curves of a record as Parquet: one row per evaluation, one column per number.

Arrays are spread over columns whose names end in 1-based indices: `attention_1_2` is layer 1, head 2. Any tool that
reads Parquet can plot them, and `decode` puts the arrays back together. Equal curves give equal bytes.
"""

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from daybreak.lab import _parquet

Curves = dict[str, NDArray[np.floating]]

_NAME = re.compile(r"[a-z][a-z_]*(?<!_)")
_COLUMN = re.compile(rf"({_NAME.pattern})((?:_\d+)*)")


def columns(steps: NDArray[np.integer], curves: Curves) -> dict[str, NDArray]:
    """Steps and curves as plain columns, arrays spread out."""
    made: dict[str, NDArray] = {"step": np.asarray(steps, np.int64)}
    for name, curve in curves.items():
        if not _NAME.fullmatch(name) or name == "step":
            raise ValueError(f"a curve cannot be called {name!r}: lower-case letters and single words between _ only.")
        values = np.asarray(curve, np.float32)
        for place in np.ndindex(values.shape[1:]):
            made["_".join([name, *(str(i + 1) for i in place)])] = values[(slice(None), *place)]
    return made


def encode(steps: NDArray[np.integer], curves: Curves) -> bytes:
    """A Parquet file of the curves, in single precision."""
    sink = pa.BufferOutputStream()
    # Short columns of noise: a dictionary, statistics or a slower compression would take time and save no room.
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
    """Steps and curves from a Parquet file, arrays put together."""
    columns = plain(content)
    steps = columns.pop("step")
    parts: dict[str, dict[tuple[int, ...], NDArray]] = {}
    for column, values in columns.items():
        found = _COLUMN.fullmatch(column)
        if found is None:
            raise ValueError(f"column {column!r} is not a curve")
        place = tuple(int(i) - 1 for i in found[2].split("_")[1:])
        parts.setdefault(found[1], {})[place] = values
    return steps, {name: _joined(places) for name, places in parts.items()}


def _joined(places: dict[tuple[int, ...], NDArray]) -> NDArray[np.float32]:
    rows = next(iter(places.values())).size
    joined = np.empty((rows, *(max(i) + 1 for i in zip(*places, strict=True))), np.float32)
    for place, values in places.items():
        joined[(slice(None), *place)] = values
    return joined
