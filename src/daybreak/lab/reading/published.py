"""Laws that papers report, as data: to stand beside a fitted one, and to suggest a form where none is given.

Paper A is Zucchet, D'Angelo, Lampinen, Chan (2025), arXiv 2505.17863.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from daybreak._types import Floats
from daybreak.measure.law import evaluate


@final
@dataclass(frozen=True)
class Published:
    """A law of a paper: a constant and one power for each of some columns.

    Args:
        source: where it stands.
        form: how a person would write it to have it fitted.
        constant: of the product.
        exponents: by column.
        r2: as reported.
        where: values of columns for which it is meant.
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
        """Plateau lengths that the law gives at the rows of a table."""
        form = " * ".join(["C", *(f"{name}**({x})" for name, x in self.exponents.items())])
        return evaluate(form, {"C": self.constant}, {name: table[name] for name in self.exponents})

    def covers(self, table: Mapping[str, ArrayLike]) -> bool:
        """Whether every row of a table is of the kind that the law is meant for."""
        has = all(name in table for name in (*self.exponents, *self.where))
        return has and all(np.all(np.asarray(table[name]) == value) for name, value in self.where.items())


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
    """The first published law that is meant for every row of a table.

    Example:
        >>> published({"task": ["recall"], "model": ["transformer"], "optimizer": ["adam"], "N": [8], "V": [64],
        ...            "B": [1], "p": [0.0]}).formula
        '0.55 V^0.79 N^2.25'
    """
    return next((law for law in PUBLISHED if law.covers(table)), None)
