"""Which runs are trained together, and in which order: cohorts that fit a worker's memory, long ones first.

A worker compiles one program for a cohort. If a cohort is split, a second worker compiles the same program; if it is not,
workers are idle at the end. So a cohort is at most a quarter of a worker's operations, but not so small that compiling
takes longer than training.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from daybreak.lab.compute.cost import Cost, cost
from daybreak.training import Run, shape

LARGEST = 64
"""Members of a cohort at most: they are evaluated together, and the driver must get messages often."""
_ROUNDS = 4
_WORTH_COMPILING = 1e11  # operations: about ten seconds of one core, as long as a compilation


@final
@dataclass(frozen=True)
class Cohort:
    """Runs of one shape, and the operations of each if it uses its whole budget; for the driver seconds, where they are known."""

    runs: tuple[Run, ...]
    each: tuple[float, ...]

    @property
    def operations(self) -> float:
        """Of all of them."""
        return sum(self.each)


def pack(runs: Sequence[Run], workers: int, memory: float, at_once: float) -> list[Cohort]:
    """Cohorts, with every run in exactly one of them.

    Args:
        runs: of any shapes.
        workers: number of workers that train them.
        memory: bytes of each worker.
        at_once: members that a worker trains at the same time; infinite if all.
    """
    groups: dict[object, list[tuple[Run, Cost]]] = {}
    for run in runs:
        groups.setdefault(shape(run), []).append((run, cost(run)))
    everything = sum(each.operations for group in groups.values() for _, each in group)
    limit = max(everything / (_ROUNDS * workers), _WORTH_COMPILING) if workers > 1 else math.inf
    cohorts = [
        Cohort(tuple(run for run, _ in part), tuple(each.operations for _, each in part))
        for group in groups.values()
        for part in _parts(group, limit, memory, at_once)
    ]
    return sorted(cohorts, key=lambda cohort: -cohort.operations)


def _parts(group: list[tuple[Run, Cost]], limit: float, memory: float, at_once: float) -> list[list[tuple[Run, Cost]]]:
    """Parts of equal size, the last perhaps smaller, whose members are about equally long."""
    group = sorted(group, key=lambda member: -member[1].operations)
    _, largest = group[0]
    fit = max(1, int(min(LARGEST, _fit(largest, memory, at_once))))
    by_operations = math.ceil(sum(each.operations for _, each in group) / limit)
    count = min(len(group), max(by_operations, math.ceil(len(group) / fit)))
    size = math.ceil(len(group) / count)
    return [group[i : i + size] for i in range(0, len(group), size)]


def _fit(each: Cost, memory: float, at_once: float) -> float:
    """Members for which there is memory: all have a state, those in training a workspace too."""
    in_training = memory / (each.state + each.workspace)
    return in_training if in_training <= at_once else (memory - at_once * each.workspace) / each.state
