"""Which runs are trained together, and in which order: cohorts that fit a worker's memory, long ones first.

A cohort shares one compiled program. Splitting one costs another compilation, not splitting leaves workers idle at the
end: a cohort is at most a quarter of what a worker has to do in all, but never less than is worth compiling for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    """Runs of one shape, and the operations that all of them cost if they spend their budgets."""

    runs: tuple[Run, ...]
    operations: float


def pack(runs: Sequence[Run], workers: int, memory: float) -> list[Cohort]:
    """Cohorts for so many workers with so many bytes each; every run is in exactly one of them."""
    groups: dict[object, list[Run]] = {}
    for run in runs:
        groups.setdefault(shape(run), []).append(run)
    priced = [(group, cost(group[0])) for group in groups.values()]
    everything = sum(len(group) * each.operations for group, each in priced)
    share = max(everything / (_ROUNDS * workers), _WORTH_COMPILING) if workers > 1 else math.inf
    cohorts = [
        Cohort(tuple(part), len(part) * each.operations)
        for group, each in priced
        for part in _parts(group, _most(each, share, memory))
    ]
    return sorted(cohorts, key=lambda cohort: -cohort.operations)


def _most(each: Cost, share: float, memory: float) -> int:
    """Members of a cohort, by its share of the work and by memory; one at least."""
    fit = (memory - each.workspace) / max(each.state, 1)
    return max(1, int(min(LARGEST, share / each.operations, fit)))


def _parts(group: list[Run], most: int) -> list[list[Run]]:
    """Parts of nearly equal size: equal sizes share a compiled program."""
    count = math.ceil(len(group) / most)
    bounds = [len(group) * i // count for i in range(count + 1)]
    return [group[a:b] for a, b in pairwise(bounds)]
