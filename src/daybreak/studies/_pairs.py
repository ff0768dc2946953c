"""Two groups of runs compared by pairs of equal seed: what both share, such as the initial weights, cancels."""

from dataclasses import dataclass
from typing import final

import numpy as np

from daybreak._types import Bools
from daybreak.measure import Interval
from daybreak.studies import _verdicts
from daybreak.studies._study import Table


@final
@dataclass(frozen=True)
class Factor:
    """How many times faster runs emerge than others, over pairs of equal seed.

    Args:
        value: ratio of the geometric means.
        interval: 95 %, by Student's t on the logs of the ratios; None for a single pair, and for a bound.
        sign: `<` if a fast run was censored, so that the factor is smaller; `>` if a slow one was; otherwise empty.
    """

    value: float
    interval: Interval | None
    sign: str

    def __str__(self) -> str:
        between = "" if self.interval is None else f" {_verdicts.format_interval(self.interval)}"
        return f"{f'{self.sign} ' if self.sign else ''}{self.value:.2f}{between}"

    @property
    def range(self) -> Interval:
        """Between which values it lies, as far as is known."""
        low = 0.0 if self.interval is None and self.sign != ">" else self.value
        high = np.inf if self.interval is None and self.sign != "<" else self.value
        return self.interval or Interval(low, high)


def paired_factor(table: Table, slow: Bools, fast: Bools) -> Factor:
    """The factor between two groups of runs; only seeds that both have count."""
    seeds = np.intersect1d(table["seed"][slow], table["seed"][fast])
    rows = [np.array([np.flatnonzero(group & (table["seed"] == seed))[0] for seed in seeds]) for group in (slow, fast)]
    logs = np.log(table["plateau"][rows[0]]) - np.log(table["plateau"][rows[1]])
    late, early = (bool(table["censored"][x].any()) for x in rows)
    value = float(np.exp(logs.mean()))
    if late or early or logs.size < 2:
        return Factor(value, None, "<" if early else ">" if late else "")
    return Factor(value, Interval(*(float(np.exp(x)) for x in _verdicts.interval_of_mean(logs))), "")


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
    return Difference(float(pairs.mean()), _verdicts.interval_of_mean(pairs))
