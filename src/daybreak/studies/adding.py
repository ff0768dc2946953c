"""Add to the tables of a figure: only the runs that they lack are trained, and the rest of their rows stay.

A lab can be lost while its tables are kept, and a grid can grow. Every row of such tables names its run.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from daybreak.errors import WorkError
from daybreak.studies import _runs
from daybreak.studies._study import Scale, Table, Tables, TrainedData, stack
from daybreak.training import Run


def lacking(training: TrainedData, scale: Scale, tables: Tables) -> TrainedData:
    """What is left to train: the runs that one of the tables has no row of.

    Raises:
        WorkError: if a table does not name its runs.
    """
    for name, table in tables.items():
        if "id" not in table:
            raise WorkError(
                f"nothing can be added to the table {name!r}: its rows do not name their runs. Leave out --add."
            )
    have = set.intersection(*(set(table["id"].tolist()) for table in tables.values())) if tables else set()
    runs = [run for run in training.runs(scale) if run.id not in have]
    return replace(training, runs=lambda _: runs)


def merge(before: Tables, added: Tables, runs: Sequence[Run]) -> Tables:
    """Rows of both in the order of the runs, as if all had been trained at once. Rows of other runs are left out.

    Args:
        before: tables whose rows name their runs.
        added: tables of runs that those lack; empty if they lack none.
        runs: all of the figure.

    Raises:
        WorkError: if columns differ.
    """
    added = added or {name: {key: column[:0] for key, column in table.items()} for name, table in before.items()}
    if _columns(before) != _columns(added):
        raise WorkError(
            "nothing can be added to these tables: another version wrote them, with other columns. Leave out --add."
        )
    place = {run.id: i for i, run in enumerate(runs)}
    configurations = _runs.configurations(runs)
    return {name: _ordered(stack(before[name], new), place, configurations) for name, new in added.items()}


def _columns(tables: Tables) -> dict[str, set[str]]:
    return {name: set(table) for name, table in tables.items()}


def _ordered(table: Table, place: dict[str, int], configurations: np.ndarray) -> Table:
    places = np.array([place.get(name, -1) for name in table["id"].tolist()])
    rows = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
    ordered = {name: column[rows] for name, column in table.items()}
    if "configuration" in ordered:
        ordered["configuration"] = np.unique(configurations[places[rows]], return_inverse=True)[1]
    return ordered
