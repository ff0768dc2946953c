"""Fitted laws recover planted ones, within their own intervals, and refuse what cannot be fitted."""

import json
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure import fit_law

FORM = "C * d**a * T**b"
SETS = 1000
# A true 95 % leaves 93-97 % in 0.4 % of such figures (binomial, 1 000 data sets: one standard deviation is 0.7 %).
LOW, HIGH = 0.93, 0.97


def fits(planted, truth, seed, *, sets=SETS, method=None, cluster=None, bootstrap=None, **plant):
    """Coverage and mean error of each coefficient over planted data sets."""
    rng = np.random.default_rng(seed)
    inside, errors = [], []
    for _ in range(sets):
        law = fit_law(
            FORM,
            planted(rng, **plant),
            censored="censored" if plant.get("censored") else None,
            method=method,
            cluster=cluster,
            bootstrap=bootstrap,
        )
        inside.append([law.intervals[x].low <= truth[x] <= law.intervals[x].high for x in truth])
        errors.append([law.coefficients[x] - truth[x] for x in truth])
    return np.mean(inside, axis=0), np.mean(errors, axis=0)


@pytest.mark.parametrize(
    ("method", "noise", "censored"),
    [
        ("ols", 0.05, 0.0),
        ("ols", 0.2, 0.0),
        ("huber", 0.2, 0.0),
        ("tobit", 0.05, 0.4),
        ("tobit", 0.1, 0.2),
        ("tobit", 0.2, 0.4),
    ],
)
def test_intervals_cover_a_planted_law_and_exponents_are_unbiased(planted, truth, method, noise, censored):
    cover, bias = fits(planted, truth, 1, method=method, noise=noise, censored=censored)
    assert np.all((cover >= LOW) & (cover <= HIGH)), cover
    assert np.all(np.abs(bias[1:]) < 0.01), bias


@pytest.mark.parametrize(("method", "censored"), [(None, 0.0), ("huber", 0.0), (None, 0.3)])
def test_intervals_cover_when_seeds_share_a_configuration(planted, truth, method, censored):
    plant = {"noise": 0.05, "shared": 0.1, "censored": censored, "side": 6 if censored else 5, "seeds": 2}
    cover, _ = fits(
        planted,
        truth,
        2,
        method=method,
        cluster=["d", "T"] if censored else "configuration",
        bootstrap=200,
        **plant,
    )
    assert np.all((cover >= LOW) & (cover <= HIGH)), cover
    if method is None and not censored:
        alone, _ = fits(planted, truth, 2, sets=300, method=method, **plant)
        assert np.all(alone < 0.9), "rows taken as independent would be too sure"


def test_dropping_censored_runs_is_biased_where_counting_them_is_not(planted, truth):
    rng = np.random.default_rng(3)
    dropped, counted = [], []
    for _ in range(400):
        table = planted(rng, noise=0.2, censored=0.4)
        counted.append(fit_law(FORM, table, censored="censored").coefficients["a"])
        kept = {name: x[~table["censored"]] for name, x in table.items()}
        dropped.append(fit_law(FORM, kept).coefficients["a"])
    assert abs(np.mean(counted) - truth["a"]) < 0.01
    assert np.mean(dropped) < truth["a"] - 0.04


def test_huber_shrugs_off_runs_gone_wrong(planted, truth):
    rng = np.random.default_rng(4)
    tables = [planted(rng, noise=0.05, wild=0.1) for _ in range(200)]
    spread = {m: np.std([fit_law(FORM, x, method=m).coefficients["a"] for x in tables]) for m in ("ols", "huber")}
    assert spread["huber"] < spread["ols"] / 2
    clean = fit_law(FORM, planted(rng, noise=0.0), method="huber")
    assert clean.coefficients == pytest.approx(truth, rel=1e-9)


def test_prediction_intervals_hold_new_runs(planted, truth):
    rng = np.random.default_rng(5)
    inside = []
    for _ in range(SETS):
        law = fit_law(FORM, planted(rng, noise=0.2))
        low, high = law.predict_interval({"d": [100.0], "T": [1000.0]})
        new = truth["C"] * 100 ** truth["a"] * 1000 ** truth["b"] * np.exp(0.2 * rng.standard_normal())
        inside.append(low[0] <= new <= high[0])
    assert LOW <= np.mean(inside) <= HIGH


def test_default_method_counts_censored_rows(planted):
    table = planted(np.random.default_rng(6), noise=0.1, censored=0.3)
    law = fit_law(FORM, table, censored="censored")
    assert law.method == "tobit"
    assert law.censored == table["censored"].sum() > 0
    assert "censored" in str(law)
    assert 0.9 < law.r2 < 1
    assert json.loads(json.dumps(law.as_json()))["method"] == "tobit"
    assert fit_law(FORM, {k: x for k, x in table.items() if k != "censored"}).method == "ols"


def test_tobit_without_censored_rows_is_least_squares(planted):
    table = planted(np.random.default_rng(7))
    ols, tobit = fit_law(FORM, table), fit_law(FORM, table, censored="censored")
    assert tobit.intervals == ols.intervals
    assert tobit.r2 == ols.r2


def test_exact_law_with_censored_rows_is_recovered(planted, truth):
    table = planted(np.random.default_rng(8), noise=0.0, censored=0.3)
    for cluster in (None, "configuration"):
        law = fit_law(FORM, table, censored="censored", cluster=cluster)
        assert law.coefficients == pytest.approx(truth, rel=1e-6)
        assert law.scatter < 1e-9


def test_residuals_are_logs_of_measured_over_predicted(planted):
    table = planted(np.random.default_rng(9))
    law = fit_law(FORM, table)
    np.testing.assert_allclose(law.residuals, np.log(table["plateau"] / law.predict(table)), atol=1e-12)


def test_bootstrap_is_repeatable_and_agrees_with_theory_on_independent_rows(planted):
    table = planted(np.random.default_rng(10), side=8, seeds=4)
    one, two = (fit_law(FORM, table, bootstrap=2000, seed=3) for _ in range(2))
    assert one.intervals == two.intervals
    theory = fit_law(FORM, table)
    for name, x in theory.intervals.items():
        assert one.intervals[name].high - one.intervals[name].low == pytest.approx(x.high - x.low, rel=0.15)


@pytest.mark.parametrize("method", ["ols", "huber", "tobit"])
@given(factor=st.floats(1e-3, 1e3), seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_scaling_plateaus_scales_the_constant_alone(method, factor, seed):
    table, scaled = example(seed), example(seed)
    scaled["plateau"] = factor * table["plateau"]
    given_censored = "censored" if method == "tobit" else None
    one, two = (fit_law(FORM, x, method=method, censored=given_censored) for x in (table, scaled))
    assert two.coefficients["C"] == pytest.approx(factor * one.coefficients["C"], rel=1e-4)
    assert two.coefficients["a"] == pytest.approx(one.coefficients["a"], abs=1e-5)
    assert two.intervals["b"] == pytest.approx(one.intervals["b"], abs=1e-5)


@pytest.mark.parametrize("method", ["ols", "huber", "tobit"])
@given(seed=st.integers(0, 1000), order=st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=20)
def test_order_of_rows_does_not_matter(method, seed, order):
    table = example(seed)
    rows = list(range(len(table["d"])))
    order.shuffle(rows)
    given_censored = "censored" if method == "tobit" else None
    one, two = (
        fit_law(FORM, x, method=method, censored=given_censored)
        for x in (table, {name: column[rows] for name, column in table.items()})
    )
    assert two.coefficients == pytest.approx(one.coefficients, rel=1e-6)


@given(seed=st.integers(0, 1000), row=st.integers(0, 17))
@settings(deadline=None, max_examples=50)
def test_a_row_that_turns_censored_only_ever_lengthens_the_law_there(seed, row):
    table = example(seed)
    before = fit_law(FORM, table, censored="censored").predict(table)[row]
    table["censored"] = table["censored"].copy()
    table["censored"][row] = True
    after = fit_law(FORM, table, censored="censored").predict(table)[row]
    assert after >= before * (1 - 1e-7)


def example(seed: int) -> dict[str, np.ndarray]:
    """A small noisy table without a fixture, for drawn cases."""
    rng = np.random.default_rng(seed)
    d, T = (x.ravel() for x in np.meshgrid([16.0, 32.0, 64.0], 2.0 ** np.arange(5, 11)))
    plateau = 2 * d**0.5 * T * np.exp(0.2 * rng.standard_normal(d.size))
    budget = np.quantile(plateau, 0.8)
    return {"d": d, "T": T, "plateau": np.minimum(plateau, budget), "censored": plateau > budget}


GOOD = {"d": [16.0, 32.0, 16.0, 32.0, 64.0], "T": [8.0, 8.0, 16.0, 32.0, 16.0], "plateau": [3.0, 5.0, 6.0, 20.0, 19.0]}


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({}, {"y": "loss"}, "'loss' is missing"),
        ({}, {"form": "C * q**a"}, "'q'"),
        ({}, {"method": "bayes"}, "method = 'bayes' is unknown: choose 'ols', 'huber' or 'tobit'"),
        ({}, {"censored": "stopped"}, "'stopped' is missing"),
        ({}, {"cluster": "group"}, "'group' is missing"),
        ({}, {"bootstrap": -1}, "bootstrap = -1"),
        ({}, {"bootstrap": 1.5}, "bootstrap = 1.5"),
        ({}, {"bootstrap": 100, "seed": -1}, "seed = -1"),
        (
            {"plateau": ["a", "b", "c", "d", "e"]},
            {},
            "'plateau' does not hold numbers: the columns of numbers are T, d",
        ),
        ({"plateau": [3.0, 5.0, 0.0, 20.0, 19.0]}, {}, "'plateau' has 0 in row 2"),
        ({"plateau": [3.0, 5.0, -6.0, 20.0, 19.0]}, {}, "'plateau' has -6 in row 2"),
        ({"plateau": [3.0, np.nan, 6.0, 20.0, 19.0]}, {}, "'plateau' has nan in row 1"),
        ({"T": [8.0, np.inf, 16.0, 32.0, 16.0]}, {}, "'T' has inf in row 1"),
        ({"T": [8.0, 8.0, 0.0, 32.0, 16.0]}, {}, "T must be positive"),
        ({"T": [8.0, 8.0]}, {}, "same length"),
        ({"T": [[8.0]] * 5}, {}, "'T' of shape (5, 1)"),
        ({"T": [8.0] * 5}, {}, "exponent 'b' cannot be identified"),
        ({"T": [16.0, 32.0, 16.0, 32.0, 64.0]}, {}, "exponent 'a' and 'b' cannot be identified"),
        ({"stop": [True] * 5}, {"censored": "stop"}, "all 5 rows are censored"),
        ({"stop": [0, 1, 2, 0, 0]}, {"censored": "stop"}, "only True and False"),
        (
            {"stop": [True, True, False, False, False]},
            {"censored": "stop"},
            "more measured rows than that, but there are 3",
        ),
        (
            {"stop": [True, False, False, False, False]},
            {"censored": "stop", "method": "ols"},
            "cannot count the 1 censored",
        ),
        ({"run": ["x", "x", "y", "y", "y"]}, {"cluster": "run"}, "leaves 2 configurations"),
        ({name: x[:1] for name, x in GOOD.items()}, {}, "3 unknowns and needs more rows than that, but there are 1"),
        ({name: [] for name in GOOD}, {}, "at least one row"),
        ({}, {"form": "plateau * d**a"}, "'plateau', which is what it is to predict"),
    ],
)
def test_bad_requests_are_named_in_one_sentence(change, options, sentence, as_a_user):
    options = {"form": FORM, "table": GOOD | change, **options}
    with pytest.raises(RequestError) as error:
        fit_law(**options)
    assert sentence in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_exponent_seen_only_in_censored_rows_is_named():
    table = {
        "d": [16.0, 32.0, 64.0, 16.0, 32.0, 64.0],
        "T": [8.0, 8.0, 8.0, 16.0, 16.0, 16.0],
        "plateau": [3.0, 5.0, 9.0, 10.0, 10.0, 10.0],
        "stop": [False, False, False, True, True, True],
    }
    with pytest.raises(RequestError, match="exponent 'b' cannot be identified: in the measured rows"):
        fit_law("C * T**b", table, censored="stop")


def test_columns_the_law_does_not_use_may_hold_anything():
    law = fit_law(FORM, GOOD | {"note": ["a", "b", "c", "d", "e"], "p": [np.nan] * 5})
    assert set(law.ranges) == {"d", "T"}


def test_an_arrow_table_is_a_table_and_other_things_are_refused_with_a_sentence(as_a_user) -> None:
    columns = {"T": [8.0, 16.0, 32.0, 64.0], "plateau": [80.0, 160.0, 320.0, 650.0]}
    law = fit_law("C * T**b", cast(Any, pa.table(columns)))
    assert law.coefficients["b"] == pytest.approx(1, abs=0.01)
    for table in (None, [{"T": 8.0, "plateau": 80.0}], 3.0):
        with pytest.raises(RequestError, match=r"a table of type .* is not allowed: give columns by name"):
            fit_law("C * T**b", cast(Any, table))
