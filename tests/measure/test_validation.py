"""Laws judged on what they were not fitted on."""

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.measure import compare_laws, extrapolation_test

RIGHT, SHORT, LONG = "C * d**a * T**b", "C * T**b", "C * d**a * T**b * (d + T)**c"


def test_the_planted_form_wins_and_a_needless_factor_costs(planted):
    rng = np.random.default_rng(0)
    wins = {"aic": 0, "bic": 0, "error": 0}
    for _ in range(40):
        rivals = {r.law.form: r for r in compare_laws([SHORT, LONG, RIGHT], planted(rng, noise=0.1))}
        for score in wins:
            values = {form: getattr(rival, score) for form, rival in rivals.items()}
            assert values[SHORT] > values[RIGHT]
            wins[score] += values[RIGHT] < values[LONG]
    assert wins["bic"] >= 34
    assert wins["aic"] >= 26
    assert wins["error"] >= 26


def test_left_out_error_is_the_noise_and_rivals_are_in_order(planted):
    table = planted(np.random.default_rng(1), noise=0.1, side=6, seeds=5)
    first, second = compare_laws([SHORT, RIGHT], table)
    assert (first.law.form, second.law.form) == (RIGHT, SHORT)
    assert first.error == pytest.approx(0.1, rel=0.15)


def test_criteria_are_those_of_the_normal_likelihood(planted):
    table = planted(np.random.default_rng(2), noise=0.1)
    rival, _ = compare_laws([RIGHT, SHORT], table)
    rows, squares = rival.law.rows, np.mean(rival.law.residuals**2)
    minus_twice = rows * (np.log(2 * np.pi * squares) + 1)
    assert rival.aic == pytest.approx(minus_twice + 2 * 4)
    assert rival.bic == pytest.approx(minus_twice + np.log(rows) * 4)


def test_leaving_out_configurations_sees_what_leaving_out_rows_does_not(planted):
    table = planted(np.random.default_rng(3), noise=0.01, shared=0.2)
    table["row"] = np.arange(table["d"].size)
    wiggly = "C * d**a * T**b * (d + T)**c * (d + 10*T)**e * (10*d + T)**f"
    by_row, by_configuration = (
        {r.law.form: r.error for r in compare_laws([RIGHT, wiggly], table, cluster=x)}[wiggly] for x in ("row", None)
    )
    assert by_configuration > by_row


def test_censored_rows_count_only_where_the_law_falls_short(planted):
    table = planted(np.random.default_rng(4), noise=0.1, censored=0.3)
    best, worst = compare_laws([SHORT, RIGHT], table, censored="censored")
    assert best.law.form == RIGHT
    assert best.error < 0.12 < worst.error


def test_a_true_power_law_extrapolates_and_a_bent_one_is_found_out(planted):
    table = planted(np.random.default_rng(5), noise=0.05, side=6)
    straight = extrapolation_test(RIGHT, table, by="T")
    assert straight.boundary == 128
    assert straight.rows == 54
    assert straight.bias == pytest.approx(1, abs=0.05)
    assert straight.covered >= 0.85
    bent = extrapolation_test(
        RIGHT, table | {"plateau": table["plateau"] + 0.01 * table["T"] ** 2}, by="T", boundary=128
    )
    assert bent.bias < 0.9
    assert bent.covered < straight.covered
    assert bent.error > straight.error


def test_censored_rows_among_the_large_do_not_count_against_the_law(planted):
    table = planted(np.random.default_rng(6), noise=0.05, side=6)
    budget = 2000.0
    stopped = table | {"plateau": np.minimum(table["plateau"], budget), "censored": table["plateau"] > budget}
    test = extrapolation_test(RIGHT, stopped, by="T", boundary=128, censored="censored")
    assert stopped["censored"][table["T"] > 128].any()
    assert test.error < 0.1
    assert test.covered >= 0.85


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda t: compare_laws([RIGHT], t), "at least two"),
        (lambda t: compare_laws(RIGHT, t), "at least two"),
        (lambda t: compare_laws([RIGHT, "C * q**a"], t), "'q'"),
        (lambda t: compare_laws([RIGHT, SHORT], t, cluster="group"), "'group' is missing"),
        (lambda t: extrapolation_test(RIGHT, t, by="q"), "'q' is missing"),
        (
            lambda t: extrapolation_test(RIGHT, t, by="T", boundary=1e9),
            "boundary = 1e.09 is not allowed: 'T' goes from 32",
        ),
        (lambda t: extrapolation_test(RIGHT, t, by="T", boundary=32), "exponent 'b' cannot be identified"),
    ],
)
def test_bad_requests_are_named(planted, call, sentence):
    with pytest.raises(RequestError, match=sentence):
        call(planted(np.random.default_rng(7)))
