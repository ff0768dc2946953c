"""Many runs on one page: settings that differ get a column, settings that all runs share are written once.

The command and the explorer list runs by these rules; where a column stands and how it looks is theirs.
"""

from typing import Any

import pyarrow as pa

from daybreak.errors import format_number
from daybreak.lab import index
from daybreak.lab.result import OUTCOMES

_LABEL = 12  # characters of a run's name: enough to distinguish thousands, and to name one to `runs show`
_MEASURED = {
    "outcome": "outcome",
    "plateau": "plateau",
    "last_step": "steps",
    "final_clean_accuracy": "accuracy",
    "final_clean_loss": "loss",
    "final_loss": "observed loss",
}


def settings(runs: pa.Table) -> tuple[dict[str, Any], list[str]]:
    """Settings that all runs share, with their values, and the names of settings that differ.

    Settings that only some tasks or models have come last: they add little to the name of the task.
    """
    values = {name: runs[name].unique() for name in index.setting_columns(runs.column_names)}
    count = {name: len(x) - x.null_count for name, x in values.items()}  # of different values
    shared = {name: x[0].as_py() for name, x in values.items() if len(x) == count[name] == 1}
    differing = [name for name, x in values.items() if len(x) > 1]
    return shared, sorted(differing, key=lambda name: count[name] < 2)


def measured(runs: pa.Table) -> dict[str, str]:
    """Labels of the columns that contain what was measured, by name; only those in which some run has a value."""
    return {x: label for x, label in _MEASURED.items() if x in runs.column_names and runs[x].null_count < len(runs)}


def cells(runs: pa.Table, name: str) -> list[str]:
    """A column as texts: names of runs shortened, plateaus that did not end marked, scores rounded."""
    values = runs[name].to_pylist()
    if name == "id":
        return [x[:_LABEL] for x in values]
    if name == "plateau":
        signs = ["≥ " if x else "" for x in runs["censored"].to_pylist()]
        return ["" if x is None else f"{sign}{x:,.0f}" for x, sign in zip(values, signs, strict=True)]
    if name.startswith("final_"):
        return ["" if x is None else f"{x:.3g}" for x in values]
    return [cell(x) for x in values]


def cell(value: Any) -> str:
    """A setting as text; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, float) else str(value)


def sentence(values: dict[str, Any]) -> str:
    """Settings with their values, in one line."""
    return ", ".join(f"{name} {cell(value)}".strip() for name, value in values.items() if value is not None)


def summary(outcomes: list[str], condition: str = "") -> str:
    """How many runs there are and how they ended: `8 runs: 6 emerged, 2 failed`.

    Args:
        outcomes: of the runs.
        condition: which runs these are, to stand behind the number.
    """
    parts = [f"{outcomes.count(x):,} {x}" for x in OUTCOMES if x in outcomes]
    number = f"{len(outcomes):,} run{'s' * (len(outcomes) != 1)}" if outcomes else "No runs"
    return f"{number}{condition}" + (f": {', '.join(parts)}" if parts else "")
