"""What a sweep costs besides training, and what a second worker buys.

    python benchmarks/sweep.py [overhead|workers]

Overhead: a sweep of 20 000 runs whose executor answers at once with a made-up record, but with the real driver and the
real lab (on the disk of TMPDIR); milliseconds a run, at most 5 are allowed, and memory of the driver at every tenth.
Workers: a sweep of many cohorts of a small Transformer on one worker and on two, with programs compiled before; at least
1.7 times faster is wanted. Two cores of a shared machine are rarely twice as fast as one: the limit is measured too, by
two processes that only multiply matrices, each on its own core. Prints one JSON document for each.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from daybreak._machine import cores, pin
from daybreak.lab import Lab
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.local import LocalExecutor
from daybreak.lab.compute.messages import Ended, Finished, Job, Started
from daybreak.lab.compute.state import State
from daybreak.lab.sweeps import sweep
from daybreak.training import Record
from report import Report

RUNS, ALLOWED, WANTED = 20_000, 5.0, 1.7

NOTHING = f"""
seeds = {RUNS}
[task]
name = "single-location"
T = 4
d = 2
[model]
name = "toy"
"""
SMALL = """
seeds = 16
evaluation = 64
[task]
name = "single-location"
T = [16, 24]
d = 4
[model]
name = "transformer"
width = 64
head_width = 16
mlp = 256
[stop]
budget = 400
every = 50
level = 0.0
"""


class AnswersAtOnce:
    """An executor that returns a made-up record at once."""

    workers, memory, at_once = 2, 1e9, 1

    def __init__(self):
        self._events: list[Event] = []
        rows = 20
        curves = {name: np.linspace(0.5, 0.0, rows, dtype=np.float32) for name in ("clean_loss", "train_loss")}
        self._record = Record(np.arange(rows) * 20, curves, "emerged")

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def kill(self, number: int) -> None:
        pass

    def interrupt(self, seconds: float) -> Iterator[Event]:
        return iter(())

    def submit(self, number: int, job: Job) -> None:
        answers = [Finished(run.id, self._record, 0.0, "none") for run in job.runs]
        self._events += [Event(number, message) for message in (Started("here"), *answers, Ended())]

    def events(self, timeout: float) -> Sequence[Event]:
        events, self._events = self._events, []
        return events


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def overhead() -> dict:
    """A sweep of runs that cost nothing."""
    memory: dict[int, int] = {}

    def look(state: State) -> None:
        tenth = 10 * state.done // RUNS
        memory.setdefault(tenth, resident())

    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        runs = sweep.runs(NOTHING)
        read = time.perf_counter() - began
        train_missing(runs, Lab(Path(folder) / "lab"), AnswersAtOnce(), command="benchmark", on_change=look)
        seconds = time.perf_counter() - began
        began = time.perf_counter()
        train_missing(runs, Lab(Path(folder) / "lab"), AnswersAtOnce(), command="benchmark")
        again = time.perf_counter() - began
    each = 1000 * seconds / RUNS
    return {
        "runs": RUNS,
        "milliseconds_a_run": round(each, 2),
        "of_which_reading_the_file": round(1000 * read / RUNS, 2),
        "milliseconds_a_run_that_exists": round(1000 * again / RUNS, 2),
        "allowed": ALLOWED,
        "within": each <= ALLOWED,
        "memory_mb": {f"{10 * tenth} %": round(x / 1e6) for tenth, x in sorted(memory.items())},
    }


def workers() -> dict:
    """The same sweep on one worker and on two."""
    runs = sweep.runs(SMALL)
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder) / "programs"
        for label, count in (("warm 1", 1), ("warm 2", 2), ("1", 1), ("2", 2)):  # the first two compile
            began = time.perf_counter()
            executor = LocalExecutor(count, cache=programs)
            train_missing(runs, Lab(Path(folder) / label), executor, command="benchmark")
            seconds[label] = time.perf_counter() - began
    ratio, limit = seconds["1"] / seconds["2"], two_cores()
    return {
        "runs": len(runs),
        "seconds": {count: round(seconds[count], 1) for count in ("1", "2")},
        "faster": round(ratio, 2),
        "wanted": WANTED,
        "within": ratio >= WANTED,
        "two_cores_of_this_machine": round(limit, 2),
        "fraction_of_that": round(ratio / limit, 2),
    }


def two_cores() -> float:
    """How many times more products of matrices two processes compute than one does alone, each on its own core."""
    two = cores()[:2]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the processes below
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(products, two))  # both are up
        alone = [pool.submit(products, core).result() for core in two]
        return sum(pool.map(products, two)) / (sum(alone) / 2)


def products(core: int, seconds: float = 5.0) -> int:
    """Products of two matrices that fit the cache, one thread, in `seconds`."""
    pin([core])
    x, done, began = np.ones((384, 384), np.float32), 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        _ = x @ x
        done += 1
    return done


def main() -> None:
    """Measure and print."""
    document, found = Report("sweep"), {}
    for measure in (overhead, workers):
        if measure.__name__ in (sys.argv[1:] or ["overhead", "workers"]):
            answer = measure()
            found |= answer
            print(json.dumps({measure.__name__: answer}, indent=2))
    if not sys.argv[1:]:
        document.add(f"a run of {RUNS:,} that cost nothing", found["milliseconds_a_run"], "ms", at_most=ALLOWED)
        document.add("a run that the lab has already", found["milliseconds_a_run_that_exists"], "ms")
        document.add("a second worker", found["faster"], "times faster", at_least=WANTED)
        document.add("a second core, for products of matrices", found["two_cores_of_this_machine"], "times faster")
    document.write()


if __name__ == "__main__":
    main()
