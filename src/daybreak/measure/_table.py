"""Tables of measurements: columns of equal length, checked, and rows that share a configuration."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from daybreak._types import ArrayLike, Bools, Floats
from daybreak.errors import RequestError

Integers = NDArray[np.integer]


def arrays(table: Mapping[str, ArrayLike]) -> dict[str, NDArray]:
    """The columns of a table as arrays of one length."""
    try:  # an Arrow table iterates over its columns, not over their names
        columns = {name: np.asarray(table[name]) for name in getattr(table, "column_names", table)}
    except (TypeError, IndexError, KeyError):
        raise RequestError(
            f"a table of type {type(table).__name__} is not allowed: give columns by name, such as {{'T': [8, 16], 'plateau': [90, 180]}}."
        ) from None
    for name, x in columns.items():
        if x.ndim != 1:
            raise RequestError(f"column {name!r} of shape {x.shape} is not allowed: it must be a plain list.")
    sizes = {x.size for x in columns.values()}
    if len(sizes) != 1 or 0 in sizes:
        raise RequestError("the table is not allowed: its columns must have the same length, and at least one row.")
    return columns


def numeric(columns: Mapping[str, NDArray]) -> frozenset[str]:
    """Names of the columns of numbers; columns of text only name the run."""
    return frozenset(name for name, x in columns.items() if x.dtype.kind in "iufb")


def numbers(columns: Mapping[str, NDArray], name: str) -> Floats:
    """A column of finite numbers."""
    if name not in numeric(columns):
        wrong = "does not hold numbers" if name in columns else "is missing"
        names = ", ".join(sorted(numeric(columns))) or "none"
        raise RequestError(f"column {name!r} {wrong}: the columns of numbers are {names}.")
    x = columns[name].astype(np.float64)
    if not np.all(np.isfinite(x)):
        row = int(np.flatnonzero(~np.isfinite(x))[0])
        raise RequestError(f"column {name!r} has {x[row]} in row {row}: only finite numbers are allowed.")
    return x


def positive(columns: Mapping[str, NDArray], name: str) -> Floats:
    """A column of positive numbers."""
    x = numbers(columns, name)
    if np.any(x <= 0):
        row = int(np.flatnonzero(x <= 0)[0])
        raise RequestError(
            f"column {name!r} has {x[row]:g} in row {row}: a power law can only be fitted to positive values."
        )
    return x


def flags(columns: Mapping[str, NDArray], name: str | None, rows: int) -> Bools:
    """A column of True and False; all False if none is named."""
    if name is None:
        return np.zeros(rows, dtype=np.bool_)
    x = numbers(columns, name)
    if not np.all((x == 0) | (x == 1)):
        raise RequestError(f"column {name!r} is not allowed as censored: it must hold only True and False.")
    return x == 1


def configurations(columns: Mapping[str, NDArray], names: str | Sequence[str]) -> Integers:
    """The number of each row's configuration: rows that agree in all named columns share one."""
    keys = [names] if isinstance(names, str) else list(names)
    for name in keys:
        if name not in columns:
            raise RequestError(f"cluster column {name!r} is missing: the table has {', '.join(sorted(columns))}.")
    codes = [np.unique(columns[name], return_inverse=True)[1] for name in keys]
    return np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1)
