"""Arithmetic and conditions over the settings of a run: `4 * d**1.29 * T**0.8`, `B < T and p = 0`.

Sweep files and the filters of the explorer use it. Parsed, never evaluated as code: numbers, quoted texts, names of
settings, + - * / // % **, comparisons (`=` is `==`), and, or, not, and a handful of functions. Nothing else has a meaning.
Conditions separated by commas must all hold; a number has no commas. What is computed from a setting without a value has no
value either, and `and` and `or` treat it as SQL does: if p has no value, `p > 0 or T > 8` is true for T = 16 and has no value
for T = 4.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

from daybreak._syntax import syntax_tree
from daybreak.errors import RequestError, nearest

Value = bool | int | float | str | None
_Compute = Callable[[Mapping[str, Value]], Any]

_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,  # of floats: 9**9**9 is an overflow here, not an hour of whole-number arithmetic
}


def _equal(a: Value, b: Value) -> bool:
    """Whether two values agree; listings write true and false as yes and no, so these words are accepted too."""
    if isinstance(a, str) and isinstance(b, bool):
        a, b = b, a
    if isinstance(a, bool) and isinstance(b, str):
        return b.lower() in (("yes", "true") if a else ("no", "false"))
    return a == b


_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: _equal,
    ast.NotEq: lambda a, b: not _equal(a, b),
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "min": min,
    "max": max,
}
_EQUALS = re.compile(r"""('[^']*'|"[^"]*"|[<>=!]=)|=""")  # a lone = outside of quotes is the second alternative
_ADVICE = (
    "use settings such as T or task.T, numbers, + - * / // % **, comparisons, and, or, not, sqrt, log, exp, min, max"
)


@final
@dataclass(frozen=True)
class Expression:
    """A parsed text, and the names it reads."""

    text: str
    kind: str  # how messages call it
    names: frozenset[str]
    compute: _Compute

    def __call__(self, values: Mapping[str, Value]) -> Value:
        """Its value where settings have these values; None if it depends on a setting that has none.

        Raises:
            RequestError: for an unknown name, and for arithmetic without an answer, such as 1/0.
        """
        try:
            return self.compute(values)
        except KeyError:
            raise self.unknown(values) from None
        except (ArithmeticError, ValueError, TypeError) as error:
            where = ", ".join(f"{name} = {values[name]!r}" for name in sorted(self.names))
            at = f" at {where}" if where else ""
            raise RequestError(f"{self.kind} {self.text!r} cannot be computed{at}: {error}.") from None

    def unknown(self, known: Collection[str]) -> RequestError:
        """The error for the first name that is not among those known."""
        name = min(self.names - set(known))
        return RequestError(f"{self.kind} {self.text!r} names {name!r}, {_near(name, known)}.")


def parse(
    text: str, kind: str = "expression", prepare: Callable[[str], str] = str.strip, *, commas: bool = False
) -> Expression:
    """Read an expression.

    Args:
        text: what was written.
        kind: how messages call it.
        commas: whether it is a condition, and those between commas must all hold.
        prepare: makes an expression of it, where other ways to write one are allowed.

    Example:
        >>> parse("d <= T and position = 'fixed'")({"d": 4, "T": 8, "position": "fixed"})
        True
        >>> sorted(parse("4 * task.d**1.29").names)
        ['task.d']
    """
    tree = syntax_tree(text, kind, _ADVICE, lambda x: _EQUALS.sub(lambda match: match[1] or "==", prepare(x)))
    if commas and isinstance(tree, ast.Tuple) and tree.elts:
        tree = ast.BoolOp(ast.And(), tree.elts)
    names: set[str] = set()
    compute = _compiled(tree, names, f"{kind} {text!r}")
    return Expression(text, kind, frozenset(names), compute)


def _compiled(node: ast.expr, names: set[str], label: str) -> _Compute:
    """A function from the values of settings to the value of a node; adds the names it reads, refuses what has no meaning."""

    def inner(*nodes: ast.expr) -> list[_Compute]:
        return [_compiled(x, names, label) for x in nodes]

    def arithmetic(function: Callable[..., Any], *nodes: ast.expr) -> _Compute:
        return _arithmetic(function, inner(*nodes), [ast.unparse(x) for x in nodes])

    def truths(*nodes: ast.expr) -> list[_Compute]:
        return [_truth(x, ast.unparse(node)) for x, node in zip(inner(*nodes), nodes, strict=True)]

    match node:
        case ast.Constant(bool() | int() | float() | str() as value):
            return lambda values: value
        case ast.Name() | ast.Attribute(ast.Name()):
            name = ast.unparse(node)
            names.add(name)
            return operator.itemgetter(name)
        case ast.UnaryOp(ast.Not(), part):
            return _negation(*truths(part))
        case ast.UnaryOp(ast.USub() | ast.UAdd() as op, part):
            return arithmetic(operator.neg if isinstance(op, ast.USub) else operator.pos, part)
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            return arithmetic(_ARITHMETIC[type(op)], left, right)
        case ast.BoolOp(op, parts):
            return _combination(truths(*parts), decisive=isinstance(op, ast.Or))
        case ast.Compare(left, ops, rest) if all(type(op) in _COMPARISONS for op in ops):
            return _comparison(inner(left, *rest), [_COMPARISONS[type(op)] for op in ops])
        case ast.Call(ast.Name(name), parts, []) if name in _FUNCTIONS and parts:
            return arithmetic(_FUNCTIONS[name], *parts)
    raise RequestError(f"{label} cannot be read at {ast.unparse(node)!r}: {_ADVICE}.")


def _arithmetic(function: Callable[..., Any], parts: list[_Compute], texts: list[str]) -> _Compute:
    def compute(values: Mapping[str, Value]) -> Any:
        numbers = [part(values) for part in parts]
        for x, text in zip(numbers, texts, strict=True):
            if isinstance(x, bool | str):  # a text times a billion is no arithmetic
                raise TypeError(f"{text} is no number")
        return None if None in numbers else function(*numbers)

    return compute


def _comparison(sides: list[_Compute], signs: list[Callable[[Any, Any], bool]]) -> _Compute:
    def compute(values: Mapping[str, Value]) -> bool | None:
        seen = [side(values) for side in sides]
        return None if None in seen else all(sign(*pair) for sign, pair in zip(signs, pairwise(seen), strict=True))

    return compute


def _truth(part: _Compute, text: str) -> _Compute:
    def compute(values: Mapping[str, Value]) -> bool | None:
        value = part(values)
        if isinstance(value, str):
            raise TypeError(f"{text} is neither true nor false")
        return None if value is None else bool(value)

    return compute


def _negation(part: _Compute) -> _Compute:
    return lambda values: None if (truth := part(values)) is None else not truth


def _combination(parts: list[_Compute], *, decisive: bool) -> _Compute:
    """`or` if True decides, `and` if False does; what stands behind the part that decides is not computed."""

    def compute(values: Mapping[str, Value]) -> bool | None:
        unknown = False
        for part in parts:
            truth = part(values)
            if truth is decisive:
                return decisive
            unknown |= truth is None
        return None if unknown else not decisive

    return compute


def _near(name: str, known: Collection[str]) -> str:
    both = [x for x in known if x.endswith(f".{name}")]
    if both:
        return f"which is more than one setting: write {' or '.join(both)}"
    close = nearest(name, known)
    if close:
        return f"which is unknown: perhaps you meant {close!r}"
    return f"which is unknown: there are {', '.join(sorted(x for x in known if '.' not in x))}"
