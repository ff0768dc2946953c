"""Which rows of a table to show: `T >= 64 and outcome = 'emerged'`, in the language of sweep files.

Addresses of earlier versions have words without quotes: `T >= 64, outcome = emerged`. After = and != they are texts.
"""

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab.sweeps.expression import parse

# A quoted text; or = and a word, which may be a name such as single-location or my_file.py:Task, but no function.
_WORD = re.compile(r"""('[^']*'|"[^"]*")|(?<![<>])(=\s*)([\w.][\w.:/-]*+)(?!\s*\()""")


def rows(text: str, names: Collection[str], count: int, values: Callable[[str], list[Any]]) -> NDArray[np.bool_]:
    """Which rows of a table a filter keeps: those for which it is true. Each combination of values is computed once.

    Args:
        text: the filter; empty keeps all rows.
        names: of the columns.
        count: of rows.
        values: of a column; None or NaN where a row has none.
    """
    if not text.strip(" ,"):
        return np.ones(count, np.bool_)
    condition = parse(text, "filter", lambda x: _quoted(x, names).strip(" ,"), commas=True)
    if not condition.names <= set(names):
        raise condition.unknown(names)
    read = sorted(condition.names)

    @cache
    def holds(*row: Any) -> bool | None:
        answer = condition(dict(zip(read, row, strict=True)))
        if isinstance(answer, bool | None):
            return answer
        raise RequestError(f"filter {text!r} is no condition: write 'T >= 64' or \"outcome = 'emerged'\".")

    if not read:
        raise RequestError(f"filter {text!r} names no column: there are {', '.join(names)}.")
    columns = ([None if x != x else x for x in values(name)] for name in read)
    return np.array([holds(*row) is True for row in zip(*columns, strict=True)], np.bool_)


def _quoted(text: str, names: Collection[str]) -> str:
    """The same with quotes around words that are neither numbers nor made of columns."""

    def quote(match: re.Match[str]) -> str:
        quoted, sign, word = match.groups()
        if quoted or _is_number(word) or all(x in names or x.isdigit() for x in re.split("[-.:/]", word)):
            return match[0]
        return f"{sign}{word!r}"

    return _WORD.sub(quote, text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
