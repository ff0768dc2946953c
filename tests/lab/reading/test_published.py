"""A published law compared with a fitted one: which of its numbers are comparable, and how it predicts the runs."""

import numpy as np
import pytest

from daybreak.lab.reading.published import PUBLISHED, compare
from daybreak.measure import fit_law

FIGURE_3 = PUBLISHED[0]


def _runs(**columns: list[float]) -> dict:
    """A full grid of settings, with plateaus of twice the length that figure 3 has."""
    axes = {"d": [8, 16, 32], "T": [16, 64, 128], "B": [1]} | columns
    grid = np.meshgrid(*axes.values())
    runs = {name: x.ravel().astype(float) for name, x in zip(axes, grid, strict=True)}
    return runs | {"plateau": 2 * FIGURE_3.predict(runs), "censored": np.zeros(grid[0].size, bool)}


@pytest.mark.parametrize(
    ("form", "columns", "coefficients"),
    [
        ("C * d**a * (T/B)**b", {}, {"a": 1.29, "b": 0.8, "C": 0.76}),
        ("C * d**a * (T/B)**b", {"B": [1, 2, 4]}, {"a": 1.29, "b": 0.8, "C": 0.76}),
        ("C * d**a * sqrt(T)**b", {}, {"a": 1.29, "b": 1.6, "C": 0.76}),
        ("C * d**a * T**b", {"B": [2]}, {"a": 1.29, "b": 0.8}),  # its constant is that at B = 1
        ("C * T**b", {"d": [8]}, {"b": 0.8}),
        ("C * (sqrt(d)*T)**a", {}, {}),  # exponents of d and T are not as 1 to 2
        ("C * (d + 1)**a * T**b", {}, {"b": 0.8}),  # not a power of d
    ],
)
def test_published_values_stand_where_the_forms_agree(form: str, columns: dict, coefficients: dict) -> None:
    runs = _runs(**columns)
    comparison = compare(FIGURE_3, fit_law(form, runs), runs)
    assert comparison.coefficients == pytest.approx(coefficients)
    assert comparison.ratio == pytest.approx(2)


def test_runs_that_did_not_emerge_do_not_count_in_the_ratio() -> None:
    runs = _runs()
    runs["censored"][-1], runs["plateau"][-1] = True, 1e6
    law = fit_law("C * d**a * (T/B)**b", runs, censored="censored", method="tobit")
    assert compare(FIGURE_3, law, runs).ratio == pytest.approx(2)
