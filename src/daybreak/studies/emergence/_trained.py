"""What studies of trained networks share: runs from sweep texts, tables of plateaus and curves, verdicts on exponents."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy import stats

from daybreak import measure
from daybreak._types import Bools
from daybreak.lab import Saved, curves, index
from daybreak.lab.reading import laws
from daybreak.lab.reading.published import PUBLISHED, Published
from daybreak.lab.sweeps import sweep
from daybreak.measure import Interval, Law, Plateau
from daybreak.studies._study import Claim, Scale, Table, Tables, TrainedData, Verdict, select
from daybreak.training import Run, to_json

Sweeps = Mapping[Scale, str]
"""What to train at each scale, as the text of a sweep file."""

TINY = """
evaluation = 64
seeds = 2
model.layers = 1
model.heads = 1
model.width = 16
model.head_width = 8
model.mlp = 32
optimizer.learning_rate = 0.01
stop.every = 10
stop.budget = 400
"""
"""Start of every sweep at smoke scale: the smallest networks that still learn."""

CORNER = """
[[grid]]
preset = "paper-a-regression"
where = "T == 4 or d == 2"
task.T = [4, 8]
task.d = [2, 4]
"""
"""The fewest shapes that separate the effects of d and T, for smoke scale."""

TINY_RECALL = """
[[grid]]
preset = "paper-a-recall"
model.layers = 2
stop.level = 0.9
"""
"""A recall that tiny networks learn, for smoke scale; N and V are to follow."""

PAPER_LAW = "2 * 0.76 * d**1.29 * (T / B)**0.8 + 500"
"""Budget of regressions at laptop scale: twice what the paper's law of figure 3 predicts, and 500 steps."""

LENGTHS = f"""
[[grid]]
preset = "paper-a-regression"
seeds = 3
where = "T <= 128 or d <= 32"
task.T = [32, 64, 128, 256]
task.d = [16, 32, 64]
stop.budget = "{PAPER_LAW}"
"""
"""The regressions without repetition of figures 3, 11, 13 and 14 at laptop scale."""

_ROWS = 100  # evaluations that are kept of a run's curves


def training(sweeps: Sweeps, tables: Callable[[list[Saved]], Tables]) -> TrainedData:
    """Measurements by the runs of a sweep text for each scale."""
    return TrainedData(lambda scale: sweep.runs(sweeps[scale], f"{scale} scale"), tables)


def plateaus(saved: Sequence[Saved], settings: Sequence[str]) -> Table:
    """One row for each run: its settings, and the plateau at the level of its own stop rule.

    Runs that differ in nothing but the seed have the same number in `configuration`. Runs that diverged are left out.
    """
    kept = [x for x in saved if x.result.outcome != "diverged"]
    lengths = [x.result.plateau for x in kept if x.result.plateau is not None]
    columns = _settings(kept, settings)
    rows = np.array([repr(row) for row in zip(*(x.tolist() for x in columns.values()), strict=True)])
    return {
        "id": np.array([x.result.id for x in kept]),
        **columns,
        "seed": np.array([x.run.seed for x in kept]),
        "plateau": np.array([x.length for x in lengths]),
        "censored": np.array([x.censored for x in lengths]),
        "configuration": np.unique(rows, return_inverse=True)[1],
    }


def plateau_columns_at(saved: Sequence[Saved], curve: str, level: Callable[[Saved], float], suffix: str) -> Table:
    """Columns with the plateaus of a curve at another level, for the rows of `plateaus`."""
    lengths = [_plateau_at(x, curve, level(x)) for x in saved if x.result.outcome != "diverged"]
    return {
        f"plateau_{suffix}": np.array([x.length for x in lengths]),
        f"censored_{suffix}": np.array([x.censored for x in lengths]),
    }


def own_level(fraction: float) -> Callable[[Saved], float]:
    """The level at a fraction of the height of a run's own plateau, which depends on W* and so on the seed."""
    return lambda x: fraction * plateau_height(x)


def plateau_height(saved: Saved) -> float:
    """Median of the clean loss from a tenth to half of the steps that it takes to the level of the stop rule."""
    record, end = saved.record, saved.result.plateau
    assert record is not None  # noqa: S101
    assert end is not None  # noqa: S101
    middle = (record.steps >= end.length / 10) & (record.steps <= end.length / 2)
    return float(np.median(record.curves["clean_loss"][middle]))


def with_plateaus_at(table: Table, suffix: str) -> Table:
    """The table with the plateaus of a suffix in place of those at the level of the stop rule."""
    return table | {name: table[f"{name}_{suffix}"] for name in ("plateau", "censored")}


def at_best_learning_rate(table: Table, settings: Sequence[str]) -> Table:
    """For each combination of settings, the runs at the learning rate with the shortest plateaus on average."""
    groups = np.unique(np.column_stack([table[name] for name in settings]), axis=0, return_inverse=True)[1].reshape(-1)
    kept = np.zeros(groups.size, np.bool_)
    for group in np.unique(groups):
        rates = np.unique(table["learning_rate"][groups == group])
        rows = [(groups == group) & (table["learning_rate"] == rate) for rate in rates]
        kept |= min(rows, key=lambda x: table["plateau"][x].mean())
    return select(table, kept)


def geometric_mean(table: Table, rows: Bools) -> float:
    """Geometric mean of the plateaus in some rows; a censored one counts as if it ended where it was cut."""
    return float(np.exp(np.log(table["plateau"][rows]).mean()))


def curve_table(saved: Sequence[Saved], settings: Sequence[str], names: Sequence[str]) -> Table:
    """Curves of all runs below each other, about a hundred evaluations of each; one column for each entry of an array."""
    parts = []
    for x in saved:
        assert x.record is not None  # noqa: S101
        rows = np.unique(np.linspace(0, x.record.steps.size - 1, _ROWS).round().astype(int))
        chosen = {name: x.record.curves[name][rows] for name in names}
        fixed = _settings([x], settings) | {"seed": np.array([x.run.seed])}
        parts.append(
            {k: np.repeat(v, rows.size) for k, v in fixed.items()} | curves.columns(x.record.steps[rows], chosen)
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def law(form: str, table: Table) -> Law:
    """A law by censored maximum likelihood; intervals by cluster bootstrap over configurations where there are enough."""
    return laws.fit(form, table, "tobit").law


def published(figure: int) -> list[Published]:
    """The laws that paper A gives in a figure."""
    return [x for x in PUBLISHED if x.source == f"paper A, figure {figure}"]


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
        between = "" if self.interval is None else f" {format_interval(self.interval)}"
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
    margin = stats.t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / np.sqrt(logs.size)
    return Factor(value, Interval(*(float(np.exp(logs.mean() + x)) for x in (-margin, margin))), "")


def unless_outside(claims: Sequence[Claim], runs: Table, hours: float) -> tuple[Claim, ...]:
    """Claims about recall, `outside` if their runs are not in the regime that the paper's sentences are about.

    That is from eight pairs on: with fewer, nothing is sharp. And the answer has exactly one copy without repetition: the
    placement at-least-one, the only one of tables without that column, repeats it in 40 % of the sequences.
    """
    repeats = "placement" not in runs or bool(np.any(runs["placement"] != "one-plus"))
    if runs["N"].min() >= 8 and not repeats:
        return tuple(claims)
    about = (
        f"The sentence is about recall of 8 pairs or more, with one copy of the answer if there is no repetition; these runs have N from "
        f"{runs['N'].min():g} to {runs['N'].max():g}{', and about 1.5 copies without repetition' if repeats else ''}. "
        f"To reach it costs about {hours:g} hours of two cores."
    )
    return tuple(replace(x, verdict="outside", note=f"{about} {x.note}") for x in claims)


def unless_small(
    claims: Sequence[Claim], runs: Table, ranges: Mapping[str, tuple[float, float]], hours: float
) -> tuple[Claim, ...]:
    """Claims about regressions, `outside` if their runs are only a small corner of the paper's grid.

    At T below 32 and d below 16 exponents are smaller and grow with the size: such runs say nothing about the paper's laws.

    Args:
        claims: as judged.
        runs: that they were judged on.
        ranges: for each setting a value that no run may be below, and one that some run must reach.
        hours: of two cores for runs that do.
    """
    if all(low <= runs[name].min() and high <= runs[name].max() for name, (low, high) in ranges.items()):
        return tuple(claims)
    asked = " and ".join(f"{name} {_from_to(x)} or more" for name, x in ranges.items())
    given = " and ".join(f"{name} {_from_to((float(runs[name].min()), float(runs[name].max())))}" for name in ranges)
    about = (
        f"The sentence is about {asked}; these runs have {given}. To reach it costs about {hours:g} hours of two cores."
    )
    return tuple(replace(x, verdict="outside", note=f"{about} {x.note}") for x in claims)


def _from_to(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"of {low:g}" if low == high else f"from {low:g} to {high:g}"


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


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim of several parts: the first of fails, outside, undecided that a part has, otherwise holds."""
    order: tuple[Verdict, ...] = ("fails", "outside", "undecided", "holds")
    parts: list[Verdict] = [*verdicts, "holds"]
    return min(parts, key=order.index)


def agrees(law: Law, paper: Published, columns: Mapping[str, str], tolerance: float = 0.2) -> Verdict:
    """Whether exponents of a law, each the power of a column, are those of a published law within a tolerance."""
    return all_of(verdict_within(law.intervals[x], paper.exponents[column], tolerance) for x, column in columns.items())


def format_interval(interval: Interval) -> str:
    """An interval as claims state it."""
    return f"[{interval.low:.2f}, {interval.high:.2f}]"


def grid_of(table: Table, *names: str) -> str:
    """Which values were measured, with how many seeds and runs, and how many of them are censored."""
    axes = ", ".join(f"{name} in {{{', '.join(f'{x:g}' for x in np.unique(table[name]))}}}" for name in names)
    count = np.unique(table["configuration"], return_counts=True)[1]
    seeds = f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
    return f"{axes}; {seeds} seeds, {table['plateau'].size} runs, {int(table['censored'].sum())} censored"


NETWORK = ("layers", "width", "mlp", "learning_rate")
"""Settings that `network_of` reads."""


def network_of(table: Table) -> str:
    """The network of studies that do not have the paper's."""
    layers, width, mlp, rate = (table[name][0] for name in NETWORK)
    return f"{layers} layers of width {width}{'' if mlp else ' without MLP'}, learning rate {rate:g}"


def _settings(saved: Sequence[Saved], names: Sequence[str]) -> Table:
    rows = [_later(x.run, names) | index.settings(to_json(x.run)) for x in saved]
    return {name: np.array([row[name] for row in rows]) for name in names}


def _later(run: Run, names: Sequence[str]) -> dict[str, object]:
    """Settings of task and model by name: those that were added later are not in the JSON of a run at their default."""
    return {name: getattr(part, name) for part in (run.task, run.model) for name in names if hasattr(part, name)}


def _plateau_at(saved: Saved, curve: str, level: float) -> Plateau:
    record = saved.record
    assert record is not None  # noqa: S101
    direction = "up" if curve.endswith("accuracy") else "down"
    return measure.plateau(record.steps, record.curves[curve], level, direction=direction)
