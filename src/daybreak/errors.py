"""The one error that means: the request was wrong, and this sentence says how."""

from typing import final


@final
class RequestError(ValueError):
    """A request that cannot be carried out as asked.

    Its message is one sentence that names the field, the value and what is allowed. The command shows it on stderr
    and exits with 2; in Python it is an ordinary `ValueError`.
    """
