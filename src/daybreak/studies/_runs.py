"""What studies of trained networks share: runs from sweep texts, and tables of plateaus and curves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from daybreak import measure
from daybreak._types import Bools
from daybreak.lab import Saved, curves, index
from daybreak.lab.reading import laws
from daybreak.lab.sweeps import sweep
from daybreak.measure import Law, Plateau
from daybreak.studies._study import Scale, Table, Tables, TrainedData, select
from daybreak.training import Run, to_json
from daybreak.training.hardware import has_bfloat16

Sweeps = Mapping[Scale, str]
"""What to train at each scale, as the text of a sweep file."""


_ROWS = 100  # evaluations that are kept of a run's curves
DRAWS = 20_000
"""Draws of configurations for the intervals of a law: with 1 000 their ends, and verdicts with them, change with the seed of the draws."""


def training(sweeps: Sweeps, tables: Callable[[list[Saved]], Tables]) -> TrainedData:
    """Measurements by the runs of a sweep text for each scale."""
    return TrainedData(lambda scale: trainable(sweep.runs(sweeps[scale], f"{scale} scale")), tables)


def trainable(runs: list[Run]) -> list[Run]:
    """The runs of a figure in the precision that this machine has: all in float32 if all are in bfloat16 and it has none.

    No figure mixes precisions, and plateaus are the same in both (claim R11). Runs that compare precisions are left as they are.
    """
    if any(run.precision == "float32" for run in runs) or has_bfloat16():
        return runs
    return [replace(run, precision="float32") for run in runs]


def plateaus(saved: Sequence[Saved], settings: Sequence[str]) -> Table:
    """One row for each run: its settings, and the plateau at the level of its own stop rule.

    Runs that differ in nothing but the seed have the same number in `configuration`. Runs that diverged are left out.
    """
    kept = [x for x in saved if x.result.outcome != "diverged"]
    lengths = [x.result.plateau for x in kept if x.result.plateau is not None]
    return {
        "id": np.array([x.result.id for x in kept]),
        **_settings(kept, settings),
        "precision": np.array([x.run.precision for x in kept]),
        "seed": np.array([x.run.seed for x in kept]),
        "plateau": np.array([x.length for x in lengths]),
        "censored": np.array([x.censored for x in lengths], bool),
        "configuration": configurations([x.run for x in kept]),
    }


def configurations(runs: Sequence[Run]) -> np.ndarray:
    """A number for each run, the same for those that differ in nothing but the seed."""
    names = [repr(replace(run, seed=0)) for run in runs]
    return np.unique(names, return_inverse=True)[1]


def plateau_columns_at(saved: Sequence[Saved], curve: str, level: Callable[[Saved], float], suffix: str) -> Table:
    """Columns with the plateaus of a curve at another level, for the rows of `plateaus`."""
    lengths = [_plateau_at(x, curve, level(x)) for x in saved if x.result.outcome != "diverged"]
    return {
        f"plateau_{suffix}": np.array([x.length for x in lengths]),
        f"censored_{suffix}": np.array([x.censored for x in lengths], bool),
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
    """Curves of all runs below each other, about a hundred evaluations of each; one column for each entry of an array.

    Each row has the id of its run.
    """
    parts = []
    for x in saved:
        assert x.record is not None  # noqa: S101
        rows = np.unique(np.linspace(0, x.record.steps.size - 1, _ROWS).round().astype(int))
        chosen = {name: x.record.curves[name][rows] for name in names}
        fixed = {"id": np.array([x.run.id])} | _settings([x], settings) | {"seed": np.array([x.run.seed])}
        parts.append(
            {k: np.repeat(v, rows.size) for k, v in fixed.items()} | curves.columns(x.record.steps[rows], chosen)
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def law(form: str, table: Table) -> Law:
    """A law by censored maximum likelihood; intervals by cluster bootstrap over configurations where there are enough."""
    return laws.fit(form, table, "tobit", DRAWS).law


def grid_of(table: Table, *names: str) -> str:
    """Which values were measured, with how many seeds and runs, how many of them are censored, and products in bfloat16."""
    axes = ", ".join(f"{name} in {{{', '.join(f'{x:g}' for x in np.unique(table[name]))}}}" for name in names)
    count = np.unique(table["configuration"], return_counts=True)[1]
    seeds = f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
    half = ", products in bfloat16" if "bfloat16" in table.get("precision", ()) else ""
    return f"{axes}; {seeds} seeds, {table['plateau'].size} runs, {int(table['censored'].sum())} censored{half}"


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
