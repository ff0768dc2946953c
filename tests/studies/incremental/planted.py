"""Runs of a study as a lab would keep them, whose stages begin when they were planted to."""

from collections.abc import Callable
from typing import Any

import numpy as np

from daybreak import studies
from daybreak.lab import Saved
from daybreak.lab.result import Result
from daybreak.studies import Findings, TrainedData
from daybreak.studies._study import Scale, Tables
from daybreak.training import Record, Run, to_json

NEVER = 1e9
Times = Callable[[Run], tuple[float, float]]


def tables(
    name: str,
    times: Times,
    *,
    part: bool = True,
    best: Callable[[Run], float] = lambda run: NEVER,
    scale: Scale = "laptop",
) -> Tables:
    """The tables of a study.

    Args:
        name: of the study.
        times: when the second and third stage of a run begin.
        part: whether heads part in them, or all look at block 1 for ever.
        best: step from which the validation loss rises again.
        scale: of the study.
    """
    training = studies.find(name).data
    assert isinstance(training, TrainedData)
    return training.tables([_saved(run, _record(run, times(run), part, best(run))) for run in training.runs(scale)])


def findings(name: str, times: Times, **how: Any) -> Findings:
    """What the study makes of them."""
    return studies.find(name).judge(tables(name, times, **how))


def verdicts(name: str, times: Times, **how: Any) -> dict[str, str]:
    """Its verdicts."""
    return {claim.id: claim.verdict for claim in findings(name, times, **how).claims}


def _saved(run: Run, record: Record) -> Saved:
    return Saved(to_json(run), record, Result(run.id, record.outcome, None, int(record.steps[-1]), {}, 1.0), {})


def _record(run: Run, times: tuple[float, float], part: bool, best: float) -> Record:
    """Stages are passed within some 20 steps; each takes one nat off the excess loss, the first steps two more."""
    task: Any = run.task
    model: Any = run.model
    steps = np.arange(0, run.stop.budget + 1, run.stop.every)
    pace = 6 * run.stop.budget / 800
    second, third = (1 / (1 + np.exp(-np.clip((steps - t) / pace, -50, 50))) for t in times)
    start, late = 2 * np.exp(-steps / (3 * pace)), 0.1 * np.maximum(steps - best, 0) / run.stop.every
    stage = 1 + second + third
    kl = np.stack([np.abs(stage - n) + start + late + 0.01 * n for n in (1, 2, 3)], axis=1)
    weights = np.array(task.weights or [1 / task.L] * task.L)
    mass = np.zeros((steps.size, model.heads, 3))
    moved = np.stack([0 * second, second, third, third], axis=1)[:, : model.heads] * part
    begun = (1 - 0.5 * start)[:, None]
    mass[:, :, 0] = (1 - moved) * begun
    for head, block in ((1, 1), (2, 2), (3, 2)):
        if head < model.heads:
            mass[:, head, block] = moved[:, head] * begun[:, 0]
    mass += 0.15 * (1 - begun)[:, :, None]
    lags = np.zeros((steps.size, model.heads, task.order))
    for block, places in enumerate(task.lags):
        lags[:, :, np.array(places) - 1] += mass[:, :, [block]] * weights
    curves = {
        "clean_loss": kl[:, 2] + 0.6,
        "train_loss": kl[:, 2] + 0.5,
        "kl": kl,
        "block_mass": mass[:, None],
        "lag_mass": lags[:, None],
    }
    return Record(steps, {name: x.astype(np.float32) for name, x in curves.items()}, "censored")
