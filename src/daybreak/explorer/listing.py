"""A page of a lab's runs: filtered, sorted, what differs in columns and what is shared said once."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer import filters
from daybreak.lab import index

_PAGE = 25
_WIDE = 8  # settings that there is room for
_OUTCOMES = ("unfinished", "emerged", "censored", "diverged", "failed")
_ENDS = {"outcome": "outcome", "plateau": "plateau", "last_step": "steps"}


@final
@dataclass(frozen=True)
class Listing:
    """Runs on a page.

    Args:
        rows: those on the page, as the index has them.
        cells: the same as texts, in the order of `heads`.
        heads: label of each column, by name.
        shared: settings that all runs found have in common, as a sentence.
        counts: how many there are, as a sentence.
        sorted_by: name of the column that orders them; empty for none.
        page: its number, from 1.
        pages: how many there are.
        columns: all runs found, on all pages.
    """

    rows: list[dict[str, Any]]
    cells: list[list[str]]
    heads: dict[str, str]
    shared: str
    counts: str
    sorted_by: str
    page: int
    pages: int
    columns: dict[str, NDArray[Any]]


def listing(table: pa.Table, where: str, sort: str, page: int) -> Listing:
    """A page of the runs that a filter keeps.

    Args:
        table: as `Desk.runs` gives it.
        where: a filter, see `filters`.
        sort: a column, with a minus before it for the largest first; empty for the order of the table.
        page: from 1; beyond the last is the last.
    """
    kept = filters.rows(where, lambda name: _values(table, name), table.column_names, table.num_rows)
    found = table.filter(pa.array(kept))
    settings = [x for x in index.setting_columns(found.column_names) if found[x].null_count < found.num_rows]
    values = {x: found[x].unique() for x in settings}
    differing = [x for x in settings if len(values[x]) > 1]
    # Settings that only some tasks or models have come last: they say little more than the name of the task.
    differing.sort(key=lambda x: len(values[x]) - values[x].null_count < 2)
    by = sort.removeprefix("-")
    if by:
        if by not in table.column_names:
            raise RequestError(f"sort = {sort!r} is not allowed: there is no column {by!r}.")
        found = found.sort_by([(by, "descending" if sort.startswith("-") else "ascending")])
    pages = max(1, -(-found.num_rows // _PAGE))
    at = min(max(page, 1), pages)
    rows = found.slice((at - 1) * _PAGE, _PAGE).to_pylist()
    ends = {name: label for name, label in (*_ENDS.items(), *_score(found)) if name in found.column_names}
    heads = {"id": "run"} | ends | {name: name for name in differing[:_WIDE]}
    shared = ", ".join(f"{x} {cell(rows[0][x])}" for x in settings if x not in differing) if rows else ""
    return Listing(
        rows,
        [[cell_of(row, name) for name in heads] for row in rows],
        heads,
        shared,
        _counts(found),
        by,
        at,
        pages,
        {name: _values(found, name) for name in found.column_names},
    )


def _values(table: pa.Table, name: str) -> NDArray[Any]:
    return table[name].to_numpy(zero_copy_only=False)


def _score(found: pa.Table) -> list[tuple[str, str]]:
    """What was reached at the end: clean accuracy where runs have one, and clean loss."""
    scores = (("final_clean_accuracy", "accuracy"), ("final_clean_loss", "loss"))
    return [(x, y) for x, y in scores if x in found.column_names and found[x].null_count < found.num_rows]


def _counts(found: pa.Table) -> str:
    outcomes = found["outcome"].to_pylist()
    parts = [f"{outcomes.count(x):,} {x}" for x in _OUTCOMES if x in outcomes]
    return f"{len(outcomes):,} run{'' if len(outcomes) == 1 else 's'}" + (f": {', '.join(parts)}" if parts else "")


def cell_of(row: dict[str, Any], name: str) -> str:
    """One cell: names shortened, plateaus that did not end marked as such."""
    if name == "id":
        return row["id"][:12]
    if name == "plateau" and row["plateau"] is not None:
        return f"{'≥ ' if row['censored'] else ''}{row['plateau']:,.0f}"
    return cell(row[name])


def cell(value: Any) -> str:
    """A value as people write it; nothing for none."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
