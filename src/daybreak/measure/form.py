"""The form of a law, written as people write it: `C * d**a * (T/B)**b`. Parsed, never evaluated as code.

A form is a product of a constant and of powers. In a power, a base is any arithmetic of columns (`T/B`,
`sqrt(p**2*d + (1-p)**2)`) and an exponent is either a number or a name that is not a column: an exponent to be fitted.
The same name twice is one shared exponent.
"""

import ast
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from daybreak._types import Floats
from daybreak.errors import RequestError

_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp}
_LONGEST = 500


@final
@dataclass(frozen=True)
class Form:
    """A law's form: log y = log C + Σ exponent · log base + Σ fixed power · log base."""

    text: str
    constant: str
    exponents: tuple[str, ...]
    powers: tuple[tuple[ast.expr, str | float, float], ...]  # base, exponent (fitted or fixed), sign

    def design(self, table: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Columns of the linear regression on logs, one per fitted exponent, and the offset of fixed powers."""
        rows = len(next(iter(table.values()))) if table else 0
        columns, offset = np.zeros((rows, len(self.exponents))), np.zeros(rows)
        for base, exponent, sign in self.powers:
            values = np.broadcast_to(np.asarray(_arithmetic(base, table), dtype=np.float64), (rows,))
            if np.any(~(values > 0)):
                raise RequestError(
                    f"law {self.text!r} cannot be fitted: {ast.unparse(base)} is not positive in every row."
                )
            if isinstance(exponent, str):
                columns[:, self.exponents.index(exponent)] += sign * np.log(values)
            else:
                offset += sign * exponent * np.log(values)
        return columns, offset


def parse(text: str, columns: frozenset[str]) -> Form:
    """Read a law such as `C * d**a * (T/B)**b` over the given columns.

    Example:
        >>> parse("C * d**a * (T/B)**b", frozenset({"T", "d", "B"})).exponents
        ('a', 'b')
    """
    if len(text) > _LONGEST:
        raise RequestError(f"law of {len(text)} characters is too long: at most {_LONGEST} are allowed.")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RequestError(
            f"law {text!r} cannot be read: write a product of powers, such as 'C * d**a * (T/B)**b'."
        ) from None
    constants: list[str] = []
    powers: list[tuple[ast.expr, str | float, float]] = []
    for factor, sign in _factors(tree, 1.0):
        match factor:
            case ast.Name(name) if name not in columns and sign > 0:
                constants.append(name)
            case ast.BinOp(base, ast.Pow(), exponent):
                inner, read = _exponent(exponent, columns, text)
                powers.append((base, read, sign * inner))
            case _:
                powers.append((factor, 1.0, sign))
    for base, _, _ in powers:
        _check_base(base, columns, text)
    if len(constants) != 1:
        raise RequestError(f"law {text!r} must have exactly one constant factor, such as the C in 'C * d**a'.")
    exponents = tuple(dict.fromkeys(e for _, e, _ in powers if isinstance(e, str)))
    return Form(text, constants[0], exponents, tuple(powers))


def _factors(node: ast.expr, sign: float):
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            yield from _factors(left, sign)
            yield from _factors(right, sign)
        case ast.BinOp(left, ast.Div(), right):
            yield from _factors(left, sign)
            yield from _factors(right, -sign)
        case _:
            yield node, sign


def _exponent(node: ast.expr, columns: frozenset[str], text: str) -> tuple[float, str | float]:
    match node:
        case ast.UnaryOp(ast.USub(), inner):
            sign, read = _exponent(inner, columns, text)
            return -sign, read
        case ast.Name(name) if name not in columns:
            return 1.0, name
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            return 1.0, float(value)
    raise RequestError(f"law {text!r} cannot be fitted: the exponent {ast.unparse(node)!r} must be a name or a number.")


def _check_base(node: ast.expr, columns: frozenset[str], text: str) -> None:
    match node:
        case ast.Constant(int() | float()):
            return None
        case ast.Name(name):
            if name not in columns:
                known = ", ".join(sorted(columns))
                raise RequestError(f"law {text!r} names {name!r}, which is no column: there are {known}.")
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


def _arithmetic(node: ast.expr, table: Mapping[str, Floats]):
    match node:
        case ast.Constant(value):
            return float(value)  # type: ignore[arg-type]
        case ast.Name(name):
            return table[name]
        case ast.UnaryOp(_, inner):
            return -_arithmetic(inner, table)
        case ast.BinOp(left, op, right):
            return _OPERATIONS[type(op)](_arithmetic(left, table), _arithmetic(right, table))
        case ast.Call(ast.Name(name), [inner], _):
            return _FUNCTIONS[name](_arithmetic(inner, table))
    raise AssertionError(ast.dump(node))
