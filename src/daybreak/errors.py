"""Errors whose message is all that a user needs, and the function that refuses a value."""

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
    """

    def __init__(self, what: str):
        super().__init__(f"{what} is not known here: install the extension that has it, or update Daybreak.")
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
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        raise RequestError(f"{name} = {shown} is not allowed: {why}.")
