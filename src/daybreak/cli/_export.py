"""Write tables to files, one part at a time: a lab may be larger than memory."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daybreak.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from daybreak.lab import Lab


def long_curves(lab: "Lab", names: Iterable[str]) -> Iterator["pa.Table"]:
    """The curves of runs in long format: an empty table, then one per run that was measured."""
    import numpy as np
    import pyarrow as pa

    from daybreak.lab import DamageError

    schema = pa.schema({"id": pa.string(), "step": pa.int64(), "curve": pa.string(), "value": pa.float32()})
    yield schema.empty_table()
    for name in names:
        try:
            columns = lab.columns_of(name)
        except DamageError:  # reported and set aside already
            continue
        if columns is not None:
            steps = columns.pop("step")
            which = np.repeat(list(columns), len(steps))
            rows = [[name] * len(which), np.tile(steps, len(columns)), which, np.concatenate(list(columns.values()))]
            yield pa.table(rows, schema=schema)


def parameters(lab: "Lab", names: Iterable[str], folder: Path) -> list[str]:
    """Write the parameters of those runs that have kept them, and what they are the parameters of; returns their ids."""
    from safetensors import safe_open

    from daybreak.lab import DamageError
    from daybreak.training import to_json

    written = []
    for name in names:
        try:
            saved = lab.load(name)
            content, run = saved.kept("parameters"), to_json(saved.run)
        except (DamageError, RequestError):  # damaged ones are reported already
            continue
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.safetensors"
        replace(file, content)
        with safe_open(file, "numpy") as arrays:
            shapes = {key: arrays.get_slice(key).get_shape() for key in arrays.keys()}  # noqa: SIM118
        about = {
            "run": name,
            **{part: run[part] for part in ("task", "model", "seed")},
            "step": saved.result.last_step,
            "parameters": shapes,
        }
        replace(folder / f"{name}.json", json.dumps(about, indent=1).encode())
        written.append(name)
    if not written:
        raise RequestError(
            "none of these runs has kept its parameters: give --keep parameters to the command that trains them."
        )
    return written


def replace(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, tables: Iterator["pa.Table"]) -> int:
    """Write tables of one schema to one file, in the format of its suffix; returns the number of rows.

    The file is written under another name and then renamed, so that it is never incomplete.
    """
    rows = 0

    def counted() -> Iterator["pa.Table"]:
        nonlocal rows
        for table in tables:
            rows += table.num_rows
            yield table

    part = path.with_name(f".{path.name}.part")
    try:
        WRITERS[path.suffix](part, counted())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return rows


def _csv(path: Path, tables: Iterator["pa.Table"]) -> None:
    from pyarrow import csv

    first = next(tables)
    with csv.CSVWriter(path, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _parquet(path: Path, tables: Iterator["pa.Table"]) -> None:
    from pyarrow import parquet

    first = next(tables)
    with parquet.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _json(path: Path, tables: Iterator["pa.Table"]) -> None:
    with path.open("w", encoding="utf-8") as file:
        between = "[\n"
        for table in tables:
            for row in table.to_pylist():
                file.write(between + json.dumps(finite(row), ensure_ascii=False, allow_nan=False))
                between = ",\n"
        file.write("\n]\n" if between == ",\n" else "[]\n")


def finite(value: Any) -> Any:
    """Plain data as JSON has them: a number that is not finite is null."""
    if isinstance(value, dict):
        return {name: finite(x) for name, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


WRITERS: dict[str, Callable[[Path, Iterator["pa.Table"]], None]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}
