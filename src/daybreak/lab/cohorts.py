"""Which runs are trained together, and in which order: cohorts that fit a worker's memory, long ones first.

A cohort shares one compiled program. Splitting one costs another compilation, not splitting leaves workers idle at the
end: a cohort is at most a quarter of what a worker has to do in all, but never less than is worth compiling for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from daybreak.lab.cost import Cost, cost
from daybreak.training import Run, shape

LARGEST = 64
"""Members of a cohort at most: they are evaluated together, and a sign of life should come now and then."""
_ROUNDS = 4
_WORTH_COMPILING = 1e11  # operations: some ten seconds of one core, about what a compilation takes


@final
@dataclass(frozen=True)
class Cohort:
    """Runs of one shape, and what each costs in operations if it spends its budget."""

    runs: tuple[Run, ...]
    each: tuple[float, ...]

    @property
    def operations(self) -> float:
        """Of all of them."""
        return sum(self.each)


def pack(runs: Sequence[Run], workers: int, memory: float) -> list[Cohort]:
    """Cohorts for so many workers with so many bytes each; every run is in exactly one of them."""
    groups: dict[object, list[tuple[Run, Cost]]] = {}
    for run in runs:
        groups.setdefault(shape(run), []).append((run, cost(run)))
    everything = sum(each.operations for group in groups.values() for _, each in group)
    share = max(everything / (_ROUNDS * workers), _WORTH_COMPILING) if workers > 1 else math.inf
    cohorts = [
        Cohort(tuple(run for run, _ in part), tuple(each.operations for _, each in part))
        for group in groups.values()
        for part in _parts(group, share, memory)
    ]
    return sorted(cohorts, key=lambda cohort: -cohort.operations)


def _parts(group: list[tuple[Run, Cost]], share: float, memory: float) -> list[list[tuple[Run, Cost]]]:
    """Parts of equal size, the last perhaps smaller, for equal sizes share a compiled program; members about equally long."""
    group = sorted(group, key=lambda member: -member[1].operations)
    _, largest = group[0]
    fit = max(1, int(min(LARGEST, (memory - largest.workspace) / max(largest.state, 1))))
    by_share = math.ceil(sum(each.operations for _, each in group) / share)
    count = min(len(group), max(by_share, math.ceil(len(group) / fit)))
    size = math.ceil(len(group) / count)
    return [group[i : i + size] for i in range(0, len(group), size)]
