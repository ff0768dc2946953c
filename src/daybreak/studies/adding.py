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
        trained: ids of the runs that the tables were made of, with or without rows in each; None if that is not known.
    """

    folder: Path
    tables: Tables
    training_seconds: float | None
    trained: frozenset[str] | None


def read_before(folder: Path) -> Before:
    """Read what is there, before anything is trained.

    Raises:
        WorkError: if a table or `claims.json` is not what a study writes.
    """
    document = read(folder).document if (folder / CLAIMS).exists() else {}
    seconds, trained = document.get("training_seconds"), document.get("trained")
    known = isinstance(seconds, int | float)
    if not (known or seconds is None) or not isinstance(trained, list | None):
        raise WorkError(f"{folder / CLAIMS} is not what a study writes: delete it, and use the same command again.")
    ids = None if trained is None else frozenset(map(str, trained))
    return Before(folder, _with_precision(tables.read_all(folder)), float(seconds) if known else None, ids)


def _with_precision(before: Tables) -> Tables:
    """Tables of plateaus from before there was a choice have no column of the precision: it was float32."""
    plateaus = before.get("plateaus")
    if plateaus is None or "id" not in plateaus or "precision" in plateaus:
        return before
    return before | {"plateaus": plateaus | {"precision": np.full(plateaus["id"].size, "float32")}}


def lacking(training: TrainedData, scale: Scale, before: Before) -> TrainedData:
    """What is left to train: the runs that the tables were not made of.

    Raises:
        WorkError: if a table does not name its runs, or has runs that the grid does not have.
    """
    runs = training.runs(scale)
    for name, table in before.tables.items():
        if "id" not in table:
            raise WorkError(
                f"nothing can be added to the table {name!r} in {before.folder}: its rows do not name their runs. "
                f"Without --add all {len(runs):,} runs are trained, and the tables replaced."
            )
    ids = [set(table["id"].tolist()) for table in before.tables.values()]
    others = set().union(*ids) - {run.id for run in runs}
    if others:
        raise WorkError(
            f"the tables in {before.folder} have {len(others):,} runs that the figure does not have here, such as {min(others)}: its "
            "grid changed, or this machine lacks their precision. They would be lost. Write to another folder with --out; or leave "
            f"out --add to train all {len(runs):,} runs and replace the tables."
        )
    have = before.trained if before.trained is not None and ids else set.intersection(*ids) if ids else set()
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
        raise WorkError(
            f"nothing can be added to the tables in {before.folder}: one is missing, or another version wrote them, with other columns. "
            f"Without --add all {len(runs):,} runs are trained, and the tables replaced."
        )
    again = [name for table in added.values() for name in table["id"].tolist()]
    whole = {name: _joined(table, added.get(name), again) for name, table in before.tables.items()}
    place = {run.id: i for i, run in enumerate(runs)}
    configurations = _runs.configurations(runs)
    return {name: _ordered(table, place, configurations) for name, table in whole.items()}


def _columns(tables: Tables) -> dict[str, set[str]]:
    return {name: set(table) for name, table in tables.items()}


def _joined(table: Table, added: Table | None, again: Iterable[str]) -> Table:
    """Rows of both; of a run that was trained again, because an interruption left it in some tables only, the new ones."""
    kept = select(table, ~np.isin(table["id"], [*again]))
    return kept if added is None or not added["id"].size else stack(added, kept)


def _ordered(table: Table, place: dict[str, int], configurations: np.ndarray) -> Table:
    places = np.array([place[name] for name in table["id"].tolist()])
    rows = np.argsort(places, kind="stable")
    ordered = {name: column[rows] for name, column in table.items()}
    if "configuration" in ordered:
        ordered["configuration"] = np.unique(configurations[places[rows]], return_inverse=True)[1]
    return ordered
