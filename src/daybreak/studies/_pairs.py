"""Two groups of runs compared by pairs of equal seed: what both share, such as the initial weights, cancels."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import stats

from daybreak._types import Bools
from daybreak.measure import Interval
from daybreak.studies._study import Table


@final
@dataclass(frozen=True)
class Difference:
    """The mean difference over pairs, and its 95 % interval by Student's t; a single pair has none, so its interval is a point."""

    mean: float
    interval: Interval

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.interval.low:+.3f}, {self.interval.high:+.3f}]"


def difference(table: Table, one: Bools, other: Bools, column: str) -> Difference:
    """By how much one group of runs exceeds another; only seeds that both have count.

    Example:
        >>> table = {"seed": np.array([1, 2, 1, 2]), "loss": np.array([3.0, 5.0, 2.0, 4.0])}
        >>> str(difference(table, np.array([1, 1, 0, 0], bool), np.array([0, 0, 1, 1], bool), "loss"))
        '+1.000 [+1.000, +1.000]'
    """
    first, second = (
        dict(zip(table["seed"][rows].tolist(), table[column][rows].tolist(), strict=True)) for rows in (one, other)
    )
    pairs = np.array([first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())])
    mean = float(pairs.mean())
    spread = float(pairs.std(ddof=1)) if pairs.size > 1 else 0.0
    margin = float(stats.t.ppf(0.975, pairs.size - 1) / np.sqrt(pairs.size)) * spread if spread else 0.0
    return Difference(mean, Interval(mean - margin, mean + margin))
