"""Power laws of plateau lengths: least squares on logs as in paper A (D.2), with intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.measure.form import Form, parse


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@final
@dataclass(frozen=True)
class Law:
    """A fitted product of powers.

    Args:
        form: what was fitted, as written.
        coefficients: the constant and each exponent by name.
        intervals: their 95 % confidence intervals (Student's t on logs).
        r2: share of the variance of log plateau that the law explains.
        rows: number of measurements fitted.
        ranges: smallest and largest value of each column that the law was fitted on.
    """

    form: str
    coefficients: dict[str, float]
    intervals: dict[str, Interval]
    r2: float
    rows: int
    ranges: dict[str, tuple[float, float]]

    def predict(self, table: Mapping[str, ArrayLike]) -> Floats:
        """Plateau lengths that the law gives at the rows of a table."""
        return evaluate(self.form, self.coefficients, table)

    def __str__(self) -> str:
        parts = (
            f"{n} = {v:.3g} [{self.intervals[n].low:.3g}, {self.intervals[n].high:.3g}]"
            for n, v in self.coefficients.items()
        )
        return f"{self.form}: {', '.join(parts)}; R² = {self.r2:.4f} on {self.rows} rows"

    def as_json(self) -> dict[str, Any]:
        """The law as plain data."""
        return {
            "form": self.form,
            "coefficients": self.coefficients,
            "intervals": {name: list(x) for name, x in self.intervals.items()},
            "r2": self.r2,
            "rows": self.rows,
            "ranges": {name: list(x) for name, x in self.ranges.items()},
        }


def fit_law(form: str, table: Mapping[str, ArrayLike], *, y: str = "plateau") -> Law:
    """Fit a product of powers by least squares on logs (paper A, D.2).

    Args:
        form: such as `C * d**a * (T/B)**b`; see `daybreak.measure.form`.
        table: columns by name, one row per measurement.
        y: name of the measured column.

    Example:
        >>> import numpy as np
        >>> T = np.array([64, 128, 256, 512]); d = np.array([16, 64, 16, 64])
        >>> law = fit_law("C * d**a * T**b", {"T": T, "d": d, "plateau": 3 * d**0.5 * T})
        >>> {name: round(x, 6) for name, x in law.coefficients.items()}
        {'C': 3.0, 'a': 0.5, 'b': 1.0}
    """
    columns = _columns(table)
    if y not in columns:
        raise RequestError(f"column {y!r} is missing: the table has {', '.join(sorted(columns))}.")
    parsed = parse(form, frozenset(columns) - {y})
    measured = columns[y]
    if np.any(~(measured > 0)):
        raise RequestError(
            f"column {y!r} has values that are not positive: a power law can only be fitted to positive ones."
        )
    powers, offset = parsed.design(columns)
    design = np.column_stack([np.ones(measured.size), powers])
    names = (parsed.constant, *parsed.exponents)
    _check_identified(design, names, form)
    target = np.log(measured) - offset
    estimate = np.linalg.lstsq(design, target)[0]
    residuals = target - design @ estimate
    freedom = measured.size - len(names)
    variance = residuals @ residuals / freedom
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    total = np.log(measured) - np.log(measured).mean()
    low, high = estimate - reach, estimate + reach
    for x in (estimate, low, high):
        x[0] = np.exp(x[0])
    used = sorted(columns.keys() - {y})
    return Law(
        form=form,
        coefficients=dict(zip(names, estimate.tolist(), strict=True)),
        intervals={n: Interval(*x) for n, x in zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True)},
        r2=float(1 - residuals @ residuals / (total @ total)),
        rows=measured.size,
        ranges={name: (float(columns[name].min()), float(columns[name].max())) for name in used},
    )


def evaluate(form: str, coefficients: Mapping[str, float], table: Mapping[str, ArrayLike]) -> Floats:
    """Value of a law with given coefficients, such as a published one, at the rows of a table.

    Example:
        >>> evaluate("C * T**b", {"C": 2.0, "b": 1.0}, {"T": [10, 20]}).round(9).tolist()
        [20.0, 40.0]
    """
    columns = _columns(table)
    parsed: Form = parse(form, frozenset(columns))
    powers, offset = parsed.design(columns)
    exponents = np.array([coefficients[name] for name in parsed.exponents])
    return coefficients[parsed.constant] * np.exp(powers @ exponents + offset)


def _columns(table: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    columns: dict[str, Floats] = {}
    for name in table:
        x = np.asarray(table[name])
        if x.dtype.kind not in "iufb":
            continue  # text says which run it was; a law is over numbers
        columns[name] = x.astype(np.float64)
        if x.ndim != 1 or not np.all(np.isfinite(columns[name])):
            raise RequestError(f"column {name!r} is not allowed: it must be a plain list of finite numbers.")
    sizes = {x.size for x in columns.values()}
    if len(sizes) != 1 or 0 in sizes:
        raise RequestError("the table is not allowed: its columns must have the same length, and at least one row.")
    return columns


def _check_identified(design: Floats, names: tuple[str, ...], form: str) -> None:
    rows, unknowns = design.shape
    if rows <= unknowns:
        raise RequestError(f"law {form!r} has {unknowns} unknowns and needs more rows than that, but there are {rows}.")
    for i, name in enumerate(names[1:], start=1):
        others = np.delete(design, i, axis=1)
        left = design[:, i] - others @ np.linalg.lstsq(others, design[:, i])[0]
        if np.linalg.norm(left) <= 1e-9 * max(np.linalg.norm(design[:, i]), 1.0):
            raise RequestError(
                f"exponent {name!r} cannot be identified: its factor does not vary independently of the others in this table."
            )
