"""Runs and records made by hand: what a store keeps does not depend on how it was computed."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from daybreak.lab import Lab
from daybreak.lab._files import sha256
from daybreak.lab.curves import encode
from daybreak.lab.result import seal
from daybreak.models import Transformer
from daybreak.tasks import Recall, SingleLocation
from daybreak.training import Optimizer, Outcome, Record, Run, Stop, canonical

SOURCE = {"seconds": 1.5, "command": "daybreak train", "device": "a test"}


def run(seed: int = 0, **changes) -> Run:
    task = SingleLocation(T=changes.pop("T", 64), d=changes.pop("d", 16))
    return Run(**{"task": task, "model": Transformer(), "optimizer": Optimizer(), "seed": seed} | changes)


def recall(seed: int = 0, N: int = 8) -> Run:
    return Run(Recall(N=N, V=64), Transformer(layers=3, causal=True), stop=Stop(level=0.9), seed=seed)


def record(middle: float = 300.0, count: int = 40, *, accuracy: bool = False, outcome: Outcome = "emerged") -> Record:
    """A loss that falls, and attention that rises, about a step."""
    steps = np.arange(count) * 20
    left = (1 / (1 + np.exp((steps - middle) / 20))).astype(np.float32)
    noise = np.random.default_rng(int(middle)).random((count, 2, 3), dtype=np.float32)
    curves = {"clean_loss": left, "train_loss": left + np.float32(0.01)}
    if accuracy:
        curves |= {"clean_accuracy": 1 - left, "train_accuracy": 1 - left}
    return Record(steps, curves | {"attention": noise * (1 - left)[:, None, None], "entropy": noise}, outcome)


def fill(lab: Lab, count: int = 5) -> list[Run]:
    """A lab of a few runs, all of them done."""
    lab.open()
    runs = [run(seed) for seed in range(count)]
    for seed, one in enumerate(runs):
        lab.save(one, record(200.0 + 20 * seed), **SOURCE)
    return runs


def harm(path: Path, how: str, place: int) -> None:
    """Damage a file: `cut` it off, `flip` a bit of it, or else remove it."""
    content = bytearray(path.read_bytes())
    if how == "cut":
        path.write_bytes(content[: place % len(content)])
    elif how == "flip":
        content[place // 8 % len(content)] ^= 1 << place % 8
        path.write_bytes(content)
    else:
        path.unlink()


def store(lab: Lab, settings: dict[str, Any], curves: dict[str, np.ndarray]) -> str:
    """Store a run that this version may not be able to construct, as another version or another program would."""
    asked = json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()
    name, measured = sha256(asked)[:16], encode(record().steps, curves)
    document = {"schema": 1, "id": name, "outcome": "emerged", "last_step": 780, "final": {}}
    document |= {"plateau": {"length": 345.6, "censored": False, "bracket": [340.0, 360.0]}}
    document |= {
        "files": {"run.json": sha256(asked), "curves.parquet": sha256(measured)},
        "provenance": {"seconds": 1.0},
    }
    folder = lab.path / "runs" / name
    folder.mkdir()
    (folder / "run.json").write_bytes(asked)
    (folder / "curves.parquet").write_bytes(measured)
    (folder / "result.json").write_bytes(seal(document))
    return name


_KNOWN = json.loads(canonical(run()))
_CURVES = record().curves
_OTHERS = {"validation_loss": _CURVES["clean_loss"], "accuracy_of_others": 1 - _CURVES["clean_loss"]}
UNKNOWN = [
    (_KNOWN | {"task": {"name": "needle", "T": 32, "hay": [1, 2]}}, _CURVES, "task 'needle'"),
    (_KNOWN | {"model": {"name": "mamba"}}, {"clean_loss": _CURVES["clean_loss"]}, "model 'mamba'"),
    (_KNOWN | {"task": _KNOWN["task"] | {"depth": 3}}, _CURVES, "setting 'depth' of the task"),
    (_KNOWN | {"stop": _KNOWN["stop"] | {"patience": 3}}, _CURVES, "setting 'patience' of the stop"),
    (_KNOWN | {"rounding": {"kind": "stochastic"}}, _CURVES, "setting 'rounding' of the run"),
    (_KNOWN | {"seed": 2**40}, _CURVES, "setting (seed = 1099511627776 is not allowed"),
    ({"schema": 1, "name": "of a friend", "task": {"name": "observed"}}, _OTHERS, "task 'observed'"),
    ({"schema": 1, "stop": _KNOWN["stop"]}, {"clean_accuracy": 1 - _CURVES["clean_loss"]}, "task"),
]
"""Runs that this version cannot construct: settings, curves, and what is not known."""
