"""Which rows to show, in plain words: `T >= 64, outcome = emerged`. Compared column by column; no SQL, no evaluation."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError

_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*")


@final
@dataclass(frozen=True)
class Condition:
    """A column, a comparison and what to compare with."""

    column: str
    sign: str
    value: str

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Where it holds; nowhere that a value is missing."""
        if self.sign in _ORDER:
            try:
                return _ORDER[self.sign](values.astype(np.float64), float(self.value))
            except ValueError:
                raise RequestError(
                    f"filter '{self.column} {self.sign} {self.value}' is not allowed: only numbers have an order."
                ) from None
        same = np.array([_same(x, self.value) for x in values.tolist()], np.bool_)
        return same if self.sign == "=" else ~same


def parse(text: str) -> tuple[Condition, ...]:
    """The conditions in a text, separated by commas; all must hold."""
    found = []
    for part in filter(str.strip, text.split(",")):
        read = _CONDITION.fullmatch(part)
        if read is None or not read[3]:
            raise RequestError(f"filter {part.strip()!r} cannot be read: write 'T >= 64, outcome = emerged'.")
        found.append(Condition(*read.groups()))
    return tuple(found)


def rows(text: str, column: Callable[[str], NDArray[Any]], names: list[str], count: int) -> NDArray[np.bool_]:
    """Which of so many rows a filter keeps.

    Args:
        text: the filter.
        column: gives the values of a column.
        names: of all columns.
        count: of rows.
    """
    kept = np.ones(count, np.bool_)
    for condition in parse(text):
        if condition.column not in names:
            raise RequestError(f"filter names {condition.column!r}, which is no column: there are {', '.join(names)}.")
        kept &= condition.holds(column(condition.column))
    return kept


def _same(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text.lower() in (("yes", "true") if value else ("no", "false"))
    if isinstance(value, int | float):
        try:
            return float(text) == value
        except ValueError:
            return False
    return value == text
