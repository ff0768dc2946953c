"""A thousand workers, simulated: the real driver and the real lab, against an executor on a virtual clock.

    python -m benchmarks.thousand_workers [RUNS] [WORKERS]

Workers answer, raise, die, and hang; hanging ones are killed by the driver, and dead ones come back. Every run must be measured
once, no worker may be idle while work waits, the driver may take 5 ms of processor time a run, and its memory must not grow with the
runs that are done. Training itself costs nothing here. Prints one JSON document.
"""

import heapq
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, final
from unittest import mock

import numpy as np
from benchmarks.report import Report

from daybreak.lab import Lab
from daybreak.lab.compute import driver, state
from daybreak.lab.compute.driver import Rules, train_missing
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.messages import Advanced, Checkpoint, Died, Ended, Finished, Job, Message, RunStatus, Started
from daybreak.lab.sweeps import sweep
from daybreak.training import Record

RUNS, WORKERS, ALLOWED = 100_000, 1_000, 5.0
LOST = {"die": 0.05, "hang": 0.01, "raise": 0.02}  # fractions of the jobs
_POISON = 997  # seeds that are multiples of it fail whenever they are tried
_SHAPES = 8  # different programs, so that cohorts differ


@final
class SimulatedCluster:
    """An executor whose workers are entries in a queue of future events."""

    memory, at_once = 1e9, 1.0

    def __init__(self, workers: int, seed: int = 0):
        self.workers, self.now, self.idle = workers, 0.0, 0.0
        self.fates: Counter[str] = Counter()
        self.measured: Counter[str] = Counter()  # by the id of a run
        self._random, self._events, self._order = random.Random(seed), [], 0  # noqa: S311  (a simulation)
        self._under_way: set[int] = set()
        rows = 20
        curves = {name: np.linspace(0.5, 0.0, rows, dtype=np.float32) for name in ("clean_loss", "train_loss")}
        self._record = Record(np.arange(rows) * 20, curves, "emerged")

    def open(self) -> None:
        """There is nothing to prepare."""

    def close(self) -> None:
        """There is nothing to stop."""

    def submit(self, number: int, job: Job) -> None:
        """Decide what will happen, and when."""
        if len(self._under_way) >= self.workers:
            raise RuntimeError("more jobs than workers")
        self._under_way.add(number)
        draw = self._random.random
        fate, at = self._fate(job), self.now + draw()
        self.fates[fate] += 1
        self._plan(at, number, Started(f"worker {number}"))
        for run in job.runs[: None if fate == "end" else self._random.randrange(len(job.runs))]:
            at += 20 + 40 * draw()
            if draw() < 0.1:
                status = RunStatus(100, 0.5, None, 0.1, None)
                self._plan(at - 10, number, Advanced({run.id: status}))
                self._plan(at - 5, number, Checkpoint(run.id, 100, b"state"))
            if run.seed % _POISON:
                self._plan(at, number, Finished(run.id, self._record, 1.0, "simulated"))
        if fate == "die":
            self._plan(at + draw(), number, Died("its node was lost"))
        elif fate != "hang":
            self._plan(at + draw(), number, Ended("it raised" if fate == "raise" else None))

    def events(self, timeout: float) -> Sequence[Event]:
        """Move the clock to the next event, or by the whole time-out; all events until a tenth of a second later."""
        until = self.now + timeout
        if self._events and self._events[0][0] <= until:
            self.now = max(self.now, self._events[0][0])
            return list(self._until(self.now + 0.1))
        self.idle += timeout * (self.workers - len(self._under_way))
        self.now = until
        return []

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Nobody interrupts."""
        return iter(())

    def kill(self, number: int) -> None:
        """A worker that hangs is stopped."""
        self._under_way.discard(number)

    def _fate(self, job: Job) -> str:
        if any(run.seed % _POISON == 0 for run in job.runs):
            return "raise"
        return self._random.choices([*LOST, "end"], [*LOST.values(), 1 - sum(LOST.values())])[0]

    def _plan(self, at: float, number: int, message: Message) -> None:
        self._order += 1
        heapq.heappush(self._events, (at, self._order, number, message))

    def _until(self, end: float) -> Iterator[Event]:
        while self._events and self._events[0][0] <= end:
            _, _, number, message = heapq.heappop(self._events)
            if number in self._under_way:
                if isinstance(message, Finished):
                    self.measured[message.run] += 1
                elif isinstance(message, Ended | Died):
                    self._under_way.discard(number)
                yield Event(number, message)


def simulate(folder: Path, runs: int = RUNS, workers: int = WORKERS) -> dict[str, Any]:
    """A sweep on a simulated cluster; seconds are those of the driver."""
    cluster, memory, busy = SimulatedCluster(workers), {}, []
    lengths = [4 + i for i in range(_SHAPES)]
    text = f"seeds = {runs // _SHAPES}\n[task]\nname = 'single-location'\nT = {lengths}\nd = 2\n[model]\nname = 'toy'\n"
    clock = SimpleNamespace(monotonic=lambda: cluster.now)

    def look(progress: state.State) -> None:
        memory.setdefault(10 * progress.done // progress.total, resident())
        if progress.done < 0.9 * progress.total:  # at the end there is less work than workers
            busy[:] = [1 - cluster.idle / (max(cluster.now, 1.0) * workers)]

    todo = sweep.runs(text)
    began, own = time.perf_counter(), time.process_time()
    with mock.patch.object(driver, "time", clock), mock.patch.object(state, "time", clock):
        final = train_missing(
            todo, Lab(folder), cluster, command="simulation", memory=2e5, rules=Rules(patience=600.0), on_change=look
        )
    each, clock_each = (1000 * x / len(todo) for x in (time.process_time() - own, time.perf_counter() - began))
    poisoned = {run.id for run in todo if run.seed % _POISON == 0}
    return {
        "runs": len(todo),
        "workers": workers,
        "jobs": cluster.fates.total(),
        "of which": dict(cluster.fates),
        "outcomes": dict(final.outcomes),
        "measured once": sum(count == 1 for count in cluster.measured.values()),
        "expected": len(todo) - len(poisoned),
        "hours of the clock": round(cluster.now / 3600, 2),
        "workers busy until 90 % are done": round(busy[0], 3),
        "milliseconds_a_run": round(each, 2),
        "by the clock": round(clock_each, 2),
        "allowed": ALLOWED,
        "within": each <= ALLOWED,
        "memory_mb": {f"{10 * tenth} %": round(x / 1e6) for tenth, x in sorted(memory.items())},
    }


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    """Simulate and print."""
    numbers = [int(x) for x in sys.argv[1:]]
    document = Report("thousand_workers")
    with tempfile.TemporaryDirectory() as folder:
        seen = simulate(Path(folder) / "lab", *numbers)
    once = 100 * seen["measured once"] / seen["expected"]
    document.add(f"runs that are measured once, of {seen['expected']:,} that can be", once, "%", at_least=100)
    document.add("processor time of the driver", seen["milliseconds_a_run"], "ms a run", at_most=ALLOWED)
    busy = 100 * seen["workers busy until 90 % are done"]
    document.add(f"{seen['workers']:,} workers are busy until 90 % are done", busy, "% of the time", at_least=99)
    memory = list(seen["memory_mb"].values())
    document.add("growth of memory from 10 % of the runs to the end", memory[-1] - memory[1], "MB")
    document.write()
    print(json.dumps(seen, indent=2))


if __name__ == "__main__":
    main()
