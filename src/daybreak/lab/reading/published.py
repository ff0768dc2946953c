"""Laws that papers report, as data: to compare with a fitted one, and to suggest a form where none is given.

Paper A is Zucchet, D'Angelo, Lampinen, Chan (2025), arXiv 2505.17863.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from daybreak._types import Floats
from daybreak.measure.form import Form, parse
from daybreak.measure.law import Law, evaluate
from daybreak.measure.transfer import Known

_DOUBT = 0.3
"""Standard deviation of a published exponent for other networks; of one above 1, relative to it. Our exponents differ from the
paper's by 0.24 in the root mean square (`python benchmarks/few_runs.py`), most of them in the same direction."""


@final
@dataclass(frozen=True)
class Published:
    """A law of a paper: a constant and one power for each of some columns.

    Args:
        source: paper and figure.
        form: to fit, as `measure.fit_law` takes it.
        constant: of the product.
        exponents: by column.
        r2: as reported.
        where: values of columns for which it is valid.
    """

    source: str
    form: str
    constant: float
    exponents: Mapping[str, float]
    r2: float
    where: Mapping[str, Any]

    @property
    def formula(self) -> str:
        """The law with its numbers: `0.55 V^0.79 N^2.25`."""
        return " ".join([f"{self.constant:g}", *(f"{name}^{x:g}" for name, x in self.exponents.items())])

    def predict(self, table: Mapping[str, ArrayLike]) -> Floats:
        """Plateau lengths that the law predicts for the rows of a table."""
        form = " * ".join(["C", *(f"{name}**({x})" for name, x in self.exponents.items())])
        return evaluate(form, {"C": self.constant}, {name: table[name] for name in self.exponents})

    def covers(self, table: Mapping[str, ArrayLike]) -> bool:
        """Whether the law is valid for every row of a table."""
        complete = all(name in table for name in (*self.exponents, *self.where))
        return complete and all(np.all(np.asarray(table[name]) == value) for name, value in self.where.items())


_REGRESSION = {"task": "single-location", "model": "transformer", "optimizer": "adam", "p": 0.0}
_LAYOUT = {"layers": 2, "heads": 4, "position": "random", "feature": True}
_ONE_HEAD = {"layers": 1, "heads": 1}

PUBLISHED = (
    Published(
        "paper A, figure 3",
        "C * d**a * (T/B)**b",
        0.76,
        {"d": 1.29, "T": 0.80, "B": -0.80},
        0.995,
        _REGRESSION | _LAYOUT,
    ),
    Published(
        "paper A, figure 4",
        "C * V**a * N**b",
        0.55,
        {"V": 0.79, "N": 2.25},
        0.982,
        {"task": "recall", "model": "transformer", "optimizer": "adam", "B": 1, "p": 0.0},
    ),
    Published(
        "paper A, figure 15",
        "C * d**a * T**b",
        1.45,
        {"d": 1.31, "T": 0.57},
        0.998,
        _REGRESSION | _ONE_HEAD | {"B": 1},
    ),
    Published(
        "paper A, figure 15",
        "C * d**a * T**b",
        6.42,
        {"d": 1.44, "T": 1.07},
        0.997,
        _REGRESSION | _ONE_HEAD | {"B": 1, "optimizer": "sgd"},
    ),
    Published(
        "paper A, figure 14",
        "C * d**a * T**b",
        1.43,
        {"d": 1.31, "T": 0.58},
        0.998,
        _REGRESSION | _LAYOUT | {"B": 1},
    ),
    Published(
        "paper A, figure 14",
        "C * d**a * T**b",
        4.20,
        {"d": 1.22, "T": 0.29},
        0.996,
        _REGRESSION | _LAYOUT | {"B": 1, "position": "fixed"},
    ),
    Published(
        "paper A, figure 14",
        "C * d**a * T**b",
        4.61,
        {"d": 1.21, "T": 0.30},
        0.999,
        _REGRESSION | _LAYOUT | {"B": 1, "position": "fixed", "feature": False},
    ),
    Published(
        "paper A, figure 13",
        "C * d**a * T**b * layers**l * heads**h",
        1.03,
        {"d": 1.27, "T": 0.70, "layers": 0.06, "heads": 0.16},
        0.995,
        _REGRESSION | {"B": 1, "position": "random", "feature": True},
    ),
    Published(
        "paper A, figure 2 left",
        "C * d**a * (T/B)**b",
        1.51,
        {"d": 0.49, "T": 0.99, "B": -0.99},
        0.999,
        {"task": "single-location", "model": "toy", "optimizer": "sgd", "learning_rate": 1.0, "p": 0.0},
    ),
)
"""The most specific first where two cover the same runs."""


def published(table: Mapping[str, ArrayLike]) -> Published | None:
    """The first published law that is valid for every row of a table.

    Example:
        >>> published({"task": ["recall"], "model": ["transformer"], "optimizer": ["adam"], "N": [8], "V": [64],
        ...            "B": [1], "p": [0.0]}).formula
        '0.55 V^0.79 N^2.25'
    """
    return next((law for law in PUBLISHED if law.covers(table)), None)


@final
@dataclass(frozen=True)
class Comparison:
    """A published law compared with a law that was fitted to runs.

    Args:
        coefficients: values of the published law for the coefficients of the fitted one, where both have them.
        ratio: geometric mean of measured plateaus divided by published ones, over the runs that emerged.
    """

    coefficients: dict[str, float]
    ratio: float


def compare(paper: Published, law: Law, runs: Mapping[str, NDArray]) -> Comparison:
    """Compare a published law with one that was fitted to a table of runs."""
    emerged = {name: x[~runs["censored"]] for name, x in runs.items()}
    ratio = np.exp(np.mean(np.log(emerged["plateau"] / paper.predict(emerged))))
    return Comparison(_coefficients(paper, parse(law.form, set(law.ranges)), runs), float(ratio))


def known_exponents(paper: Published, form: str, runs: Mapping[str, NDArray]) -> dict[str, Known]:
    """What a published law says of the exponents of another form, with the doubt that our networks justify."""
    parsed = parse(form, {name for name, x in runs.items() if x.dtype.kind in "iufb"})
    values = _exponents(paper, parsed, runs, absent=np.nan)
    return {name: Known(x, _DOUBT * max(1.0, abs(x))) for name, x in values.items()}


def _coefficients(paper: Published, form: Form, runs: Mapping[str, NDArray]) -> dict[str, float]:
    """The published values of the coefficients of a law; the constant has one if columns that the law does not contain are 1."""
    exponents = _exponents(paper, form, runs)
    absent = [name for name in paper.exponents if name not in form.columns]
    if len(exponents) == len(form.exponents) and all(np.all(runs[name] == 1) for name in absent):
        return exponents | {form.constant: paper.constant}
    return exponents


def _exponents(paper: Published, form: Form, runs: Mapping[str, NDArray], absent: float = 0.0) -> dict[str, float]:
    """The published values of exponents whose base is a product of powers of columns, if all of these give the same value.

    `absent` is the power of a column that the published law does not contain.
    """
    columns = {name: runs[name].astype(np.float64) for name in form.columns}
    start = form.design(columns or {"one": np.ones(1)})[0]
    values: dict[str, set[float]] = {name: set() for name in form.exponents}
    for column in form.columns:
        doubled = form.design(columns | {column: 2 * columns[column]})[0]
        powers = (doubled - start)[:, 1:] / np.log(2)
        for name, power in zip(form.exponents, powers.T, strict=True):
            if np.ptp(power) > 1e-9:  # a base such as sqrt(p**2*d + 1) is not a power of the column
                values[name].add(np.nan)
            elif abs(power[0]) > 1e-9:
                values[name].add(round(paper.exponents.get(column, absent) / float(power[0]), 9))
    return {name: x.pop() for name, x in values.items() if len(x) == 1 and np.all(np.isfinite([*x]))}
