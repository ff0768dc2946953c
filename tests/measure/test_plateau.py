"""Plateau lengths: planted crossings under noise, censoring, and curves that are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure import Plateau, plateau

STEPS = np.arange(0.0, 1000.0, 5.0)


def drop(middle: float, width: float) -> np.ndarray:
    """A loss that falls from 1 to 0."""
    return 1 / (1 + np.exp((STEPS - middle) / width))


def noisy(rng: np.random.Generator, noise: float, width: float):
    """A noisy drop, and where it truly crosses 0.2."""
    middle = rng.uniform(400, 700)
    return drop(middle, width) + noise * rng.standard_normal(STEPS.size), middle + width * np.log(4)


@pytest.mark.parametrize(("noise", "width", "smooth"), [(0.05, 25, 15), (0.1, 25, 15), (0.2, 40, 31)])
def test_smoothed_bracket_covers_the_planted_crossing(noise, width, smooth):
    rng = np.random.default_rng(0)
    inside, error, naive = [], [], []
    for _ in range(1000):
        values, truth = noisy(rng, noise, width)
        found = plateau(STEPS, values, 0.2, smooth=smooth)
        inside.append(found.bracket[0] <= truth <= found.bracket[1])
        error.append(found.length - truth)
        naive.append(plateau(STEPS, values, 0.2).length - truth)
    # Binomial: a true 95 % leaves 93-97 % in 0.4 % of such figures.
    assert 0.93 <= np.mean(inside) <= 0.97
    assert abs(np.mean(error)) < 0.01 * 550, "unbiased to a hundredth of the plateau"
    assert abs(np.mean(error)) < abs(np.mean(naive))


def test_first_crossing_of_a_noisy_curve_is_early_and_hold_mends_it():
    rng = np.random.default_rng(1)
    curves = [noisy(rng, 0.2, 40) for _ in range(300)]
    early, held = (
        np.mean([plateau(STEPS, values, 0.2, hold=hold).length - truth for values, truth in curves]) for hold in (1, 3)
    )
    assert early < -20
    assert abs(held) < -early / 2


def test_one_stray_evaluation_does_not_end_a_plateau_that_must_hold():
    values = [1, 1, 0, 1, 1, 0, 0, 0]
    assert plateau(range(8), values, 0.5).length == 1.5
    assert plateau(range(8), values, 0.5, hold=2).length == 4.5


def test_crossing_too_near_the_end_to_hold_is_censored_where_the_curve_last_stayed():
    found = plateau([0, 10, 20, 30], [1, 1, 1, 0], 0.5, hold=2)
    assert found.censored
    assert found.length == 20
    assert found.bracket == (20, np.inf)


def test_never_crossing_is_censored_at_the_end():
    for smooth in (1, 5):
        found = plateau(STEPS, np.ones(STEPS.size), 0.5, smooth=smooth)
        assert (found.censored, found.length, found.bracket[1]) == (True, 995.0, np.inf)
    assert str(found) == "censored at 995"


def test_a_curve_that_starts_beyond_the_level_has_no_plateau():
    assert plateau([3, 4], [0.0, 1.0], 0.5).length == 3
    assert plateau([3], [0.5], 0.5).bracket == (3, 3)


def test_exact_curves_are_crossed_where_their_parabola_is():
    steps = np.linspace(0, 2, 21)
    found = plateau(steps, 1 - steps**2 / 2, 0.505, smooth=7)
    assert found.length == pytest.approx(np.sqrt(0.99), abs=2e-3)
    assert found.bracket[0] <= found.length <= found.bracket[1]


@given(
    values=st.lists(st.floats(-1, 1), min_size=5, max_size=30),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(-100, 100),
    smooth=st.sampled_from([1, 5]),
)
@settings(deadline=None)
def test_scaling_and_shifting_steps_scales_and_shifts_the_plateau(values, scale, shift, smooth):
    steps = np.arange(len(values))
    one = plateau(steps, values, 0.1, smooth=smooth)
    two = plateau(scale * steps + shift, values, 0.1, smooth=smooth)
    assert two.censored == one.censored
    assert two.length == pytest.approx(scale * one.length + shift, rel=1e-6, abs=1e-6)
    assert two.bracket == pytest.approx(tuple(scale * x + shift for x in one.bracket), rel=1e-6, abs=1e-6)


@given(values=st.lists(st.floats(-1, 1), min_size=2, max_size=30), hold=st.integers(1, 4))
@settings(deadline=None)
def test_mirrored_curves_cross_upwards(values, hold):
    steps = np.arange(len(values))
    down = plateau(steps, values, 0.1, hold=hold)
    assert plateau(steps, -np.array(values), -0.1, hold=hold, direction="up") == down


@given(values=st.lists(st.floats(0, 1), min_size=3, max_size=30), cut=st.integers(1, 29), hold=st.integers(1, 3))
@settings(deadline=None)
def test_watching_longer_only_ever_lengthens_a_censored_plateau(values, cut, hold):
    steps, cut = np.arange(len(values)), min(cut, len(values))
    short = plateau(steps[:cut], values[:cut], 0.3, hold=hold)
    full = plateau(steps, values, 0.3, hold=hold)
    assert full.length >= short.length if short.censored else full == short


@given(values=st.lists(st.floats(0, 1), min_size=2, max_size=30), low=st.floats(0.1, 0.5), more=st.floats(0, 0.4))
@settings(deadline=None)
def test_a_lower_level_is_never_reached_earlier(values, low, more):
    steps = np.arange(len(values))
    assert plateau(steps, values, low).length >= plateau(steps, values, low + more).length


@pytest.mark.parametrize(
    ("steps", "values", "options", "sentence"),
    [
        ([], [], {}, "not empty"),
        ([0, 1], [1.0], {}, "equal length"),
        ([0, 1], [1.0, np.nan], {}, "the value at step 1 is not finite"),
        ([0, np.nan], [1.0, 1.0], {}, "must be finite, increase"),
        ([0, 2, 1], [1.0, 1.0, 1.0], {}, "at 1 after 2: they must be finite, increase, and not repeat"),
        ([0, 1, 1], [1.0, 1.0, 1.0], {}, "at 1 after 1"),
        (["a", "b"], [1.0, 1.0], {}, "two lists of numbers"),
        ([0, 1], [[1.0, 1.0]], {}, "one curve at a time"),
        ([0, 1], [1.0, 0.0], {"level": np.nan}, "level = nan"),
        ([0, 1], [1.0, 0.0], {"direction": "left"}, "direction = 'left' is unknown: choose 'down' or 'up'"),
        ([0, 1], [1.0, 0.0], {"hold": 0}, "hold = 0"),
        ([0, 1], [1.0, 0.0], {"hold": 1.5}, "hold = 1.5"),
        ([0, 1], [1.0, 0.0], {"smooth": 3}, "smooth = 3"),
        ([0, 1], [1.0, 0.0], {"smooth": 5}, "smooth = 5 is not allowed: 1, or from 5 to the 2 evaluations"),
    ],
)
def test_what_is_no_curve_is_refused(steps, values, options, sentence, as_a_user):
    with pytest.raises(RequestError) as error:
        plateau(steps, values, **({"level": 0.5} | options))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("length", "bracket", "text"),
    [
        (55.9406, (40, 60), "56"),
        (12345.678, (12000, 13000), "12346"),
        (55.9406, (55, 56), "55.9"),
        (0.123456, (0.12, 0.125), "0.1235"),
        (2.5, (2.5, 2.5), "2.5"),
    ],
)
def test_as_text_it_has_no_digit_that_its_bracket_does_not_support(length: float, bracket: tuple, text: str) -> None:
    assert str(Plateau(length, False, bracket)) == text
