"""A page of a lab's runs: filtered, sorted and cut."""

from dataclasses import dataclass
from typing import Any, final

import pyarrow as pa
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer import filters
from daybreak.lab import listing

_PAGE = 25
_WIDE = 8  # settings that have space
_FIRST = ("T", "d", "N", "V", "B", "p", "seed", "task")  # settings that runs are known by


@final
@dataclass(frozen=True)
class RunPage:
    """Runs on a page.

    Args:
        rows: those on the page, as the index has them.
        cells: the same as texts, in the order of `heads`.
        heads: label of each column, by name.
        shared: settings that all runs of all pages have in common, as a sentence.
        summary: how many runs there are and how they ended, as a sentence.
        sorted_by: name of the column that orders them; empty for none.
        number: of the page, from 1.
        pages: how many there are.
        columns: the runs of all pages.
    """

    rows: list[dict[str, Any]]
    cells: list[tuple[str, ...]]
    heads: dict[str, str]
    shared: str
    summary: str
    sorted_by: str
    number: int
    pages: int
    columns: dict[str, NDArray[Any]]


def run_page(table: pa.Table, where: str, sort: str, number: int) -> RunPage:
    """A page of the runs that a filter keeps.

    Args:
        table: as `Workspace.runs` gives it.
        where: a filter, see `filters`.
        sort: a column, with a minus before it for the largest first; empty for the order of the table.
        number: from 1; beyond the last is the last.
    """
    kept = filters.rows(where, table.column_names, table.num_rows, lambda name: table[name].to_pylist())
    runs = table.filter(pa.array(kept))
    by = sort.removeprefix("-")
    if by:
        if by not in table.column_names:
            raise RequestError(f"sort = {sort!r} is not allowed: there is no column {by!r}.")
        runs = runs.sort_by([(by, "descending" if sort.startswith("-") else "ascending")])
    shared, differing = listing.settings(runs)
    known = sorted(differing, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    measured = {"outcome": "outcome"} | listing.measured(runs)
    first = {name: measured[name] for name in ("outcome", "plateau") if name in measured}
    heads = {"id": "run"} | first | {name: name for name in known[:_WIDE]} | measured
    pages = max(1, -(-runs.num_rows // _PAGE))
    number = min(max(number, 1), pages)
    shown = runs.slice((number - 1) * _PAGE, _PAGE)
    return RunPage(
        shown.to_pylist(),
        list(zip(*(listing.cells(shown, name) for name in heads), strict=True)),
        heads,
        listing.sentence(shared),
        listing.summary(runs["outcome"].to_pylist()),
        by,
        number,
        pages,
        {name: runs[name].to_numpy(zero_copy_only=False) for name in runs.column_names},
    )
