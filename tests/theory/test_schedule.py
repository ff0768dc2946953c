"""Schedules of repetition on the flow: constant ones are the flow's own, gradients are exact, and the best is a switch."""

import numpy as np
import pytest

from daybreak import theory
from daybreak.errors import RequestError

T, D = 12, 32


def plateau(times, values, **options) -> float:
    return theory.scheduled_plateau(T, D, times, values, **options).plateau


@pytest.mark.parametrize("logits", ["tied", "free"])
@pytest.mark.parametrize("p", [0.0, 0.4, 0.9])
def test_a_constant_schedule_is_the_plateau_by_diffrax(p: float, logits) -> None:
    expected = theory.plateau(T, D, p=p, logits=logits)
    for times, values in (([], [p]), ([0.1 * expected, 0.3 * expected], [p, p, p])):
        assert plateau(times, values, logits=logits) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("lever", "values"), [("p", [0.8, 0.5, 0.1]), ("B", [3.0, 2.0, 1.2])])
def test_the_gradient_is_that_of_finite_differences(lever, values: list[float]) -> None:
    times = np.array([12.0, 25.0])
    found = theory.scheduled_plateau(T, D, times, values, lever=lever)
    assert found.plateau > times[-1], "all pieces count"
    for i in range(3):
        step = 1e-3 * np.eye(3)[i]
        change = plateau(times, values + step, lever=lever) - plateau(times, values - step, lever=lever)
        assert found.gradient[i] == pytest.approx(change / 2e-3, rel=1e-3)


def test_what_comes_after_the_plateau_does_not_count() -> None:
    found = theory.scheduled_plateau(T, D, [1e4], [0.3, 0.9])
    assert found.plateau == pytest.approx(theory.plateau(T, D, p=0.3), rel=1e-6)
    assert found.gradient[1] == 0


def test_the_best_switch_beats_every_constant_p() -> None:
    # That no other schedule beats it is claim R2, which tests/studies/test_reproduce.py tries.
    best = theory.best_switch(T, D)
    constant = theory.plateau(T, D, p=np.linspace(0, 0.95, 39)).min()
    assert best.plateau < 0.7 * constant
    earlier, later = (plateau(best.times * x, [1.0, 0.0]) for x in (0.9, 1.1))
    assert best.plateau < min(earlier, later)


def test_copies_are_a_lever_too() -> None:
    best = theory.best_switch(T, D, high=4.0, lever="B")
    assert best.plateau < 0.6 * theory.plateau(T, D)


def test_repetition_without_end_may_never_get_there() -> None:
    found = theory.scheduled_plateau(T, D, [], [1.0])
    assert np.isinf(found.plateau)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plateau([1.0], [0.5]), "1 values are not allowed: 1 times separate 2 pieces"),
        (lambda: plateau([2.0, 1.0], [0.5] * 3), "they must be above zero and increase"),
        (lambda: plateau([0.0], [0.5] * 2), "they must be above zero and increase"),
        (lambda: plateau([], [1.5]), "p = 1.5 is not allowed: it must lie between 0 and 1"),
        (lambda: plateau([], [0.5], lever="B"), "B = 0.5 is not allowed: it must lie between 1 and 11"),
        (lambda: plateau([], [2.0], lever="B", logits="free"), "logits = 'free' is not allowed with lever 'B'"),
        (lambda: plateau([], [0.5], lever="q"), "lever = 'q' is unknown"),
        (lambda: plateau([np.nan], [0.5] * 2), "times = nan is not allowed"),
        (lambda: theory.best_schedule(T, D, pieces=1), "pieces = 1 is not allowed"),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_refusals(call, sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        call()
