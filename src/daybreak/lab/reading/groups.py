"""Groups of a lab's runs: runs of a group differ only in what a law contains, and in what no plateau depends on.

A law that pools runs of several tasks, models or learning rates describes none of them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.lab.reading import laws


@final
@dataclass(frozen=True)
class Group:
    """Runs that one law can describe.

    Args:
        runs: their rows.
        where: condition in SQL that selects them among all the runs; empty if there is only one group.
    """

    runs: laws.Table
    where: str

    @property
    def kind(self) -> str:
        """Task, model and optimizer."""
        return ", ".join(str(self.runs[part][0]) for part in ("task", "model", "optimizer"))


def groups(runs: Mapping[str, NDArray], contained: Collection[str]) -> list[Group]:
    """The groups of a table of runs, the largest first.

    Args:
        runs: as `laws.table` gives them.
        contained: settings that the law contains, in which the runs of a group may differ.
    """
    names = [name for name in laws.settings_with_effect(runs) if name not in contained]
    rows: dict[str, list[int]] = {}
    for i, key in enumerate(zip(*(runs[name].tolist() for name in names), strict=True)):
        rows.setdefault(repr(key), []).append(i)
    members = sorted(rows.values(), key=len, reverse=True)
    values = [{name: runs[name].tolist()[mine[0]] for name in names} for mine in members]
    places = np.arange(len(runs["id"]))
    return [
        Group(laws.select(runs, np.isin(places, mine)), _condition(own, [x for x in values if x is not own]))
        for mine, own in zip(members, values, strict=True)
    ]


def differing(members: list[Group], contained: Collection[str]) -> tuple[str, ...]:
    """The settings in which groups differ, among the groups that have them."""
    names = [x for x in laws.settings_with_effect(members[0].runs) if x not in contained]
    values = {name: [one.runs[name].tolist()[0] for one in members] for name in names}
    return tuple(name for name, x in values.items() if len({repr(one) for one in x if not _missing(one)}) > 1)


def _condition(own: Mapping[str, Any], others: list[dict[str, Any]]) -> str:
    """A short condition that holds for one group and for no other; a setting that the group does not have comes last."""
    conditions = []
    for name in sorted(own, key=lambda x: _missing(own[x])):
        left = [x for x in others if repr(x[name]) == repr(own[name])]
        if len(left) < len(others):
            conditions.append(f"{name} is null" if _missing(own[name]) else f"{name} = {_literal(own[name])}")
            others = left
    return " and ".join(conditions)


def _missing(value: Any) -> bool:
    return value is None or value != value


def _literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()
