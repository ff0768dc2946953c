"""Measure rates where there are none: a few programs are trained for a second or two, in workers as those of a sweep.

Programs that are compiled for this are kept, so a sweep that follows does not compile them again.
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from daybreak.lab.compute.cost import step_operations
from daybreak.lab.compute.executor import Executor
from daybreak.lab.compute.messages import Died, Ended, Finished, Job
from daybreak.lab.compute.rates import Rate, Rates, kind, program, save
from daybreak.lab.provenance import processor
from daybreak.training import Run, Stop

MOST = 4
"""Programs that are timed at most: each takes some seconds to compile."""
_SECONDS = 1.5  # to train each, about
_GUESS = 1.5e10  # operations a second of a core: only to choose a number of steps
_STEPS = 2_000  # of small programs at most
_COMPILING = 5.0  # seconds for each, about
_ALL = 12.0  # seconds for all together, about; the first of a kind is always timed
_LARGEST = 1e11  # operations of a step: several seconds; larger programs are not timed
_NEAR = math.log(1.5)  # a program that is larger by less than that has about the same speed
_PATIENCE = 120.0  # seconds until calibration is given up


def calibrate(rates: Rates, runs: Sequence[Run], executor: Executor) -> int:
    """Time the programs that matter most for the duration of some runs, and keep their rates.

    Args:
        rates: of the runs; the new ones are added.
        runs: whose duration is asked for.
        executor: as the one of the sweep. It is closed in the end.

    Returns:
        How many programs were timed.
    """
    chosen = _choose(rates, runs, executor.workers)
    if not chosen:
        return 0
    samples = [_sample(run) for run in chosen]
    measured: dict[str, list[float]] = {}
    for done in _train(samples, executor):
        if done.step_seconds and done.device == processor():
            measured.setdefault(done.run, []).append(done.step_seconds)
    new = {}
    for run, sample in zip(chosen, samples, strict=True):
        if seconds := measured.get(sample.id):
            each = sum(seconds) / len(seconds)
            rate = Rate(each, sample.stop.every, kind(run), step_operations(sample), "timed on this machine")
            rates.add(run, rate)
            new[program(run).name] = rate
    if new:
        save(new)
    return len(new)


def _choose(rates: Rates, runs: Sequence[Run], workers: int) -> list[Run]:
    """Those programs without a rate whose speed is least certain, each weighted with its operations."""
    work: dict[object, float] = {}
    for run in runs:
        one = program(run)
        work[one] = work.get(one, 0.0) + run.stop.budget * step_operations(run)
    left = [run for run in rates.without_rate() if step_operations(run) <= _LARGEST]
    chosen: list[Run] = []

    def uncertainty(run: Run) -> float:
        near = (abs(math.log(step_operations(run) / step_operations(x))) for x in chosen if kind(x) == kind(run))
        distance = min(rates.distance(run), *near, 10.0)
        return work[program(run)] * distance if distance > _NEAR else 0.0

    needed = 0.0  # seconds
    while left and len(chosen) < MOST:
        run = max(left, key=uncertainty)
        needed += (_COMPILING + _operations(_sample(run)) / _GUESS) / workers
        new = math.isinf(rates.distance(run)) and kind(run) not in map(kind, chosen)
        if not uncertainty(run) or (needed > _ALL and not new):
            break
        chosen.append(run)
        left.remove(run)
    return chosen


def _sample(run: Run) -> Run:
    """A run of the same program that lasts about a second, longer if its steps do.

    Between two evaluations it trains at least as long as it is evaluated, so that the rate is that of steps too.
    """
    steps = int(min(_SECONDS * _GUESS / step_operations(run), _STEPS))
    least = math.ceil(step_operations(_every(run, 1)) / step_operations(_every(run, 10**9)))
    every = min(run.stop.every, max(steps, least))
    level = run.stop.level if run.schedule.depends_on_budget else 0.0  # such a schedule needs a level
    return replace(run, stop=Stop(budget=max(steps // every, 1) * every, every=every, level=level))


def _every(run: Run, every: int) -> Run:
    return replace(run, stop=Stop(every=every))


def _operations(run: Run) -> float:
    return step_operations(run) * (run.stop.budget + run.stop.every)  # one evaluation more, at step 0


def _train(samples: Sequence[Run], executor: Executor) -> Iterator[Finished]:
    """Train each once or more: all workers are busy, as they are in a sweep."""
    times = math.ceil(executor.workers / len(samples))
    waiting = [run for run in samples for _ in range(times)]
    end, under_way, number = time.monotonic() + _PATIENCE, set(), 0
    with closing(executor):
        executor.open()
        while (waiting or under_way) and time.monotonic() < end:
            while waiting and len(under_way) < executor.workers:
                number += 1
                under_way.add(number)
                executor.submit(number, Job((waiting.pop(0),), {}, every=_PATIENCE))
            for job, message in executor.events(0.5):
                if isinstance(message, Finished):
                    yield message
                elif isinstance(message, Ended | Died):
                    under_way.discard(job)
