"""The errors whose message is all that a user needs to read."""

from typing import final


@final
class RequestError(ValueError):
    """A request that cannot be carried out as asked.

    Its message is one sentence that names the field, the value and what is allowed. The command shows it on stderr
    and exits with 2; in Python it is an ordinary `ValueError`.
    """


@final
class WorkError(RuntimeError):
    """Work that was asked for rightly and still cannot be done, such as for a disk that is full.

    Its message is one sentence that says what is safe and what to do. The command shows it on stderr and exits with 1.
    """
