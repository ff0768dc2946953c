"""Formulas and conditions that users write: read by Python's parser within limits, never evaluated as code."""

import ast
import warnings
from collections.abc import Callable

from daybreak.errors import RequestError

_LONGEST = 500  # characters
_DEEPEST = 100  # well below Python's limit on recursion, also when called from deep inside another program


def syntax_tree(text: str, kind: str, advice: str, prepare: Callable[[str], str] = str.strip) -> ast.expr:
    """The syntax tree of a text, whatever it contains: the caller decides which nodes have a meaning.

    Args:
        text: one expression.
        kind: how messages call it, such as `law`.
        advice: what to write instead of a text that cannot be read.
        prepare: makes Python of it.

    Raises:
        RequestError: it is no text, too long, nested too deeply, or no expression.
    """
    if not isinstance(text, str):
        raise RequestError(f"{kind} {text!r} is not allowed: it must be text.")
    if len(text) > _LONGEST:
        raise RequestError(f"{kind} of {len(text)} characters is too long: at most {_LONGEST} are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice on odd literals is not for users of a formula
            tree = ast.parse(prepare(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RequestError(f"{kind} {text!r} cannot be read: {advice}.") from None
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise RequestError(f"{kind} {text!r} is nested too deeply: at most {_DEEPEST} operations inside each other.")
    return tree
