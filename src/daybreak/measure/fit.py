"""Fit a law to a table of measurements: least squares, robust, or censored maximum likelihood, all on logs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from daybreak._types import ArrayLike, Bools, Floats
from daybreak.errors import RequestError
from daybreak.measure import _bootstrap, _check, _huber, _least_squares, _table, _tobit
from daybreak.measure._estimate import Estimate
from daybreak.measure.form import Form, parse
from daybreak.measure.law import Interval, Law, Method

_DRAWS = 1000
_FEWEST_DRAWS = 100


class Problem(NamedTuple):
    """log y = design @ parameters + offset + noise, or above log y where censored."""

    form: Form
    design: Floats
    target: Floats  # log y − offset
    offset: Floats
    censored: Bools

    @property
    def names(self) -> tuple[str, ...]:
        """The constant and the exponents."""
        return (self.form.constant, *self.form.exponents)


def fit_law(
    form: str,
    table: Mapping[str, ArrayLike],
    *,
    y: str = "plateau",
    censored: str | None = None,
    method: Method | None = None,
    cluster: str | Sequence[str] | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
) -> Law:
    """Fit a product of powers on logs: log y = log C + Σ exponent · log base (paper A, D.2).

    Methods: `ols` is ordinary least squares, as in the paper; `huber` is least squares that a few outliers cannot move;
    `tobit` is maximum likelihood that counts a censored row as "longer than this" (dropping such rows biases
    exponents towards short plateaus).

    Intervals cover the truth in 95 % of experiments if log y scatters normally and evenly about the law: by Student's
    t on the rows (`ols`: exact; `huber`: Huber 1981; `tobit`: observed information, with the degrees of freedom of the
    measured rows). Rows that share a configuration are not independent: name it in `cluster`, and intervals come
    from a cluster bootstrap over configurations: estimate ± Student's t (measured configurations − 1) × standard deviation of
    the draws.
    Measured on planted laws (tests/measure/test_fit.py): 94-97 % from 25 configurations on, up to 98 % (too wide) with fewer.

    R² of `tobit` is that of the plateau behind the censoring: variance of the law over that plus scatter².

    Args:
        form: such as `C * d**a * (T/B)**b`; see `daybreak.measure.form`.
        table: columns by name, one row per measurement.
        y: name of the measured column; at a censored row, how long the run was watched.
        censored: name of a column that is true where the plateau did not end.
        method: `ols`, `huber` or `tobit`; by default `tobit` if a censored column is given, otherwise `ols`.
        cluster: column or columns that name a configuration.
        bootstrap: number of draws of configurations, at least 100; by default 1000 with `cluster`, otherwise none.
        seed: of the draws.

    Example:
        >>> import numpy as np
        >>> T = np.array([64, 128, 256, 512]); d = np.array([16, 64, 16, 64])
        >>> law = fit_law("C * d**a * T**b", {"T": T, "d": d, "plateau": 3 * d**0.5 * T})
        >>> {name: round(x, 6) for name, x in law.coefficients.items()}
        {'C': 3.0, 'a': 0.5, 'b': 1.0}
    """
    columns = _table.arrays(table)
    problem = read_problem(form, columns, y, censored)
    chosen: Method = ("ols" if censored is None else "tobit") if method is None else method
    draws = _draws(bootstrap, cluster)
    _check_method(chosen, problem)
    _check_identified(problem)
    estimate = _ESTIMATORS[chosen](problem)
    if draws:
        rows = np.arange(problem.target.size)
        configuration = rows if cluster is None else _table.configurations(columns, cluster)
        measured = _measured_configurations(problem, configuration)
        refit = partial(_refit, chosen, problem, estimate)
        estimate = _bootstrap.resample(estimate, refit, configuration, draws, _check.whole("seed", seed, 0), measured)
    return as_law(problem, columns, estimate, chosen)


_ESTIMATORS: dict[Method, Callable[[Problem], Estimate]] = {
    "ols": lambda problem: _least_squares.fit(problem.design, problem.target),
    "huber": lambda problem: _huber.fit(problem.design, problem.target),
    "tobit": lambda problem: _tobit.fit(problem.design, problem.target, problem.censored),
}


def _refit(method: Method, problem: Problem, near: Estimate, weights: Floats) -> Floats:
    if method == "huber":
        return _huber.refit(problem.design, problem.target, weights, near)
    if method == "tobit" and problem.censored.any():
        return _tobit.refit(problem.design, problem.target, problem.censored, weights, near)
    return _least_squares.refit(problem.design, problem.target, weights)


def read_problem(form: str, columns: Mapping[str, NDArray], y: str, censored: str | None) -> Problem:
    """The regression on logs that a law is, over a table."""
    measured = _table.positive(columns, y)
    parsed = parse(form, _table.numeric(columns) - {y})
    if y in (parsed.constant, *parsed.exponents):
        raise RequestError(f"law {form!r} names {y!r}, which is what it is to predict: choose another name.")
    design, offset = parsed.design(columns)
    return Problem(parsed, design, np.log(measured) - offset, offset, _table.flags(columns, censored, measured.size))


def _draws(bootstrap: int | None, cluster: str | Sequence[str] | None) -> int:
    if bootstrap is None:
        return 0 if cluster is None else _DRAWS
    return _check.whole("bootstrap", bootstrap, _FEWEST_DRAWS)


def _check_method(method: Method, problem: Problem) -> None:
    if method not in _ESTIMATORS:
        raise RequestError(f"method = {method!r} is unknown: choose 'ols', 'huber' or 'tobit'.")
    count = int(problem.censored.sum())
    if method != "tobit" and count:
        raise RequestError(
            f"method = {method!r} cannot count the {count} censored rows: choose 'tobit', or leave them out."
        )
    if count == problem.censored.size:
        raise RequestError(f"law {problem.form.text!r} cannot be fitted: all {count} rows are censored.")


def _check_identified(problem: Problem) -> None:
    """Measured rows alone must identify the law; censored ones bound an exponent from one side only."""
    design = problem.design[~problem.censored]
    rows, unknowns = design.shape
    which = "measured rows" if problem.censored.any() else "rows"
    if rows <= unknowns:
        raise RequestError(
            f"law {problem.form.text!r} has {unknowns} unknowns and needs more {which} than that, but there are {rows}."
        )
    lost = []
    for i, name in enumerate(problem.names):
        others = np.delete(design, i, axis=1)
        left = design[:, i] - others @ np.linalg.lstsq(others, design[:, i])[0]
        if i and np.linalg.norm(left) <= 1e-9 * max(np.linalg.norm(design[:, i]), 1.0):
            lost.append(repr(name))
    if lost:
        raise RequestError(
            f"exponent {' and '.join(lost)} cannot be identified: in the {which} of this table, "
            "its factor does not vary independently of the others."
        )


def _measured_configurations(problem: Problem, configuration: NDArray) -> int:
    groups, unknowns = np.unique(configuration[~problem.censored]).size, len(problem.names)
    if groups <= unknowns:
        raise RequestError(
            f"cluster leaves {groups} configurations with measured rows: law {problem.form.text!r} has {unknowns} unknowns "
            "and needs more configurations than that."
        )
    return groups


def as_law(
    problem: Problem, columns: Mapping[str, NDArray], estimate: Estimate, method: Method | Literal["transfer"]
) -> Law:
    """An estimate as a law with intervals."""
    margin = special.stdtrit(estimate.freedom, 0.975) * np.sqrt(np.diag(estimate.covariance))
    ends = np.array([estimate.parameters, estimate.parameters - margin, estimate.parameters + margin])
    ends[:, 0] = np.exp(np.clip(ends[:, 0], -700, 700))  # the fit is on log C, whose interval may be very wide
    fitted = problem.design @ estimate.parameters
    residuals = problem.target - fitted
    return Law(
        form=problem.form.text,
        coefficients=dict(zip(problem.names, ends[0].tolist(), strict=True)),
        intervals={name: Interval(*x) for name, x in zip(problem.names, ends[1:].T.tolist(), strict=True)},
        r2=_r2(fitted + problem.offset, residuals, estimate.scatter, problem.censored),
        rows=residuals.size,
        ranges={x: (float(columns[x].min()), float(columns[x].max())) for x in problem.form.columns},
        method=method,
        censored=int(problem.censored.sum()),
        scatter=estimate.scatter,
        freedom=float(estimate.freedom),
        covariance=estimate.covariance,
        residuals=residuals,
    )


def _r2(fitted: Floats, residuals: Floats, scatter: float, censored: Bools) -> float:
    if censored.any():
        explained = np.var(fitted)  # McKelvey and Zavoina (1975): censored rows have no residual to square
        return float(explained / (explained + scatter**2)) if explained else 0.0
    total = np.var(fitted + residuals)
    return float(1 - np.mean(residuals**2) / total) if total else 0.0
