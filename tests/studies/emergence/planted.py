"""Runs of a study as a lab would keep them, whose plateaus follow a law that was planted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from daybreak import studies
from daybreak.lab import Lab, Saved
from daybreak.studies import Findings, TrainedData
from daybreak.studies._study import Tables
from daybreak.tasks import Recall
from daybreak.training import Record, Run
from tests.lab.made import SOURCE

Law = Callable[[Run], float]


def tables(name: str, folder: Path, law: Law, train_law: Law | None = None) -> Tables:
    """The tables of a study at laptop scale if each run emerged when a law predicts, with noise of 2 %."""
    training = studies.find(name).data
    assert isinstance(training, TrainedData)
    lab, rng = Lab(folder / "lab").open(), np.random.default_rng(0)
    return training.tables([_keep(lab, run, rng, law, train_law or law) for run in training.runs("laptop")])


def findings(name: str, folder: Path, law: Law, train_law: Law | None = None) -> Findings:
    """What the study makes of them."""
    return studies.find(name).judge(tables(name, folder, law, train_law))


def verdicts(name: str, folder: Path, law: Law, train_law: Law | None = None) -> dict[str, str]:
    """Its verdicts."""
    return {claim.id: claim.verdict for claim in findings(name, folder, law, train_law).claims}


def _keep(lab: Lab, run: Run, rng: np.random.Generator, law: Law, train_law: Law) -> Saved:
    noise = np.exp(0.02 * rng.normal())
    clean, train = (noise * x(run) for x in (law, train_law))
    end = min(1.3 * max(clean, train), 4 * run.stop.budget)
    steps = np.unique(np.linspace(0, end, 200).round().astype(np.int64))
    lab.save(run, _record(run, steps, clean, train), **SOURCE)
    return lab.load(run.id)


def _record(run: Run, steps: np.ndarray, clean: float, train: float) -> Record:
    rises = [1 / (1 + np.exp(-40 * (steps / x - 1))) for x in (clean, train)]
    curves: dict[str, np.ndarray] = {}
    for kind, rise in zip(("clean", "train"), rises, strict=True):
        if isinstance(run.task, Recall):
            guess = 1 / run.task.N
            curves[f"{kind}_accuracy"] = np.where(steps < 2, 0.01, guess + (1 - guess) * rise)
        curves[f"{kind}_loss"] = 0.5 * (1 - rise)
    model: Any = run.model
    layers, heads = model.layers, model.heads
    layer = np.arange(layers)[None, :, None] * np.ones((1, 1, heads))
    if isinstance(run.task, Recall):
        curves["value_to_key"] = (rises[0][:, None, None] * (layer == layers - 2))[:, :-1]
    curves["attention"] = rises[0][:, None, None] * (layer == layers - 1)
    if run.schedule.name != "constant":
        curves["repetition"] = (steps < (run.schedule.switch_at or train)).astype(np.float32)
    emerged = curves["clean_loss"].min() < 0.1
    return Record(steps, {k: x.astype(np.float32) for k, x in curves.items()}, "emerged" if emerged else "censored")
