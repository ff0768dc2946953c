"""Errors whose message is all that a user needs, and what such messages are made of: values, and names that are near."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, final


class RequestError(ValueError):
    """A request that cannot be carried out as asked.

    Its message is one sentence that names the field, the value and what is allowed. The command shows it on stderr
    and exits with 2; in Python it is an ordinary `ValueError`.
    """


@final
class UnknownKind(RequestError):  # noqa: N818
    """A run with a task, a model or a setting that is not known here: of an extension, or of a newer version.

    Args:
        what: the unknown part, such as `task 'needle'`.
        remedy: what to do.
    """

    def __init__(self, what: str, remedy: str = "install the extension that has it, or update Daybreak"):
        super().__init__(f"{what} is not known here: {remedy}.")
        self.what = what


class WorkError(RuntimeError):
    """A valid request whose work cannot be done, for example because the disk is full.

    Its message is one sentence that states what is safe and what to do. The command shows it on stderr and exits with 1.
    """


def refuse(name: str, value: Any, at_fault: bool, why: str) -> None:
    """Raise a `RequestError` that names the field, its value and what is allowed, if `at_fault`.

    Example:
        >>> refuse("T", 1, True, "the sequence length must be at least 2")
        Traceback (most recent call last):
        daybreak.errors.RequestError: T = 1 is not allowed: the sequence length must be at least 2.
    """
    if at_fault:
        shown = format_number(value) if isinstance(value, float) else repr(value)
        raise RequestError(f"{name} = {shown} is not allowed: {why}.")


def format_number(x: float) -> str:
    """A number with twelve digits, or with all where fewer would show a whole number that it is not.

    Example:
        >>> format_number(0.1 + 0.2), format_number(64.0), format_number(1 - 1e-15)
        ('0.3', '64', '0.999999999999999')
    """
    text = f"{x:.12g}"
    return repr(float(x)) if float(text).is_integer() and not float(x).is_integer() else text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: the same but for upper and lower case, or else the most similar; None if none is.

    Example:
        >>> nearest("FIG1C", ["fig1b", "fig1c"]), nearest("trian", ["train", "runs"]), nearest("x", ["train"])
        ('fig1c', 'train', None)
    """
    by_lower = {x.lower(): x for x in known}
    close = [name.lower()] if name.lower() in by_lower else get_close_matches(name.lower(), by_lower, 1)
    return by_lower[close[0]] if close else None
