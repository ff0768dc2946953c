"""Arithmetic and conditions over the settings of a run, as sweep files write them: `4 * d**1.29 * T**0.8`, `B < T and p == 0`.

Parsed, never evaluated as code: numbers, texts, names of settings, + - * / // % **, comparisons, and, or, not, and a
handful of functions. Nothing else has a meaning.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, final

from daybreak.errors import RequestError

Value = bool | int | float | str

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # of floats: 9**9**9 is an overflow here, not an hour of whole-number arithmetic
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "min": min,
    "max": max,
}
_LONGEST = 500
_DEEPEST = 100  # well below Python's limit on recursion, also when called from deep inside another program
_WHAT = (
    "use settings such as T or task.T, numbers, + - * / // % **, comparisons, and, or, not, sqrt, log, exp, min, max"
)


@final
@dataclass(frozen=True)
class Expression:
    """A parsed text, and the names it reads."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def __call__(self, values: Mapping[str, Value]) -> Value:
        """What it comes to where settings have these values.

        Raises:
            RequestError: for a name that has no value, and for arithmetic without an answer, such as 1/0.
        """
        try:
            return _value(self.tree, values)
        except KeyError as missing:
            raise RequestError(f"{self.text!r} names {missing.args[0]!r}, {_near(missing.args[0], values)}.") from None
        except (ArithmeticError, ValueError, TypeError) as error:
            where = ", ".join(f"{name} = {values[name]!r}" for name in sorted(self.names))
            raise RequestError(f"{self.text!r} cannot be computed{f' at {where}' if where else ''}: {error}.") from None


def parse(text: str) -> Expression:
    """Read an expression.

    Example:
        >>> parse("d <= T and position == 'fixed'")({"d": 4, "T": 8, "position": "fixed"})
        True
        >>> sorted(parse("4 * task.d**1.29").names)
        ['task.d']
    """
    if len(text) > _LONGEST:
        raise RequestError(f"an expression of {len(text)} characters is too long: at most {_LONGEST} are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice on odd literals is not for users of a sweep
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RequestError(f"{text!r} cannot be read: {_WHAT}.") from None
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise RequestError(f"{text!r} is nested too deeply: at most {_DEEPEST} operations inside each other.")
    return Expression(text, tree, frozenset(_check(tree, text)))


def _check(node: ast.expr, text: str) -> set[str]:
    """Refuse what has no meaning here; returns the names read."""
    match node:
        case ast.Constant(bool() | int() | float() | str()):
            return set()
        case ast.Name() | ast.Attribute(ast.Name()):
            return {ast.unparse(node)}
        case ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Not(), inner):
            return _check(inner, text)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            return _check(left, text) | _check(right, text)
        case ast.BoolOp(_, parts):
            return set().union(*(_check(part, text) for part in parts))
        case ast.Compare(left, ops, rest) if all(type(op) in _COMPARISONS for op in ops):
            return set().union(*(_check(part, text) for part in (left, *rest)))
        case ast.Call(ast.Name(name), parts, []) if name in _FUNCTIONS and parts:
            return set().union(*(_check(part, text) for part in parts))
    raise RequestError(f"{text!r} cannot be read at {ast.unparse(node)!r}: {_WHAT}.")


def _value(node: ast.expr, values: Mapping[str, Value]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name() | ast.Attribute():
            return values[ast.unparse(node)]
        case ast.UnaryOp(ast.Not(), inner):
            return not _value(inner, values)
        case ast.UnaryOp(op, inner):
            return -_number(inner, values) if isinstance(op, ast.USub) else _number(inner, values)
        case ast.BinOp(left, op, right):
            return _ARITHMETIC[type(op)](_number(left, values), _number(right, values))
        case ast.BoolOp(op, parts):
            decide = all if isinstance(op, ast.And) else any
            return decide(_value(part, values) for part in parts)
        case ast.Compare(left, ops, rest):
            sides = [_value(part, values) for part in (left, *rest)]
            return all(_COMPARISONS[type(op)](a, b) for op, a, b in zip(ops, sides[:-1], sides[1:], strict=True))
        case ast.Call(ast.Name(name), parts, _):
            return _FUNCTIONS[name](*(_number(part, values) for part in parts))
    raise AssertionError(ast.dump(node))


def _number(node: ast.expr, values: Mapping[str, Value]) -> int | float:
    """Only numbers are computed with: a text times a billion is no arithmetic."""
    value = _value(node, values)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{ast.unparse(node)} is no number")
    return value


def _near(name: str, values: Mapping[str, Value]) -> str:
    both = [known for known in values if known.endswith(f".{name}")]
    if both:
        return f"which is more than one setting: write {' or '.join(both)}"
    close = get_close_matches(name, values, 1)
    if close:
        return f"which is no setting: perhaps you meant {close[0]!r}"
    return f"which is no setting: there are {', '.join(sorted(x for x in values if '.' not in x))}"
