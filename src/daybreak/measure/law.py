"""Power laws of plateau lengths: a fitted law, what it predicts, and with which uncertainty."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

import numpy as np
from scipy import special

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _table
from daybreak.measure.form import parse

Method = Literal["ols", "huber", "tobit"]


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@final
@dataclass(frozen=True)
class Beyond:
    """A setting outside of the range that a law was fitted on, and by which factor."""

    name: str
    value: float
    edge: float

    @property
    def factor(self) -> float:
        """How far beyond the edge, above 1."""
        return max(self.value / self.edge, self.edge / self.value)

    def __str__(self) -> str:
        side = "largest" if self.value > self.edge else "smallest"
        return (
            f"{self.name} = {self.value:.10g} is {self.factor:,.1f} times beyond the {side} measured, {self.edge:.10g}"
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"name": self.name, "value": self.value, "edge": self.edge, "factor": self.factor}


@final
@dataclass(frozen=True)
class Law:
    """A fitted product of powers.

    Args:
        form: what was fitted, as written.
        coefficients: the constant and each exponent by name.
        intervals: their 95 % confidence intervals, of the kind that `fit_law` describes.
        r2: fraction of the variance of log plateau that the law explains.
        rows: number of measurements fitted.
        ranges: smallest and largest value of each column that the law was fitted on.
        method: how it was fitted.
        censored: how many of the rows were censored.
        scatter: standard deviation of log plateau around the law.
        freedom: degrees of freedom of the intervals.
        covariance: of log C and the exponents.
        residuals: log of measured over predicted, row by row; at a censored row, what it would be if it ended there.
    """

    form: str
    coefficients: dict[str, float]
    intervals: dict[str, Interval]
    r2: float
    rows: int
    ranges: dict[str, tuple[float, float]]
    method: Method | Literal["transfer"]
    censored: int
    scatter: float
    freedom: float
    covariance: Floats = field(compare=False, repr=False)
    residuals: Floats = field(compare=False, repr=False)

    @property
    def formula(self) -> str:
        """The form with the fitted numbers in their places: `1.56 * d**0.502 * T**0.973`."""
        names = "|".join(re.escape(name) for name in self.coefficients)
        return re.sub(rf"\b({names})\b", lambda match: f"{self.coefficients[match[0]]:.3g}", self.form)

    def predict(self, table: Mapping[str, ArrayLike] | None = None, /, **columns: ArrayLike) -> Floats:
        """Plateau lengths that the law gives at the rows of a table, or at columns by name, which may be single numbers.

        Example:
            >>> from daybreak.measure import fit_law
            >>> law = fit_law("C * T**b", {"T": [8, 16, 32], "plateau": [24, 48, 96]})
            >>> print(law.predict(T=128).round(), law.predict(T=[64, 128]).round(), law.predict({"T": [64]}).round())
            384.0 [192. 384.] [192.]
        """
        if table is not None and columns:
            raise RequestError("predict takes a table or columns by name, not both.")
        if table is not None or not columns:
            return evaluate(self.form, self.coefficients, table or {"one": [1.0]})
        try:
            broadcast = dict(zip(columns, np.broadcast_arrays(*columns.values()), strict=True))
        except ValueError:
            raise RequestError(
                "the columns are not allowed: they must be numbers or lists of the same length."
            ) from None
        shape = next(iter(broadcast.values())).shape
        flat = {name: np.ravel(x) for name, x in broadcast.items()}
        return evaluate(self.form, self.coefficients, flat).reshape(shape)[()]

    def predict_interval(self, table: Mapping[str, ArrayLike]) -> tuple[Floats, Floats]:
        """Where 95 % of new runs at the rows of a table should end their plateau: lower and upper ends.

        Student's t on logs, from the scatter of runs around the law and the uncertainty of the law itself. It does
        not cover a law that bends outside the `ranges` it was fitted on.

        Example:
            >>> from daybreak.measure import fit_law
            >>> law = fit_law("C * T**b", {"T": [8, 16, 32, 64], "plateau": [25, 47, 95, 193]})
            >>> low, high = law.predict_interval({"T": [128]})
            >>> print(low.round(), law.predict({"T": [128]}).round(), high.round())
            [308.] [376.] [460.]
        """
        margin = special.stdtrit(self.freedom, 0.975) * self._deviation(table)
        center = np.log(self.predict(table))
        return np.exp(center - margin), np.exp(np.minimum(center + margin, 700.0))

    def prior(self, table: Mapping[str, ArrayLike]) -> tuple[Floats, Floats]:
        """Prediction for a new run at each row of a table, in the form of `forecast`: median, spread of the log.

        The spread is that of the normal distribution with the same 80 % interval as Student's t.

        Example:
            >>> from daybreak.measure import fit_law
            >>> law = fit_law("C * T**b", {"T": [8, 16, 32, 64], "plateau": [25, 47, 95, 193]})
            >>> median, spread = law.prior({"T": [128]})
            >>> f"{median[0]:.0f}, give or take {spread[0]:.0%}"
            '376, give or take 7%'
        """
        ratio = special.stdtrit(self.freedom, 0.9) / special.ndtri(0.9)
        return self.predict(table), ratio * self._deviation(table)

    def beyond(self, setting: Mapping[str, float]) -> tuple[Beyond, ...]:
        """Which numbers of a setting lie outside of the range that the law was fitted on.

        Example:
            >>> from daybreak.measure import fit_law
            >>> law = fit_law("C * T**b", {"T": [8, 16, 32, 64], "plateau": [25, 47, 95, 193]})
            >>> print(*law.beyond({"T": 256}))
            T = 256 is 4.0 times beyond the largest measured, 64
        """
        edges = {x: float(np.clip(setting[x], *ends)) for x, ends in self.ranges.items() if x in setting}
        return tuple(Beyond(x, float(setting[x]), edge) for x, edge in edges.items() if edge != setting[x])

    def _deviation(self, table: Mapping[str, ArrayLike]) -> Floats:
        """Standard deviation of the log of a new run: its scatter around the law, and the law's own uncertainty."""
        columns = _table.arrays(table)
        design, _ = parse(self.form, _table.numeric(columns) - self.coefficients.keys()).design(columns)
        return np.sqrt(self.scatter**2 + np.einsum("ri,ij,rj->r", design, self.covariance, design))

    def __str__(self) -> str:
        parts = (
            f"{n} = {v:.3g} [{self.intervals[n].low:.3g}, {self.intervals[n].high:.3g}]"
            for n, v in self.coefficients.items()
        )
        censored = f", {self.censored} censored" if self.censored else ""
        return f"{self.form}: {', '.join(parts)}; R² = {self.r2:.4f} on {self.rows} rows{censored}"

    def as_json(self) -> dict[str, Any]:
        """The law as plain data.

        Example:
            >>> from daybreak.measure import fit_law
            >>> law = fit_law("C * T**b", {"T": [8, 16, 32, 64], "plateau": [25, 47, 95, 193]})
            >>> data = law.as_json()
            >>> data["formula"], data["rows"], data["ranges"]
            ('3.14 * T**0.986', 4, {'T': [8.0, 64.0]})
        """
        return {
            "form": self.form,
            "formula": self.formula,
            "coefficients": self.coefficients,
            "intervals": {name: list(x) for name, x in self.intervals.items()},
            "r2": self.r2,
            "rows": self.rows,
            "ranges": {name: list(x) for name, x in self.ranges.items()},
            "method": self.method,
            "censored": self.censored,
            "scatter": self.scatter,
        }


def evaluate(form: str, coefficients: Mapping[str, float], table: Mapping[str, ArrayLike]) -> Floats:
    """Value of a law with given coefficients, such as a published one, at the rows of a table.

    Example:
        >>> evaluate("C * T**b", {"C": 2.0, "b": 1.0}, {"T": [10, 20]}).round(9).tolist()
        [20.0, 40.0]
    """
    columns = _table.arrays(table)
    # A column of the same name as a coefficient is not what the law was fitted with.
    parsed = parse(form, _table.numeric(columns) - coefficients.keys())
    missing = {parsed.constant, *parsed.exponents} - coefficients.keys()
    if missing:
        raise RequestError(
            f"law {form!r} cannot be evaluated: {', '.join(sorted(missing))} is neither column nor coefficient."
        )
    design, offset = parsed.design(columns)
    exponents = np.array([coefficients[name] for name in parsed.exponents])
    with np.errstate(over="ignore"):
        values = coefficients[parsed.constant] * np.exp(design[:, 1:] @ exponents + offset)
    if not np.all(np.isfinite(values)):
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise RequestError(f"law {form!r} cannot be evaluated at row {row}: its value there is not a finite number.")
    return values
