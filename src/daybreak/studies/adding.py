"""Add to the tables of a figure: only the runs that they lack are trained, and every row that is there stays.

A lab can be lost while its tables are kept, and a grid can grow. Every row of such tables names its run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from daybreak.errors import WorkError
from daybreak.studies import _runs, tables
from daybreak.studies._study import Scale, Table, Tables, TrainedData, select, stack
from daybreak.studies.results import CLAIMS, read
from daybreak.training import Run


@final
@dataclass(frozen=True)
class Before:
    """What a folder of results has.

    Args:
        folder: of the results.
        tables: by name; none if nothing was measured yet.
        training_seconds: what its runs took; None if that is not known.
        diverged: ids of runs that were trained and diverged: some tables have no row of them.
    """

    folder: Path
    tables: Tables
    training_seconds: float | None
    diverged: frozenset[str]


def read_before(folder: Path) -> Before:
    """Read what is there, before anything is trained.

    Raises:
        WorkError: if a table or `claims.json` is not what a study writes.
    """
    document = read(folder).document if (folder / CLAIMS).exists() else {}
    seconds, diverged = document.get("training_seconds"), document.get("diverged", [])
    known = isinstance(seconds, int | float)
    if not (known or seconds is None) or not isinstance(diverged, list):
        raise WorkError(f"{folder / CLAIMS} is not what a study writes: delete it, and use the same command again.")
    return Before(folder, tables.read_all(folder), float(seconds) if known else None, frozenset(map(str, diverged)))


def lacking(training: TrainedData, scale: Scale, before: Before) -> TrainedData:
    """What is left to train: the runs that one of the tables has no row of, unless they diverged.

    Raises:
        WorkError: if a table does not name its runs, was written by another version, or has runs that the grid does not have.
    """
    runs = training.runs(scale)
    for name, table in before.tables.items():
        if "id" not in table:
            raise WorkError(
                f"nothing can be added to the table {name!r} in {before.folder}: its rows do not name their runs. Leave out --add."
            )
        if name == "plateaus" and _runs.PLATEAU_COLUMNS - table.keys():
            raise _other_version(before.folder)
    ids = [set(table["id"].tolist()) for table in before.tables.values()]
    others = set().union(*ids) - {run.id for run in runs}
    if others:
        raise WorkError(
            f"the tables in {before.folder} have {len(others):,} runs that the figure does not have here, such as {min(others)}: its "
            "grid changed, or this machine lacks their precision. They would be lost. Leave out --add to train all runs "
            "and replace the tables, or write to another folder with --out."
        )
    have = set.intersection(*ids) | before.diverged if ids else set()
    left = [run for run in runs if run.id not in have]
    return replace(training, runs=lambda _: left)


def merge(before: Before, added: Tables, runs: Sequence[Run]) -> Tables:
    """Rows of both in the order of the runs, as if all had been trained at once.

    Args:
        before: tables whose rows name their runs.
        added: tables of runs that one of those lacks; empty if none was trained.
        runs: all of the figure.

    Raises:
        WorkError: if columns differ.
    """
    if added and _columns(before.tables) != _columns(added):
        raise _other_version(before.folder)
    again = [name for table in added.values() for name in table["id"].tolist()]
    whole = {name: _joined(table, added.get(name), again) for name, table in before.tables.items()}
    place = {run.id: i for i, run in enumerate(runs)}
    configurations = _runs.configurations(runs)
    return {name: _ordered(table, place, configurations) for name, table in whole.items()}


def _other_version(folder: Path) -> WorkError:
    return WorkError(
        f"nothing can be added to the tables in {folder}: another version wrote them, with other columns. Leave out --add."
    )


def _columns(tables: Tables) -> dict[str, set[str]]:
    return {name: set(table) for name, table in tables.items()}


def _joined(table: Table, added: Table | None, again: Iterable[str]) -> Table:
    """Rows of both; of a run that was trained again, because an interruption left it in some tables only, the new ones."""
    kept = select(table, ~np.isin(table["id"], [*again]))
    return kept if added is None or not added["id"].size else stack(kept, added)


def _ordered(table: Table, place: dict[str, int], configurations: np.ndarray) -> Table:
    places = np.array([place[name] for name in table["id"].tolist()])
    rows = np.argsort(places, kind="stable")
    ordered = {name: column[rows] for name, column in table.items()}
    if "configuration" in ordered:
        ordered["configuration"] = np.unique(configurations[places[rows]], return_inverse=True)[1]
    return ordered
