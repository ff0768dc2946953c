"""Curves of runs for other programs: a folder with one file, or one folder of TensorBoard, per run."""

import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from daybreak.cli import _export

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from daybreak.lab import Lab


def write(lab: "Lab", names: Iterable[str], folder: Path, form: Literal["tensorboard", "csv", "parquet"]) -> list[str]:
    """Write the curves of those runs that have some; returns their ids. The same runs give the same files."""
    from daybreak.lab import DamageError

    written = []
    for name in names:
        try:
            columns = lab.columns_of(name)
            source = lab.load(name).document["provenance"]
        except DamageError:  # reported and set aside already
            continue
        if columns is None:
            continue
        if form == "tensorboard":
            inside = folder / name
            inside.mkdir(parents=True, exist_ok=True)
            start = _start(source)
            file = inside / f"events.out.tfevents.{int(start):010d}.daybreak.{name}"
            _export.replace(file, _events(columns, start, float(source.get("seconds") or 0.0)))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            _export.write(folder / f"{name}.{form}", iter([_table(columns)]))
        written.append(name)
    return written


def _table(columns: "dict[str, NDArray]") -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(x, from_pandas=True) for name, x in columns.items()})  # what is NaN is empty


def _start(source: dict[str, Any]) -> float:
    """When a run began, as far as its record says; TensorBoard shows the time of each value."""
    try:
        return datetime.fromisoformat(source["time"]).timestamp() - float(source["seconds"])
    except (KeyError, TypeError, ValueError):
        return 0.0


def _events(columns: "dict[str, NDArray]", start: float, seconds: float) -> bytes:
    """An event file. Tags are `attention/1_2` for layer 1, head 2, so that TensorBoard groups heads."""
    from daybreak.lab.curves import COLUMN
    from daybreak.watch import tensorboard

    tags = {}
    for name in columns:
        match = COLUMN.fullmatch(name)
        tags[name] = f"{match[1]}/{match[2][1:]}" if match and match[2] else name
    steps = columns["step"].tolist()
    each = seconds / max(steps[-1], 1)
    records = [tensorboard.record(tensorboard.header(start))]
    for i, step in enumerate(steps):
        row = ((tags[name], float(x[i])) for name, x in columns.items() if name != "step")
        values = [(tag, x) for tag, x in row if not math.isnan(x)]
        records.append(tensorboard.record(tensorboard.event(values, step, start + each * step)))
    return b"".join(records)
