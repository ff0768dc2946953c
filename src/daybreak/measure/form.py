"""The form of a law, such as `C * d**a * (T/B)**b`. Parsed, never evaluated as code.

A form is a product of a constant and of powers. In a power, a base is any arithmetic of columns (`T/B`,
`sqrt(p**2*d + (1-p)**2)`) and an exponent is either a number or a name that is not a column: an exponent to be fitted.
The same name twice is one shared exponent.
"""

import ast
import operator
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from typing import final

import numpy as np
from numpy.typing import NDArray

from daybreak._syntax import syntax_tree
from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.measure import _table

_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp}
_ADVICE = "write a product of powers, such as 'C * d**a * (T/B)**b'"


@final
@dataclass(frozen=True)
class Form:
    """A law's form: log y = log C + Σ exponent · log base + Σ fixed power · log base."""

    text: str
    constant: str
    exponents: tuple[str, ...]
    powers: tuple[tuple[ast.expr, str | float, float], ...]  # base, exponent (fitted or fixed), sign
    columns: tuple[str, ...]  # those it reads

    def design(self, columns: Mapping[str, NDArray]) -> tuple[Floats, Floats]:
        """The linear regression on logs: a column of ones, one per fitted exponent; and the offset of fixed powers."""
        rows = len(next(iter(columns.values())))
        table = {name: _table.numbers(columns, name) for name in self.columns}
        design, offset = np.eye(1, 1 + len(self.exponents)).repeat(rows, axis=0), np.zeros(rows)
        for base, exponent, sign in self.powers:
            with np.errstate(all="ignore"):  # what is not finite is refused below
                values = np.broadcast_to(_arithmetic(base, table), (rows,))
            if not np.all((values > 0) & np.isfinite(values)):
                raise RequestError(
                    f"law {self.text!r} cannot be used: {ast.unparse(base)} must be positive and finite in every row."
                )
            if isinstance(exponent, str):
                design[:, 1 + self.exponents.index(exponent)] += sign * np.log(values)
            else:
                offset += sign * exponent * np.log(values)
        return design, offset


def parse(text: str, columns: AbstractSet[str]) -> Form:
    """Read a law such as `C * d**a * (T/B)**b` over the given columns.

    Example:
        >>> parse("C * d**a * (T/B)**b", frozenset({"T", "d", "B"})).exponents
        ('a', 'b')
    """
    constants: list[str] = []
    powers: list[tuple[ast.expr, str | float, float]] = []
    for factor, sign in _factors(syntax_tree(text, "law", _ADVICE), 1.0):
        match factor:
            case ast.Name(name) if name not in columns and sign > 0:
                constants.append(name)
            case ast.BinOp(base, ast.Pow(), exponent):
                inner, read = _exponent(exponent, columns, text)
                powers.append((base, read, sign * inner))
            case _:
                powers.append((factor, 1.0, sign))
    _check_product([base for base, _, _ in powers], columns, text)
    for base, _, _ in powers:
        _check_base(base, columns, text)
    if len(constants) != 1:
        names = " and ".join(constants) or "none"
        raise RequestError(
            f"law {text!r} must have exactly one factor that is not a column, its constant, such as the C in 'C * d**a': "
            f"it has {names}, and the columns are {_listed(columns)}."
        )
    exponents = tuple(dict.fromkeys(e for _, e, _ in powers if isinstance(e, str)))
    _check_names(constants[0], exponents, text)
    read = {node.id for base, _, _ in powers for node in ast.walk(base) if isinstance(node, ast.Name)}
    return Form(text, constants[0], exponents, tuple(powers), tuple(sorted(read & columns)))


def _factors(node: ast.expr, sign: float) -> Iterator[tuple[ast.expr, float]]:
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            yield from _factors(left, sign)
            yield from _factors(right, sign)
        case ast.BinOp(left, ast.Div(), right):
            yield from _factors(left, sign)
            yield from _factors(right, -sign)
        case _:
            yield node, sign


def _exponent(node: ast.expr, columns: AbstractSet[str], text: str) -> tuple[float, str | float]:
    match node:
        case ast.UnaryOp(ast.USub(), inner):
            sign, read = _exponent(inner, columns, text)
            return -sign, read
        case ast.Name(name) if name not in columns:
            return 1.0, name
        case ast.Constant():
            return 1.0, _number(node, text)
    raise RequestError(f"law {text!r} cannot be fitted: the exponent {ast.unparse(node)!r} must be a name or a number.")


def _number(node: ast.Constant, text: str) -> float:
    if isinstance(node.value, int | float) and not isinstance(node.value, bool) and abs(node.value) <= 1e300:
        return float(node.value)
    raise RequestError(f"law {text!r} cannot be read at {ast.unparse(node)!r}: only numbers up to 1e300 are allowed.")


def _check_names(constant: str, exponents: tuple[str, ...], text: str) -> None:
    for name in (constant, *exponents):
        if name in _FUNCTIONS:
            raise RequestError(f"law {text!r} names an unknown {name!r}, which is a function: choose another name.")
    if constant in exponents:
        raise RequestError(f"law {text!r} uses {constant!r} both as constant and as exponent: choose two names.")


def _check_product(bases: list[ast.expr], columns: AbstractSet[str], text: str) -> None:
    """Refuse a sum with something to fit in it, such as C + T**b."""
    for base in bases:
        names = {node.id for node in ast.walk(base) if isinstance(node, ast.Name)} - _FUNCTIONS.keys() - columns
        if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Add | ast.Sub) and names:
            raise RequestError(
                f"law {text!r} is not allowed: a law is a product of powers, such as 'C * d**a * (T/B)**b', and "
                f"{ast.unparse(base)} is a sum with {' and '.join(sorted(names))} to be fitted in it."
            )


def _check_base(node: ast.expr, columns: AbstractSet[str], text: str) -> None:
    match node:
        case ast.Constant():
            _number(node, text)
            return None
        case ast.Name(name):
            if name not in columns:
                near = [x for x in columns if x.lower() == name.lower()] or get_close_matches(name, columns, n=1)
                hint = f"did you mean {near[0]!r}? T" if near else "t"
                raise RequestError(
                    f"law {text!r} names {name!r}, which is no column: {hint}here are {_listed(columns)}."
                )
            return None
        case ast.UnaryOp(ast.USub(), inner):
            return _check_base(inner, columns, text)
        case ast.BinOp(left, op, right) if type(op) in _OPERATIONS:
            _check_base(left, columns, text)
            return _check_base(right, columns, text)
        case ast.Call(ast.Name(name), [inner], []) if name in _FUNCTIONS:
            return _check_base(inner, columns, text)
    raise RequestError(
        f"law {text!r} cannot be read at {ast.unparse(node)!r}: use columns, numbers, + - * / ** and sqrt, log, exp."
    )


def _listed(columns: AbstractSet[str]) -> str:
    return ", ".join(sorted(columns)) or "none"


def _arithmetic(node: ast.expr, table: Mapping[str, Floats]) -> Floats:
    match node:
        case ast.Constant(value):
            # An array, not a Python number: 9**9**9 and 1/0 then give inf and √−1 gives NaN, none of them an exception.
            return np.asarray(value, dtype=np.float64)
        case ast.Name(name):
            return table[name]
        case ast.UnaryOp(_, inner):
            return -_arithmetic(inner, table)
        case ast.BinOp(left, op, right):
            return _OPERATIONS[type(op)](_arithmetic(left, table), _arithmetic(right, table))
        case ast.Call(ast.Name(name), [inner], _):
            return _FUNCTIONS[name](_arithmetic(inner, table))
    raise AssertionError(ast.dump(node))
