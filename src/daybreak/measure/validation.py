"""How well a law predicts rows it was not fitted on: rival laws compared, and extrapolation from small to large."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from daybreak._types import ArrayLike, Bools, Floats
from daybreak.errors import RequestError
from daybreak.measure import _table
from daybreak.measure.fit import fit_law
from daybreak.measure.law import Law

_FOLDS = 10
_LEAST_SCATTER = 1e-12  # of a law through every point, whose likelihood is infinite


@final
@dataclass(frozen=True)
class Rival:
    """A law and its scores beside those of others on the same table. Smaller is better in all three.

    Args:
        law: fitted to all rows.
        aic: Akaike's criterion, 2 · unknowns − 2 log-likelihood of log y.
        bic: Schwarz's criterion, log(rows) · unknowns − 2 log-likelihood.
        error: root mean square of log(measured/predicted) at configurations left out of the fit; 0.1 is about 10 %.
    """

    law: Law
    aic: float
    bic: float
    error: float


@final
@dataclass(frozen=True)
class Extrapolation:
    """A law fitted on small settings, and its errors on large ones.

    Args:
        law: fitted to rows where the column is at most `boundary`.
        boundary: largest value of the column that was fitted.
        rows: number of rows predicted.
        bias: geometric mean of predicted over measured; above 1 if the law predicts too long.
        error: root mean square of log(measured/predicted).
        covered: fraction of rows inside the law's 95 % prediction interval.
    """

    law: Law
    boundary: float
    rows: int
    bias: float
    error: float
    covered: float


def compare_laws(
    forms: Sequence[str],
    table: Mapping[str, ArrayLike],
    *,
    y: str = "plateau",
    censored: str | None = None,
    cluster: str | Sequence[str] | None = None,
) -> tuple[Rival, ...]:
    """Fit several forms to one table and order them by the error at configurations left out, best first.

    Each of ten folds of configurations (fewer if there are fewer configurations) is predicted from the others. The error of a
    censored row is how far the prediction falls short of it.

    Args:
        forms: at least two, such as `C * d**a * T**b` and `C * (sqrt(d) * T)**a`.
        table: columns by name, one row per measurement.
        y: name of the measured column.
        censored: name of a column that is true where the plateau did not end.
        cluster: column or columns that name a configuration; by default, all columns that the forms use.

    Example:
        >>> import numpy as np
        >>> T = np.repeat([64, 128, 256, 512], 3); d = np.tile([16, 32, 64], 4)
        >>> table = {"T": T, "d": d, "plateau": 3 * d**0.5 * T * np.exp(0.01 * np.cos(7 * T + d))}
        >>> [rival.law.form for rival in compare_laws(["C * T**b", "C * d**a * T**b"], table)]
        ['C * d**a * T**b', 'C * T**b']
    """
    if isinstance(forms, str) or len(forms) < 2:
        raise RequestError(f"forms = {forms!r} is not allowed: give at least two laws to compare.")
    columns = _table.arrays(table)
    laws = [fit_law(form, table, y=y, censored=censored) for form in forms]
    names = sorted({name for law in laws for name in law.ranges}) if cluster is None else cluster
    fold = _folds(_table.configurations(columns, names))
    flags = _table.flags(columns, censored, fold.size)
    rivals = []
    for law in laws:
        errors = np.empty(fold.size)
        for one in range(fold.max() + 1):
            rest, out = _rows(columns, fold != one), _rows(columns, fold == one)
            trained = fit_law(law.form, rest, y=y, censored=censored)
            errors[fold == one] = _log_errors(trained, out, y, flags[fold == one])
        rivals.append(_rival(law, flags, errors))
    return tuple(sorted(rivals, key=lambda rival: rival.error))


def extrapolation_test(
    form: str,
    table: Mapping[str, ArrayLike],
    *,
    by: str,
    boundary: float | None = None,
    y: str = "plateau",
    censored: str | None = None,
) -> Extrapolation:
    """Fit a law where a column is small, predict where it is large: does the law hold beyond its data?

    The error of a censored row among the large is how far the prediction falls short of it.

    Args:
        form: such as `C * d**a * T**b`.
        table: columns by name, one row per measurement.
        by: column that separates small from large.
        boundary: largest value that counts as small; by default the median of its distinct values.
        y: name of the measured column.
        censored: name of a column that is true where the plateau did not end.

    Example:
        >>> import numpy as np
        >>> T = np.array([16, 32, 64, 128, 256, 512])
        >>> test = extrapolation_test("C * T**b", {"T": T, "plateau": 2 * T + 10}, by="T")
        >>> test.rows, round(test.bias, 2)
        (3, 0.86)
    """
    columns = _table.arrays(table)
    size = _table.numbers(columns, by)
    edge = float(np.quantile(np.unique(size), 0.5, method="lower")) if boundary is None else float(boundary)
    small = size <= edge
    if not small.any() or small.all():
        raise RequestError(
            f"boundary = {edge:g} is not allowed: {by!r} goes from {size.min():g} to {size.max():g}, "
            "and there must be rows on both sides."
        )
    law = fit_law(form, _rows(columns, small), y=y, censored=censored)
    large = _rows(columns, ~small)
    flags = _table.flags(columns, censored, size.size)[~small]
    errors = _log_errors(law, large, y, flags)
    low, high = law.predict_interval(large)
    measured = _table.positive(large, y)
    inside = (measured <= high) & (flags | (measured >= low))
    return Extrapolation(
        law=law,
        boundary=float(size[small].max()),
        rows=int((~small).sum()),
        bias=float(np.exp(-errors.mean())),
        error=float(np.sqrt(np.mean(errors**2))),
        covered=float(inside.mean()),
    )


def _rows(columns: Mapping[str, NDArray], rows: Bools) -> dict[str, NDArray]:
    return {name: x[rows] for name, x in columns.items()}


def _folds(configuration: _table.Integers) -> _table.Integers:
    """Assign configurations to folds at random, with a fixed seed, independent of the order of the rows."""
    groups = int(configuration.max()) + 1
    fold = np.random.default_rng(0).permutation(groups) % min(_FOLDS, groups)
    return fold[configuration]


def _log_errors(law: Law, table: Mapping[str, NDArray], y: str, censored: Bools) -> Floats:
    errors = np.log(_table.positive(table, y) / law.predict(table))
    return np.where(censored, np.maximum(errors, 0.0), errors)


def _rival(law: Law, censored: Bools, errors: Floats) -> Rival:
    unknowns = len(law.coefficients) + 1  # the scatter is one too
    measured = int((~censored).sum())
    # The scatter of a law allows for its unknowns; the likelihood is at its maximum without that.
    scatter = max(law.scatter * np.sqrt((measured - unknowns + 1) / measured), _LEAST_SCATTER)
    v = -law.residuals / scatter
    rows = np.where(censored, special.log_ndtr(v), -0.5 * v**2 - 0.5 * np.log(2 * np.pi) - np.log(scatter))
    likelihood = float(rows.sum())
    return Rival(
        law=law,
        aic=2 * unknowns - 2 * likelihood,
        bic=float(np.log(rows.size)) * unknowns - 2 * likelihood,
        error=float(np.sqrt(np.mean(errors**2))),
    )
