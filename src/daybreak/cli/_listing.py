"""Many runs on one page: what differs between them gets a column, what they share is said once."""

from collections.abc import Sequence
from typing import Any

_LABEL = 12  # characters of a run's name: enough to tell thousands apart, and to name one to `runs show`

Row = dict[str, Any]


def cell(value: Any) -> str:
    """A setting or a measurement as people write it; nothing for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def plateau(row: Row) -> str:
    """The length of the plateau, or how long it was watched at least."""
    if row["plateau"] is None:
        return ""
    return f"{'≥ ' if row['censored'] else ''}{row['plateau']:,.0f}"


def shared(rows: Sequence[Row]) -> Row:
    """Settings that all rows have in common."""
    return {name: rows[0][name] for name in _settings(rows) if all(row[name] == rows[0][name] for row in rows)}


def page(rows: Sequence[Row], width: int) -> tuple[list[str], list[str]]:
    """The lines of a table that fits a width, headings first, and settings that differ but found no room.

    Rows are sorted by what differs, from left to right. Plain text: a table of Rich takes a second for a thousand rows.
    """
    same = shared(rows)
    differing = [name for name in _settings(rows) if name not in same]
    rows = sorted(rows, key=lambda row: [(row[x] is None, str(type(row[x])), row[x]) for x in differing if x in row])
    ends = {
        "outcome": [row["outcome"] for row in rows],
        "plateau": [plateau(row) for row in rows],
        "steps": [cell(row["last_step"]) for row in rows],
        **_score(rows),
    }
    columns = {"run": [row["id"][:_LABEL] for row in rows]}
    settings = {name: [cell(row[name]) for row in rows] for name in differing}
    room = width - sum(_width(*x) for x in (*columns.items(), *ends.items()))
    fitting = set()
    # Settings that only some tasks or models have come last: they say little more than the name of the task.
    for name in sorted(differing, key=lambda name: len(set(settings[name]) - {""}) < 2):
        if _width(name, settings[name]) <= room:
            room -= _width(name, settings[name])
            fitting.add(name)
    columns |= {name: settings[name] for name in differing if name in fitting} | ends
    left_out = [name for name in differing if name not in fitting]
    return _lines(columns), left_out


def _lines(columns: dict[str, list[str]]) -> list[str]:
    aligned = []
    for name, cells in columns.items():
        words = any(x and not x[-1].isdigit() for x in cells) or name == "run"
        space = _width(name, cells) - 2
        aligned.append([x.ljust(space) if words else x.rjust(space) for x in (name, *cells)])
    return ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]


def _settings(rows: Sequence[Row]) -> list[str]:
    """Columns that say what was asked for, and that any row has."""
    from daybreak.lab.index import setting_columns

    return [name for name in setting_columns(rows[0]) if any(row[name] is not None for row in rows)]


def _score(rows: Sequence[Row]) -> dict[str, list[str]]:
    """How good each was at the end: its clean accuracy where all have one, otherwise its clean loss."""
    for name in ("accuracy", "loss"):
        values = [row.get(f"final_clean_{name}") for row in rows]
        if all(
            x is not None for x, row in zip(values, rows, strict=True) if row["outcome"] not in ("failed", "diverged")
        ):
            return {name: ["" if x is None else f"{x:.3g}" for x in values]}
    return {}


def _width(name: str, cells: Sequence[str]) -> int:
    return max(len(x) for x in (name, *cells)) + 2
