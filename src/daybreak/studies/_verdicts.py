"""Verdicts from intervals, and intervals of what follows from laws."""

from collections.abc import Iterable, Mapping

import numpy as np
from scipy import stats

from daybreak._types import ArrayLike
from daybreak.measure import Interval, Law
from daybreak.studies._study import Verdict


def interval_of_mean(values: ArrayLike) -> Interval:
    """The 95 % interval of the mean of a few values, by Student's t; a point if there is only one.

    Example:
        >>> low, high = interval_of_mean([1.0, 2.0, 3.0])
        >>> f"{low:.2f} to {high:.2f}"
        '-0.48 to 4.48'
    """
    x = np.asarray(values, np.float64)
    mean = float(x.mean())
    margin = float(stats.t.ppf(0.975, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else 0.0
    return Interval(mean - margin, mean + margin)


def interval_of_sum(law: Law, parts: Mapping[str, float]) -> Interval:
    """The 95 % interval of a weighted sum of exponents of a law."""
    weights = np.array([parts.get(name, 0.0) for name in law.coefficients])
    half_width = stats.t.ppf(0.975, law.freedom) * np.sqrt(weights @ law.covariance @ weights)
    centre = sum(weight * law.coefficients[name] for name, weight in parts.items())
    return Interval(float(centre - half_width), float(centre + half_width))


def interval_of_difference(first: Law, second: Law, name: str) -> Interval:
    """The 95 % interval of the difference of an exponent between two laws of different runs."""
    centre = first.coefficients[name] - second.coefficients[name]
    widths = [x.intervals[name].high - x.intervals[name].low for x in (first, second)]
    half_width = float(np.linalg.norm(widths)) / 2
    return Interval(centre - half_width, centre + half_width)


def verdict_within(interval: Interval, value: float, tolerance: float) -> Verdict:
    """`holds` if an interval lies within a tolerance of a value, `fails` if it lies entirely outside, otherwise `undecided`.

    Example:
        >>> [verdict_within(Interval(*x), 1.0, 0.2) for x in ((0.9, 1.1), (1.3, 1.5), (1.1, 1.3))]
        ['holds', 'fails', 'undecided']
    """
    low, high = value - tolerance, value + tolerance
    if low <= interval.low and interval.high <= high:
        return "holds"
    return "fails" if interval.high < low or interval.low > high else "undecided"


def verdict_above(interval: Interval, bound: float = 0.0) -> Verdict:
    """`holds` if an interval lies above a bound, `fails` if below, otherwise `undecided`."""
    if interval.low > bound:
        return "holds"
    return "fails" if interval.high < bound else "undecided"


def verdict_below(interval: Interval, bound: float = 0.0) -> Verdict:
    """`holds` if an interval lies below a bound, `fails` if above, otherwise `undecided`.

    Example:
        >>> [verdict_below(Interval(*x), 0.5) for x in ((0.1, 0.4), (0.6, 0.7), (0.4, 0.6))]
        ['holds', 'fails', 'undecided']
    """
    return verdict_above(Interval(-interval.high, -interval.low), -bound)


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim of several parts: the first of fails, outside, undecided that a part has, otherwise holds."""
    order: tuple[Verdict, ...] = ("fails", "outside", "undecided", "holds")
    parts: list[Verdict] = [*verdicts, "holds"]
    return min(parts, key=order.index)


def format_interval(interval: Interval) -> str:
    """An interval as claims state it."""
    return f"[{interval.low:.2f}, {interval.high:.2f}]"
