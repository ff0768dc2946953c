"""Runs and records made by hand: what a store keeps does not depend on how it was computed."""

from pathlib import Path

import numpy as np

from daybreak.lab import Lab
from daybreak.models import Transformer
from daybreak.tasks import Recall, SingleLocation
from daybreak.training import Optimizer, Outcome, Record, Run, Stop

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
