"""A planted training of somebody else: attention follows the clock, the loss falls when it is over."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy import special

from daybreak.watch.tensorboard import EventWriter

TAKEOFF = 600
FALL = 620  # the step at which the loss begins to fall
TRUTH = FALL + 40 * np.log(3)  # at which it is 1


def columns(last: int = 1000) -> dict[str, np.ndarray]:
    """Loss every 10 steps, two heads every 20, one of which learns; NaN where nothing was measured."""
    steps = np.arange(0, last + 1, 10)
    odds = np.exp(special.erfinv(np.minimum(steps / TAKEOFF, 0.9999)) ** 2) / 63
    attention = np.where(steps % 20 == 0, odds / (1 + odds), np.nan)
    loss = 3 * np.where(steps < FALL, 1.0, np.exp(-(steps - FALL) / 40))
    return {"step": steps, "train/loss": loss, "induction_1_1": attention, "induction_1_2": 0 * attention + 1 / 64}


def rows(last: int = 1000) -> list[dict[str, float]]:
    """The same row by row, without what is missing."""
    table = columns(last)
    names = list(table)
    values = zip(*(x.tolist() for x in table.values()), strict=True)
    return [{n: x for n, x in zip(names, row, strict=True) if x == x} for row in values]


def csv(path: Path, last: int = 1000) -> Path:
    names = list(columns())
    lines = [",".join(str(row.get(name, "")) for name in names) for row in rows(last)]
    path.write_text("\n".join([",".join(names), *lines, ""]))
    return path


def jsonl(path: Path, last: int = 1000) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(last)))
    return path


def trainer_state(path: Path, last: int = 1000) -> Path:
    path.write_text(json.dumps({"epoch": 1.0, "log_history": rows(last), "global_step": last}))
    return path


def table(path: Path, last: int = 1000) -> Path:
    parquet.write_table(pa.table(columns(last)), path)
    return path


def board(path: Path, last: int = 1000) -> Path:
    writer = EventWriter(path)
    for row in rows(last):
        writer.log({name: x for name, x in row.items() if name != "step"}, int(row["step"]))
    writer.close()
    return path


def long(path: Path, last: int = 1000) -> Path:
    lines = [f"{name},{row['step']:g},{x!r}" for row in rows(last) for name, x in row.items() if name != "step"]
    path.write_text("\n".join(["tag,step,value", *lines, ""]))
    return path


FORMATS = {
    "a.csv": csv,
    "a.jsonl": jsonl,
    "a.json": trainer_state,
    "a.parquet": table,
    "board": board,
    "long.csv": long,
}
