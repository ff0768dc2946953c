"""What a worker does with a job, in every executor: train the cohort and yield messages. It writes no file."""

import inspect
import math
import signal
import time
import traceback
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from typing import final

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
)
from daybreak.lab.provenance import device
from daybreak.lab.saved import Keep
from daybreak.training import DamagedCheckpoint, Progress, Run, evaluations, maps, trained
from daybreak.training.lanes import at_once

_REPORT = 0.5  # seconds between two reports of progress, at least
_FIRST = 2.0  # seconds until the first checkpoint, at least: most first runs last less than a minute
_SHARE = 50  # the next checkpoint comes when training has taken this many times as long as the last checkpoint


def answers(data: bytes) -> Generator[Message, None, None]:
    """The messages of a job that is read from bytes. One that cannot be, such as one of a file that fails to load, has ended."""
    try:
        job = decode(data)
    except Exception:
        yield Ended(traceback.format_exc())
        return
    yield from work(job)


def deliver(messages: Generator[Message, None, None], send: Callable[[Message], None]) -> None:
    """Send the messages of a job. By SIGINT the driver asks for checkpoints: it is raised where the job is trained.

    While a message is on its way it waits, so that the driver gets whole messages and `work` learns of it.
    """
    waits = False

    def interrupt(number: int, frame: object) -> None:
        nonlocal waits
        if inspect.getgeneratorstate(messages) == inspect.GEN_RUNNING:
            raise KeyboardInterrupt
        waits = True

    signal.signal(signal.SIGINT, interrupt)
    message = next(messages, None)
    while message is not None:
        send(message)
        message = messages.throw(KeyboardInterrupt) if waits else next(messages, None)
        waits = False


def work(job: Job) -> Generator[Message, None, None]:
    """Train a cohort; the last message is always `Ended`.

    Raises:
        KeyboardInterrupt: if interrupted; before that, it yields a checkpoint of every member still in training.
    """
    try:
        yield from _train(job)
        yield Ended()
    except Exception:
        yield Ended(traceback.format_exc())


def _train(job: Job) -> Generator[Message, None, None]:
    began = time.monotonic()
    reported, rhythm = began, _Rhythm(job.every)
    training = dict(enumerate(job.runs))
    progress, pace = None, _Pace()
    try:
        for progress in _evaluations(job):
            if isinstance(progress, StartedOver):
                yield progress
                continue
            pace.see(progress.steps)
            seconds = (time.monotonic() - began) / len(job.runs)
            for i in [i for i in training if progress.outcomes[i] is not None]:
                kept, state = _kept(progress, i, job.keep), progress.state(i)
                end = training.pop(i).id, progress.record(i), seconds, device()
                yield Finished(*end, kept, state, pace.step_seconds(i))
            if training and rhythm.due():
                yield from _checkpoints(training, progress)
                rhythm.taken()
            if training and time.monotonic() - reported >= _REPORT:
                yield Advanced({run.id: _status(progress, i) for i, run in training.items()})
                reported = time.monotonic()
    except KeyboardInterrupt:
        if isinstance(progress, Progress):
            yield from _checkpoints(training, progress)
        raise


def _checkpoints(training: Mapping[int, Run], progress: Progress) -> Iterator[Checkpoint]:
    for i, run in training.items():
        yield Checkpoint(run.id, progress.steps[i], progress.checkpoint(i))


@final
class _Pace:
    """How long a step of each member takes on one core, with its part of the evaluations; compiling is not counted.

    On a CPU one member trains on each core at a time. So with n members in training on c cores, the part of each is c / n of the
    time. With fewer members than cores nothing is counted: they are faster than on one core each.
    """

    def __init__(self) -> None:
        self._time = 0.0
        self._steps: list[int] = []  # at the last evaluation
        self._sums: list[tuple[float, int]] = []  # seconds and steps since the first evaluation

    def see(self, steps: Sequence[int]) -> None:
        """Count the steps of all members since the last evaluation. Counting begins at the first one, which comes after compiling."""
        now = time.monotonic()
        if self._steps:
            done = [new - old for new, old in zip(steps, self._steps, strict=True)]
            members = sum(x > 0 for x in done)
            if members >= _cores():
                each = (now - self._time) * _cores() / members
                self._sums = [(s + each * (x > 0), n + x) for (s, n), x in zip(self._sums, done, strict=True)]
        else:
            self._sums = [(0.0, 0)] * len(steps)
        self._time, self._steps = now, list(steps)

    def step_seconds(self, i: int) -> float | None:
        """Of a member."""
        seconds, steps = self._sums[i]
        return seconds / steps if steps else None


def _cores() -> float:
    """Members that each have a core; an accelerator counts as one."""
    return at_once() if math.isfinite(at_once()) else 1


@final
class _Rhythm:
    """When the next checkpoint is due: early at first, then at twice the distance each time until that of the rules.

    A checkpoint of the paper's network has 20 MB and takes 0.1 s to pack, write and sync. So the first, after 2 s, costs 5 % of
    the time until then. Later ones wait until training has taken 50 times as long as the last: 2 %, if the rules allow that
    distance. In the first minute there are four, which cost 0.4 s; every 30 s there would be two.
    """

    def __init__(self, every: float):
        self._every, self._distance, self._last = every, min(_FIRST, every), time.monotonic()
        self._asked = self._last

    def due(self) -> bool:
        """Whether a checkpoint is to be taken now."""
        self._asked = time.monotonic()
        return self._asked - self._last >= self._distance

    def taken(self) -> None:
        """A checkpoint was taken, since `due` was called."""
        self._last = time.monotonic()
        self._distance = min(self._every, max(2 * self._distance, _SHARE * (self._last - self._asked)))


def _kept(progress: Progress, i: int, keep: Collection[Keep]) -> dict[Keep, bytes]:
    """The files to keep of a member that is done."""
    files: dict[Keep, Callable[[], bytes]] = {
        "parameters": lambda: trained.encode(progress.parameters(i)),
        "maps": lambda: maps.encode(progress.maps(i)),
    }
    return {what: files[what]() for what in keep}


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
            yield from evaluations(job.runs, resume, keep_maps="maps" in job.keep)
        except DamagedCheckpoint as damage:
            del resume[damage.run_id]
            yield StartedOver(damage.run_id, str(damage))
        else:
            return
