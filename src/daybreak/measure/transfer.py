"""What the law of a few runs predicts for another run, with exponents that are partly known beforehand.

    log y = log C + Σ exponent · log base + misfit of the configuration + noise of the seed

A few runs determine neither exponents nor scatter. So exponents start at known values, such as those of a paper, with a standard
deviation each, and the runs move them as far as they determine them; C is free. The scatter starts at that of many networks with
the weight of a few runs, and intervals are Student's t. With many runs the result is that of `fit_law`. Bayesian linear
regression; a censored run counts as "longer than this", by expectation and maximisation (Dempster, Laird, Rubin 1977).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy import special
from typing_extensions import TypeAliasType

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _table
from daybreak.measure._estimate import Estimate
from daybreak.measure.fit import Problem, as_law, read_problem
from daybreak.measure.law import Beyond, Interval, Law

# Chosen on networks of paper A (`python benchmarks/few_runs.py`): seeds of a configuration scatter by 3 to 12 %, and configurations
# around their law by somewhat less.
_SCATTER = 0.1
_WEIGHT = 4.0  # number of runs that this value counts for
_SHARED = 0.2  # fraction of the variance that runs of one configuration share
_BEND = 0.1  # standard deviation of log y for each e-fold beyond the runs: a law bends where it was not measured
_ROUNDS, _DONE = 200, 1e-5


class Known(NamedTuple):
    """An exponent that is known before a fit, and the standard deviation of that knowledge.

    Example:
        >>> paper = {"b": Known(0.8, 0.4)}  # the exponent of T in paper A, and how far ours may be from it
        >>> paper["b"].value
        0.8
    """

    value: float
    deviation: float


Exponents = TypeAliasType("Exponents", Mapping[str, Known])
"""What is known about exponents, by their letter in the form."""


@final
@dataclass(frozen=True)
class Transfer:
    """The prediction of a law for a run that it was not fitted to.

    Args:
        law: of the other runs.
        median: predicted plateau.
        spread: standard deviation of the log: of the normal distribution with the same 80 % interval.
        beyond: columns of the run outside of the range of the others.
    """

    law: Law
    median: float
    spread: float
    beyond: tuple[Beyond, ...]

    def interval(self, covered: float = 0.8) -> Interval:
        """Where the plateau lies with a probability, by Student's t.

        Example:
            >>> runs = {"T": [16, 16], "plateau": [300.0, 320.0], "censored": [False, False], "configuration": [0, 0]}
            >>> low, high = transfer("C * T**b", runs, {"T": 32.0}, {"b": Known(0.8, 0.4)}).interval(0.95)
            >>> low < 300 * 2**0.8 < high
            True
        """
        deviation = self.spread * special.ndtri(0.9) / special.stdtrit(self.law.freedom, 0.9)
        margin = special.stdtrit(self.law.freedom, (1 + covered) / 2) * deviation
        return Interval(self.median * float(np.exp(-margin)), self.median * float(np.exp(min(margin, 700.0))))


def transfer(
    form: str, table: Mapping[str, ArrayLike], run: Mapping[str, float], known: Exponents | None = None
) -> Transfer:
    """Predict the plateau of a run by the law of others.

    Args:
        form: of the law.
        table: of the other runs: the law's columns, `plateau`, `censored` and `configuration`.
        run: the law's columns of the run to predict.
        known: exponents that are known beforehand. The others must follow from the table.

    Example:
        >>> runs = {"T": [16, 16], "plateau": [300.0, 320.0], "censored": [False, False], "configuration": [0, 0]}
        >>> there = transfer("C * T**b", runs, {"T": 32.0}, {"b": Known(0.8, 0.4)})
        >>> f"{there.median:.0f}, {there.spread:.2f}, {there.beyond[0]}"
        '539, 0.36, T = 32 is 2.0 times beyond the largest measured, 16'
    """
    columns = _table.arrays(table)
    problem = read_problem(form, columns, "plateau", "censored")
    mean, precision = _beliefs(problem, known or {})
    _check(problem, precision)
    configuration = _table.configurations(columns, "configuration")
    estimate, filled = _estimate(problem, configuration, mean, precision)
    law = as_law(problem, columns, estimate, "transfer")
    row = {name: np.array([run[name]], np.float64) for name in problem.form.columns}
    design, offset = problem.form.design(row or {"one": np.ones(1)})
    own = np.all([columns[name] == run[name] for name in row], axis=0) & np.ones(filled.size, np.bool_)
    # Runs of the same configuration have shown how far it lies from the law.
    weight = own.sum() * _SHARED / (1 - _SHARED + own.sum() * _SHARED)
    apart = np.mean(filled[own] - problem.design[own] @ estimate.parameters) if own.any() else 0.0
    beyond = law.beyond({name: float(x[0]) for name, x in row.items()})
    variance = estimate.scatter**2 * (1 - _SHARED * weight)
    variance += float(((1 - weight) ** 2 * design @ estimate.covariance @ design.T)[0, 0])
    variance += sum((_BEND * np.log(x.factor)) ** 2 for x in beyond)
    median = float(np.exp((design @ estimate.parameters + offset)[0] + weight * apart))
    ratio = special.stdtrit(estimate.freedom, 0.9) / special.ndtri(0.9)
    return Transfer(law, median, float(ratio * np.sqrt(variance)), beyond)


def _beliefs(problem: Problem, known: Mapping[str, Known]) -> tuple[Floats, Floats]:
    """Mean and precision of each unknown before the runs; of log C, and of what is not known, the precision is 0."""
    beliefs = [known.get(name, Known(0.0, np.inf)) for name in problem.names]
    return np.array([x.value for x in beliefs]), np.array([x.deviation**-2.0 for x in beliefs])


def _check(problem: Problem, precision: Floats) -> None:
    """Refuse what neither the runs that emerged nor earlier knowledge determine."""
    measured = problem.design[~problem.censored]
    if not measured.size:
        raise RequestError(f"none of the {problem.censored.size} runs emerged, so no law can be fitted to them.")
    rows = np.vstack([measured, np.diag(np.sqrt(precision))])
    for i, name in enumerate(problem.form.exponents, 1):
        others = np.delete(rows, i, axis=1)
        left = rows[:, i] - others @ np.linalg.lstsq(others, rows[:, i])[0]
        if np.linalg.norm(left) <= 1e-9 * max(np.linalg.norm(rows[:, i]), 1.0):
            raise RequestError(
                f"exponent {name!r} of law {problem.form.text!r} cannot be fitted: its factor does not vary independently of the "
                f"others among the {len(measured)} runs that emerged."
            )


def _estimate(
    problem: Problem, configuration: _table.Integers, mean: Floats, precision: Floats
) -> tuple[Estimate, Floats]:
    """The most likely law, and the measured logs with censored ones replaced by what the law expects of them."""
    target = problem.target
    design = _whitened(problem.design, configuration)
    scatter, filled, counted = _SCATTER, target, np.ones(target.size)
    parameters, hidden, fitted = mean, 0.0, 0.0
    for _ in range(_ROUNDS):
        before = *parameters, scatter
        inner = np.linalg.inv(design.T @ design / scatter**2 + np.diag(precision))
        response = _whitened(filled[:, None], configuration)[:, 0]
        parameters = inner @ (design.T @ response / scatter**2 + precision * mean)
        left = response - design @ parameters
        fitted = float(np.trace(inner @ design.T @ design)) / scatter**2  # unknowns that the runs determine
        squares = _WEIGHT * _SCATTER**2 + left @ left + hidden
        scatter = float(np.sqrt(squares / (_WEIGHT + target.size - fitted)))
        filled, counted, hidden = _expected(problem, parameters, scatter)
        if np.allclose((*parameters, scatter), before, rtol=0, atol=_DONE):
            break
    weighted = design * counted[:, None]  # a censored row tells less than a measured one
    covariance = np.linalg.inv(weighted.T @ design / scatter**2 + np.diag(precision))
    freedom = _WEIGHT + max(float(counted.sum()) - fitted, 0.0)
    return Estimate(parameters, covariance, scatter, freedom), filled


def _expected(problem: Problem, parameters: Floats, scatter: float) -> tuple[Floats, Floats, float]:
    """Censored logs as the law expects them; how much each row tells, 0 to 1; and the sum of squares that stays hidden."""
    center = problem.design @ parameters
    least = (problem.target - center) / scatter
    hazard = np.exp(-0.5 * least**2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(-least))
    filled = np.where(problem.censored, center + scatter * hazard, problem.target)
    told = np.where(problem.censored, hazard * (hazard - least), 1.0)
    return filled, told, float(scatter**2 * np.sum(1 - told))


def _whitened(x: Floats, configuration: _table.Integers) -> Floats:
    """Rows whose errors are independent: a part of the mean of the configuration is taken out of each."""
    count = np.bincount(configuration)
    means = np.stack([np.bincount(configuration, column) for column in x.T], axis=1) / count[:, None]
    part = 1 - np.sqrt((1 - _SHARED) / (1 - _SHARED + count * _SHARED))
    return (x - (part[:, None] * means)[configuration]) / np.sqrt(1 - _SHARED)
