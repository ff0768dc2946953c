"""What a lab costs: milliseconds to save a run, seconds to list 10 000 and fit a law over them, memory.

    python benchmarks/lab.py [--runs 20000]

Allowed: 5 ms to save a run (the limit of a sweep's whole overhead), 2 s to list 10 000 runs and fit a law with a warm
index. Readers never write the index: `list_without_index_s` is what each pays where no writer has. A no-op `fsync` loop on
the same disk, measured in between, says how much of the saving is the disk. Writes to a temporary folder below the current
one, and removes it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from daybreak import measure
from daybreak.lab import Lab
from daybreak.models import Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Record, Run, Stop

LISTED, REPEATS = 10_000, 5
ALLOWED = {"save_ms": 5.0, "list_and_fit_warm_s": 2.0}
REPORTED = {
    "save_ms": ("save a run, mean", "ms"),
    "save_ms_p99": ("save a run, 99th percentile", "ms"),
    "one_sync_ms": ("one sync of this disk", "ms"),
    "list_and_fit_warm_s": (f"list {LISTED:,} runs and fit a law", "s"),
    "list_without_index_s": (f"list {LISTED:,} runs without an index", "s"),
    "command_list_warm_s": (f"`daybreak runs list` with {LISTED:,} runs", "s"),
    "lab_mb": (f"{LISTED:,} runs on the disk", "MB"),
    "peak_memory_mb_after_all": ("memory at most", "MB"),
}


def run(number: int) -> tuple[Run, Record]:
    """One of a grid of 5 seeds, 20 lengths and as many dimensions as it takes, with what it measured.

    Forty evaluations of a Transformer with two layers of four heads; it emerges after a law in d and T.
    """
    T, d, seed = 64 + 8 * (number // 5 % 20), 16 + number // 100, number % 5
    steps = np.arange(40) * 5
    left = (1 / (1 + np.exp((steps - 0.03 * d**0.5 * T * (1 + 0.02 * seed)) / 2))).astype(np.float32)
    heads = np.random.default_rng(seed).random((40, 2, 4), dtype=np.float32)
    curves = {"clean_loss": left, "train_loss": left, "attention": heads, "entropy": heads}
    outcome = "emerged" if left[-1] <= 0.5 else "censored"
    made = Run(SingleLocation(T=T, d=d), Transformer(), stop=Stop(level=0.5), seed=seed)
    return made, Record(steps, curves, outcome)


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sync_ms(folder: Path) -> float:
    """Median milliseconds of writing 4 kB to a new file and syncing it."""

    def once(number: int) -> None:
        with (folder / f"sync{number}").open("wb") as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())

    return 1e3 * statistics.median(seconds(lambda i=i: once(i)) for i in range(200))


def list_and_fit(path: Path) -> None:
    """List all runs and fit the law that was planted."""
    law = measure.fit_law("C * d**a * T**b", Lab(path).columns(f"d < {16 + LISTED // 100}"), censored="censored")
    if law.rows != LISTED or abs(law.coefficients["b"] - 1) > 0.05:
        raise ArithmeticError(f"the planted law did not come back: {law}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    runs = max(parser.parse_args().runs, LISTED)
    from report import Report  # not above: `benchmarks.explorer` imports this file as a module of a package

    document = Report("lab")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        report = measure_lab(Path(folder), runs)
    for name, (sentence, unit) in REPORTED.items():
        document.add(sentence, report[name], unit, at_most=ALLOWED.get(name))
    document.write()
    table = Table("", "measured", "allowed", box=None)
    for name, value in report.items():
        table.add_row(name, f"{value:g}", f"{ALLOWED[name]:g}" if name in ALLOWED else "")
    Console(stderr=True).print(table)
    print(json.dumps(report | {"allowed": ALLOWED, "within": all(report[x] <= ALLOWED[x] for x in ALLOWED)}))


def measure_lab(folder: Path, runs: int) -> dict[str, float]:
    lab = Lab(folder / "lab").open()
    times, disk, memory, busy = [], [], [], 0.0
    for start in range(0, runs, 1000):
        made = [run(number) for number in range(start, min(start + 1000, runs))]
        before = time.process_time()
        for one, curves in made:
            times.append(seconds(lambda a=one, b=curves: lab.save(a, b, seconds=1.0, command="bench", device="none")))
        busy += time.process_time() - before
        disk.append(sync_ms(folder))
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    # A lab of 10 000 by moving the others out of the way; they count for memory and saving only.
    for one, _ in map(run, range(LISTED, runs)):
        (lab.path / "runs" / one.id).rename(folder / one.id)
    cold = seconds(Lab(lab.path).query)  # a reader, without an index: everything is read and checked, nothing written
    update = seconds(lab.close)
    warm = [seconds(Lab(lab.path).query) for _ in range(REPEATS)]
    both = [seconds(lambda: list_and_fit(lab.path)) for _ in range(REPEATS)]
    command = [sys.executable, "-m", "daybreak", "runs", "list", "--lab", str(lab.path)]
    whole = [seconds(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)) for _ in range(3)]  # noqa: S603
    return {
        "runs_saved": runs,
        "save_ms": round(1e3 * statistics.mean(times), 3),
        "save_ms_p99": round(1e3 * float(np.quantile(times, 0.99)), 3),
        "save_processor_ms": round(1e3 * busy / runs, 3),
        "one_sync_ms": round(statistics.median(disk), 3),
        "runs_listed": LISTED,
        "list_without_index_s": round(cold, 3),
        "write_index_s": round(update, 3),
        "list_warm_s": round(statistics.median(warm), 3),
        "list_and_fit_warm_s": round(statistics.median(both), 3),
        "command_list_warm_s": round(statistics.median(whole), 3),
        "index_mb": round((lab.path / "index.parquet").stat().st_size / 1e6, 2),
        "lab_mb": round(sum(x.stat().st_size for x in (lab.path / "runs").rglob("*")) / 1e6, 1),
        "peak_memory_mb_after_1000": round(memory[0]),
        "peak_memory_mb_after_all": round(memory[-1]),
    }


if __name__ == "__main__":
    main()
