"""What a worker does with a job, wherever it runs: train the cohort and tell of it. It writes nothing and keeps nothing."""

import time
import traceback
from collections.abc import Iterator

import numpy as np

from daybreak.lab.compute.messages import Advanced, Checkpoint, Ended, Finished, Job, Message, RunStatus, StartedOver
from daybreak.lab.provenance import device
from daybreak.training import DamagedCheckpoint, Progress, evaluations

_NEWS = 0.5  # seconds between two reports of progress, at least


def work(job: Job) -> Iterator[Message]:
    """Train a cohort; whatever happens, the last message says that it is over."""
    try:
        yield from _train(job)
        yield Ended()
    except Exception:
        yield Ended(traceback.format_exc())


def _train(job: Job) -> Iterator[Message]:
    began = time.monotonic()
    kept = told = began
    training = dict(enumerate(job.runs))
    for progress in _evaluations(job):
        if isinstance(progress, StartedOver):
            yield progress
            continue
        seconds = (time.monotonic() - began) / len(job.runs)
        for i in [i for i in training if progress.outcomes[i] is not None]:
            yield Finished(training.pop(i).id, progress.record(i), seconds, device())
        if training and time.monotonic() - kept >= job.every:
            for i, run in training.items():
                yield Checkpoint(run.id, progress.checkpoint(i))
            kept = time.monotonic()
        if training and time.monotonic() - told >= _NEWS:
            yield Advanced({run.id: _standing(progress, i) for i, run in training.items()})
            told = time.monotonic()


def _standing(progress: Progress, i: int) -> RunStatus:
    row = progress.rows[i]
    accuracy = float(row["clean_accuracy"]) if "clean_accuracy" in row else None
    attention = float(np.max(row["attention"]))
    return RunStatus(progress.steps[i], float(row["clean_loss"]), accuracy, attention, progress.emerged[i])


def _evaluations(job: Job) -> Iterator[Progress | StartedOver]:
    """Train from the checkpoints that are of use."""
    resume = dict(job.checkpoints)
    while True:
        try:
            yield from evaluations(job.runs, resume)
        except DamagedCheckpoint as damage:
            del resume[damage.run_id]
            yield StartedOver(damage.run_id, str(damage))
        else:
            return
