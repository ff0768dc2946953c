"""The state of a view as an address: a frozen dataclass in, a query string out, and back. Checked, never evaluated."""

import math
from dataclasses import fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, urlencode

from daybreak.errors import RequestError

_MOST = 64  # names and values that an address may have
_LONGEST = 4000  # characters
State = TypeVar("State")


def write(state: Any) -> str:
    """What differs from the defaults, in the order of the fields: `?T=64&logits=free`."""
    default = type(state)()
    pairs = []
    for field in fields(state):
        value = getattr(state, field.name)
        if value != getattr(default, field.name):
            pairs += [(field.name, str(x)) for x in (value if isinstance(value, tuple) else (value,))]
    return f"?{urlencode(pairs)}" if pairs else ""


def read(kind: type[State], address: str) -> State:
    """The state that an address names, such as `/theory?T=64`; what it does not name has its default.

    Raises:
        RequestError: it names something unknown, or a value that is not allowed.
    """
    query = address.partition("?")[2]  # empty without a question mark
    if len(query) > _LONGEST:
        raise RequestError(f"an address of {len(query)} characters is not allowed: it may have {_LONGEST}.")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST)
    except ValueError:
        raise RequestError(f"the address is not allowed: it may name {_MOST} values.") from None
    hints = get_type_hints(kind)
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        if name not in hints:
            raise RequestError(f"{name} = {text!r} is not allowed: this view has {', '.join(hints)}.")
        given.setdefault(name, []).append(text)
    return kind(**{name: _value(name, texts, hints[name]) for name, texts in given.items()})


def _value(name: str, texts: list[str], hint: Any) -> Any:
    """What the texts of a field mean; the last counts where there can be one only."""
    text = texts[-1]
    if get_origin(hint) is tuple:
        return tuple(texts)
    if get_origin(hint) is Literal:
        if text not in get_args(hint):
            raise RequestError(f"{name} = {text!r} is not allowed: choose {' or '.join(map(repr, get_args(hint)))}.")
        return text
    if hint is str:
        return text
    try:
        number = hint(text)
        if math.isfinite(number):
            return number
    except (ValueError, OverflowError):
        pass
    raise RequestError(f"{name} = {text!r} is not allowed: it must be a {'whole ' if hint is int else ''}number.")


def check_within(name: str, value: float, low: float, high: float) -> None:
    """Refuse what a slider could not show."""
    if not low <= value <= high:
        raise RequestError(f"{name} = {value:g} is not allowed: it must lie between {low:g} and {high:g}.")
