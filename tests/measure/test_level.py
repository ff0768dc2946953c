"""Levels relative to the start and to a guess."""

import pytest

from daybreak.errors import RequestError
from daybreak.measure import above_guess, fraction_of_start, plateau


def test_fraction_of_start_is_the_level_of_paper_a():
    loss = [0.5, 0.5, 0.3, 0.05]
    assert plateau(range(4), loss, fraction_of_start(loss, 0.2)) == plateau(range(4), loss, 0.1)


def test_guessing_among_four_values_is_not_emergence():
    accuracy = [0.02, 0.25, 0.25, 0.25, 0.9]
    assert plateau(range(5), accuracy, 0.05, direction="up").length < 1
    assert plateau(range(5), accuracy, above_guess(1 / 4), direction="up").length > 3


def test_a_loss_has_its_best_below_the_guess():
    assert above_guess(2.0, 0.25, best=0.0) == 1.5


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fraction_of_start([], 0.2), "first value"),
        (lambda: fraction_of_start([float("nan")], 0.2), "first value"),
        (lambda: fraction_of_start([1.0], 1.5), "fraction = 1.5"),
        (lambda: above_guess(float("nan")), "guess = nan"),
        (lambda: above_guess(1.0), "guess = 1.0"),
        (lambda: above_guess(0.1, 0.0), "fraction = 0 is not allowed"),
    ],
)
def test_senseless_levels_are_refused(call, sentence):
    with pytest.raises(RequestError, match=sentence):
        call()
