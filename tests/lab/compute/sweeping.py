"""A small sweep for the tests of executors and driver, and what a lab holds in the end.

As a program it is a driver to be killed: `python -m tests.lab.compute.sweeping LAB PROGRAMS WORKERS [ADDRESS]`, on Ray with an
address, on Slurm with the address `slurm`.
"""

import json
import sys
from pathlib import Path

from daybreak.lab import Lab
from daybreak.lab.compute.cost import cost
from daybreak.lab.compute.driver import Rules, train_missing
from daybreak.lab.compute.local import LocalExecutor
from daybreak.lab.compute.ray import RayExecutor
from daybreak.lab.compute.slurm import SlurmExecutor
from daybreak.lab.compute.state import State
from daybreak.lab.sweeps import sweep

TOY = """
seeds = 12
batch = 8
evaluation = 32
[task]
name = "single-location"
T = 4
d = 2
position = "fixed"
feature = false
p = [0.0, 0.2]
[model]
name = "toy"
scale = 1.0
[optimizer]
name = "sgd"
learning_rate = 0.3
[stop]
budget = 120
every = 10
level = 0.02
"""
RUNS = sweep.runs(TOY)
OFTEN = Rules(checkpoint=0.0)
PAIRS = cost(RUNS[0]).workspace + 2.5 * cost(RUNS[0]).state  # bytes: cohorts of two, so that few programs are compiled
SIXES = PAIRS + 4 * cost(RUNS[0]).state


def carry_out(
    lab: Path, programs: Path, workers: int = 1, address: str | None = None, runs=RUNS, rules=OFTEN, **options
) -> State:
    match address:
        case None:
            executor = LocalExecutor(workers, cache=programs)
        case "slurm":
            executor = SlurmExecutor(lab, workers)
        case _:
            executor = RayExecutor(address, workers)
    memory = SIXES if address == "slurm" else PAIRS  # a job of Slurm starts a new process
    return train_missing(runs, Lab(lab), executor, command="a test", memory=memory, rules=rules, **options)


def measurements(lab: Path) -> dict[str, tuple[bytes, str]]:
    """By run: the curves, byte for byte, and the result but for when, where and how long."""
    by_run = {}
    for folder in sorted((lab / "runs").iterdir()):
        result = json.loads((folder / "result.json").read_text())
        del result["provenance"], result["sha256"]
        by_run[folder.name] = ((folder / "curves.parquet").read_bytes(), json.dumps(result))
    return by_run


if __name__ == "__main__":
    lab, programs, workers, *address = sys.argv[1:]
    carry_out(Path(lab), Path(programs), int(workers), *address, rules=Rules(retries=50, checkpoint=0.0))
