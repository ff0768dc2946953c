"""One setting of a run as a sweep file gives it: a value, a list of alternatives, a range, or an expression."""

import sys
from dataclasses import MISSING, dataclass, fields
from datetime import date, time
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, final, get_args, get_origin, get_type_hints

import numpy as np

from daybreak.errors import RequestError
from daybreak.lab.sweeps.expression import Expression, parse

Kind = Literal["whole", "number", "flag", "text", "numbers"]

_LONGEST = 1_000_000
_WIDEST = 100  # characters of a value in a message
_RANGES = {
    "logspace": "first, last and how many, such as [16, 256, 5]",
    "linspace": "first, last and how many, such as [0, 0.5, 6]",
    "range": "start, stop and step as in Python, such as [0, 10, 2]",
}


@final
@dataclass(frozen=True)
class Field:
    """A field of a task, a model, an optimizer or a stop rule: its name, the kind of its values, and its default."""

    name: str
    kind: Kind
    default: Any

    def alternatives(self, given: Any) -> list[Any]:
        """What a file's value means: one alternative or, for a list or a range, several; an expression stays one.

        Example:
            >>> Field("T", "whole", 8).alternatives({"logspace": [16, 64, 3]})
            [16, 32, 64]
        """
        if isinstance(given, dict):
            given = _spread(self.name, given)
            if self.kind == "whole":
                given = [round(x) for x in given]
        axis = isinstance(given, list) and not (self.kind == "numbers" and not any(isinstance(x, list) for x in given))
        if not axis:
            return [self.value(given)]
        if not given:
            raise RequestError(f"{self.name} = [] is not allowed: an axis needs at least one value")
        return list(dict.fromkeys(self.value(x) for x in given))

    def value(self, given: Any) -> Any:
        """One value in the form that runs have, or the expression that gives it."""
        match self.kind, given:
            case "flag", bool():
                return given
            case "text", str():
                return given
            case "numbers", list() if all(_is_number(x) for x in given):
                return tuple(float(x) for x in given)
            case (("whole" | "number"), str()):
                return parse(given)
            case "whole", _ if _is_number(given) and given == int(given):
                return int(given)
            case "number", _ if _is_number(given):
                return float(given)
        allowed = {
            "flag": "true or false",
            "text": "a string",
            "numbers": "a list of numbers",
            "whole": 'a whole number, a list, a range such as { logspace = [16, 256, 5] } or an expression such as "4 * d"',
            "number": 'a finite number, a list, a range such as { linspace = [0, 1, 5] } or an expression such as "1 / d"',
        }
        raise RequestError(f"{self.name} = {_shown(given)} is not allowed: it must be {allowed[self.kind]}")

    def computed(self, expression: Expression, values: dict[str, Any]) -> Any:
        """What an expression gives, as a value of this setting; rounded where that is a whole number."""
        given: Any = expression(values)
        if self.kind == "whole" and _is_number(given):
            given = round(given)
        if not _is_number(given):
            raise RequestError(
                f"{self.name} = {expression.text!r} is not allowed: it gives {given!r}, which is not a finite number"
            )
        return self.value(given)


@cache
def fields_of(kind: type) -> dict[str, Field]:
    """The settings of a task, model, optimizer or stop rule, by name."""
    hints = get_type_hints(kind)
    return {
        field.name: Field(field.name, _kind(hints[field.name]), None if field.default is MISSING else field.default)
        for field in fields(kind)
    }


def _kind(hint: Any) -> Kind:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (x for x in get_args(hint) if x is not NoneType)
    if get_origin(hint) is tuple:
        return "numbers"
    kinds: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number"}
    return kinds.get(hint, "text")


def _is_number(value: Any) -> bool:
    """Whether it is a finite number that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _spread(name: str, given: dict[str, Any]) -> list[float]:
    """The numbers of a range."""
    match given:
        case {"logspace": [a, b, n]} if len(given) == 1 and _spans(a, b, n) and a > 0 and b > 0:
            return np.geomspace(a, b, n).tolist()
        case {"linspace": [a, b, n]} if len(given) == 1 and _spans(a, b, n):
            return np.linspace(a, b, n).tolist()
        case {"range": [*parts]} if len(given) == 1 and 1 <= len(parts) <= 3 and all(type(x) is int for x in parts):
            if parts[2:] != [0] and 0 < len(numbers := range(*parts)) <= _LONGEST:
                return list(numbers)
    form = next((x for x in given if x in _RANGES), None)
    what = f"{form} needs {_RANGES[form]}" if form else f"a range is one of {', '.join(_RANGES)}"
    raise RequestError(f"{name} = {_shown(given)} is not allowed: {what}")


def _spans(first: Any, last: Any, count: Any) -> bool:
    numbers = _is_number(first) and _is_number(last) and _is_number(last - first)
    return numbers and type(count) is int and 1 <= count <= _LONGEST


def _shown(value: Any) -> str:
    """A value of a file in a message: dates as they are written, and what is long cut off."""
    text = value.isoformat() if isinstance(value, date | time) else repr(value)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"
