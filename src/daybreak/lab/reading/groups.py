"""Groups of a lab's runs: runs of a group differ only in what a law contains, and in what no plateau depends on.

A law that pools runs of several tasks, models or learning rates describes none of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from numpy.typing import NDArray

from daybreak.lab.reading import laws


@final
@dataclass(frozen=True)
class Group:
    """Runs that one law can describe.

    Args:
        runs: their rows.
        settings: those that they share and that may differ between groups.
        others: the same of the other groups.
    """

    runs: laws.Table
    settings: Mapping[str, Any]
    others: Sequence[Mapping[str, Any]]

    @property
    def kind(self) -> str:
        """Task, model and optimizer."""
        return ", ".join(str(self.runs[part][0]) for part in ("task", "model", "optimizer"))

    @property
    def where(self) -> str:
        """A short condition in SQL that holds for this group and for no other; empty if there is no other."""
        conditions, others = [], [x for x in self.others if x is not self.settings]
        for name, value in sorted(self.settings.items(), key=lambda x: _missing(x[1])):  # what it does not have, last
            left = [x for x in others if repr(x[name]) == repr(value)]
            if len(left) < len(others):
                conditions.append(f"{name} is null" if _missing(value) else f"{name} = {_literal(value)}")
                others = left
        return " and ".join(conditions)


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
    settings = [{name: runs[name][mine[:1]].tolist()[0] for name in names} for mine in members]
    return [
        Group({name: x[mine] for name, x in runs.items()}, own, settings)
        for mine, own in zip(members, settings, strict=True)
    ]


def differing(members: Sequence[Group]) -> tuple[str, ...]:
    """The settings in which groups differ, among the groups that have them."""
    values = {name: [one.settings[name] for one in members] for name in members[0].settings}
    return tuple(name for name, x in values.items() if len({repr(one) for one in x if not _missing(one)}) > 1)


def _missing(value: Any) -> bool:
    return value is None or value != value


def _literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()
