"""Ask before something is done that cannot be undone."""

import sys

from daybreak.errors import RequestError


def confirmed(details: str, question: str, option: str) -> bool:
    """Whether a person says yes on the terminal. The question goes to stderr: stdout has the answer of the command.

    Args:
        details: lines to read before the question.
        question: ends with a question mark.
        option: that says yes beforehand, to name where there is no terminal to ask on.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RequestError(f"{question} There is no terminal to ask on: give {option} to say yes. Nothing was changed.")
    sys.stderr.write(f"{details}\n{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
