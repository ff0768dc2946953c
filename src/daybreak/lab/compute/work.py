"""What a worker does with a job, in every executor: train the cohort and yield messages. It writes no file."""

import time
import traceback
from collections.abc import Iterator

import numpy as np

from daybreak.lab.compute.messages import (
    Advanced,
    Checkpoint,
    Ended,
    Finished,
    Job,
    Message,
    RunStatus,
    StartedOver,
    decode,
    encode,
)
from daybreak.lab.provenance import device
from daybreak.training import DamagedCheckpoint, Progress, evaluations

_REPORT = 0.5  # seconds between two reports of progress, at least


def answers(data: bytes) -> Iterator[bytes]:
    """The messages of a job, both as bytes. A job that cannot be read, such as one of a file that fails to load, has ended."""
    try:
        job = decode(data)
    except Exception:
        yield encode(Ended(traceback.format_exc()))
        return
    for message in work(job):  # not `yield from map`: Ray sometimes calls send() on its generators
        yield encode(message)


def work(job: Job) -> Iterator[Message]:
    """Train a cohort; the last message is always `Ended`."""
    try:
        yield from _train(job)
        yield Ended()
    except Exception:
        yield Ended(traceback.format_exc())


def _train(job: Job) -> Iterator[Message]:
    began = time.monotonic()
    checkpointed = reported = began
    training = dict(enumerate(job.runs))
    for progress in _evaluations(job):
        if isinstance(progress, StartedOver):
            yield progress
            continue
        seconds = (time.monotonic() - began) / len(job.runs)
        for i in [i for i in training if progress.outcomes[i] is not None]:
            yield Finished(training.pop(i).id, progress.record(i), seconds, device())
        if training and time.monotonic() - checkpointed >= job.every:
            for i, run in training.items():
                yield Checkpoint(run.id, progress.checkpoint(i))
            checkpointed = time.monotonic()
        if training and time.monotonic() - reported >= _REPORT:
            yield Advanced({run.id: _status(progress, i) for i, run in training.items()})
            reported = time.monotonic()


def _status(progress: Progress, i: int) -> RunStatus:
    row = progress.rows[i]
    accuracy = float(row["clean_accuracy"]) if "clean_accuracy" in row else None
    attention = float(np.max(row["attention"]))
    return RunStatus(progress.steps[i], float(row["clean_loss"]), accuracy, attention, progress.emerged[i])


def _evaluations(job: Job) -> Iterator[Progress | StartedOver]:
    """Train, from those checkpoints that are usable."""
    resume = dict(job.checkpoints)
    while True:
        try:
            yield from evaluations(job.runs, resume)
        except DamagedCheckpoint as damage:
            del resume[damage.run_id]
            yield StartedOver(damage.run_id, str(damage))
        else:
            return
