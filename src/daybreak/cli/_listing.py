"""Runs as a table of plain text that fits a width. A table of Rich takes a second for a thousand rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def page(runs: "pa.Table", width: int) -> tuple[list[str], list[str]]:
    """The lines of a table, headings first, and the settings that differ but do not fit.

    Rows are sorted by the settings that differ, from left to right. The seed gets its space first: without it, runs of one
    configuration look alike.
    """
    from daybreak.lab import listing

    _, differing = listing.settings(runs)
    if differing:
        runs = runs.sort_by([(name, "ascending") for name in differing])
    settings = {name: listing.cells(runs, name) for name in differing}
    names = {"run": listing.cells(runs, "id")}
    measured = {label: listing.cells(runs, name) for name, label in listing.measured(runs).items()}
    free = width - sum(_width(*column) for column in (*names.items(), *measured.items()))
    fitting = set()
    for name in sorted(settings, key=lambda name: name != "seed"):
        if _width(name, settings[name]) <= free:
            free -= _width(name, settings[name])
            fitting.add(name)
    shown = {name: cells for name, cells in settings.items() if name in fitting}
    return _lines(names | shown | measured), [name for name in differing if name not in fitting]


def _lines(columns: dict[str, list[str]]) -> list[str]:
    aligned = []
    for name, cells in columns.items():
        words = any(x and not x[-1].isdigit() for x in cells) or name == "run"
        space = _width(name, cells) - 2
        aligned.append([x.ljust(space) if words else x.rjust(space) for x in (name, *cells)])
    return ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]


def _width(name: str, cells: Sequence[str]) -> int:
    return max(len(x) for x in (name, *cells)) + 2
