"""Laws evaluated: published coefficients, and tables that do not fit them."""

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.measure import fit_law
from daybreak.measure.law import evaluate


def test_order_of_coefficients_does_not_matter():
    table = {"d": [4.0], "T": [10.0]}
    one = evaluate("C * d**a * T**b", {"C": 2.0, "a": 0.5, "b": 1.0}, table)
    two = evaluate("C * d**a * T**b", {"b": 1.0, "C": 2.0, "a": 0.5}, table)
    assert one == two == pytest.approx(40.0)


def test_a_column_named_like_a_coefficient_is_not_mistaken_for_it():
    T = np.array([8.0, 16.0, 32.0, 64.0])
    law = fit_law("C * T**a", {"T": T, "plateau": 3 * T})
    np.testing.assert_allclose(law.predict({"T": [100.0], "a": [7.0], "C": [9.0]}), [300.0])
    low, high = law.predict_interval({"T": [100.0], "a": [7.0]})
    np.testing.assert_allclose([low, high], [[300.0], [300.0]])


@pytest.mark.parametrize(
    ("coefficients", "table", "sentence"),
    [
        ({"C": 1.0}, {"T": [2.0]}, "b is neither column nor coefficient"),
        ({"C": 1.0, "b": 1.0}, {"d": [2.0]}, "'T', which is no column"),
        ({"C": 1.0, "b": 1000.0}, {"T": [1.0, 100.0]}, "at row 1: its value there is not a finite number"),
        ({"C": 1.0, "b": 1.0}, {"T": [np.nan]}, "'T' has nan in row 0"),
        ({"C": 1.0, "b": 1.0}, {}, "at least one row"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(coefficients, table, sentence):
    with pytest.raises(RequestError, match=sentence):
        evaluate("C * T**b", coefficients, table)


def test_prediction_interval_widens_away_from_the_data():
    rng = np.random.default_rng(0)
    T = np.repeat([8.0, 16.0, 32.0, 64.0], 4)
    law = fit_law("C * T**a", {"T": T, "plateau": 3 * T * np.exp(0.1 * rng.standard_normal(T.size))})
    low, high = law.predict_interval({"T": [23.0, 1e4]})
    near, far = high / low
    assert far > near > 1
    assert np.all((low < law.predict({"T": [23.0, 1e4]})) & (law.predict({"T": [23.0, 1e4]}) < high))


def test_formula_puts_the_numbers_in_their_places() -> None:
    table = {"d": [16, 64, 16, 64], "T": [64, 64, 256, 256], "plateau": [24.0, 48.0, 48.0, 96.0]}
    law = fit_law("C * d**a / T**-b", table)
    assert law.formula == "0.75 * d**0.5 / T**-0.5"


def test_a_law_predicts_at_single_numbers_lists_and_tables() -> None:
    T, d = np.array([8.0, 16.0, 32.0, 64.0]), np.array([4.0, 8.0, 4.0, 8.0])
    law = fit_law("C * d**a * T**b", {"T": T, "d": d, "plateau": 2 * d * T})
    assert law.predict(T=128, d=4) == pytest.approx(1024)
    assert np.ndim(law.predict(T=128, d=4)) == 0
    np.testing.assert_allclose(law.predict(T=[128, 256], d=4), [1024, 2048])
    np.testing.assert_allclose(law.predict(T=[[1], [2]], d=[1, 3]), [[2, 6], [4, 12]])
    np.testing.assert_allclose(law.predict({"T": [128.0], "d": [4.0]}), [1024])
    for wrong, sentence in (({"T": 128}, "'d', which is no column"), ({"T": [1, 2], "d": [1, 2, 3]}, "same length")):
        with pytest.raises(RequestError, match=sentence):
            law.predict(**wrong)
    with pytest.raises(RequestError, match="not both"):
        law.predict({"T": [8.0], "d": [4.0]}, T=8)


def test_what_lies_beyond_the_fitted_range_is_named_with_its_factor() -> None:
    law = fit_law("C * T**b", {"T": [8, 16, 32], "plateau": [24.0, 48.0, 96.0]})
    assert [str(x) for x in law.beyond({"T": 64.0, "d": 9.0})] == [
        "T = 64 is 2.0 times beyond the largest measured, 32"
    ]
    assert [x.factor for x in law.beyond({"T": 2.0})] == [4.0]
    assert law.beyond({"T": 9.0}) == ()
