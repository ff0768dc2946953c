"""Onset and sharpness without a level: planted ramps are found, flat noise is not one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure import transition

NOISES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
    "one spike": lambda rng, n: rng.standard_normal(n) + 30 * (np.arange(n) == rng.integers(n)),
}


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("evaluations", [10, 100, 500])
def test_flat_noise_has_a_transition_in_at_most_one_of_a_hundred_curves(kind, evaluations):
    rng = np.random.default_rng(0)
    steps = 10.0 * np.arange(evaluations)
    found = sum(not transition(steps, 0.5 + 0.05 * NOISES[kind](rng, evaluations)).onset.censored for _ in range(1000))
    assert found <= 10


@pytest.mark.parametrize(("evaluations", "noise"), [(100, 0.05), (100, 0.2), (1000, 0.2)])
def test_planted_ramps_are_found_with_their_onset_and_sharpness(evaluations, noise):
    rng = np.random.default_rng(1)
    steps = np.linspace(0, 1000, evaluations)
    inside, error, sharpness = [], [], []
    for _ in range(300):
        start, width = rng.uniform(300, 600), rng.uniform(60, 200)
        clean = np.interp(steps, [start, start + width], [1.0, 0.0])
        found = transition(steps, clean + noise * rng.standard_normal(evaluations))
        assert not found.onset.censored
        inside.append(found.onset.bracket[0] <= start <= found.onset.bracket[1])
        error.append(found.onset.length - start)
        sharpness.append(found.sharpness * width)
    assert np.mean(inside) >= 0.93
    assert abs(np.mean(error)) < 5
    assert np.median(sharpness) == pytest.approx(1, abs=0.05)


def test_a_sudden_drop_is_as_sharp_as_evaluations_can_tell():
    steps = np.arange(0.0, 100.0, 10.0)
    found = transition(steps, np.where(steps < 55, 1.0, 0.2))
    assert (found.onset.length, found.end) == (50, 60)
    assert found.sharpness == pytest.approx(0.08)
    assert found.onset.bracket[0] <= 50 <= found.onset.bracket[1]


def test_rising_curves_rise():
    steps = np.arange(0.0, 1000.0, 10.0)
    accuracy = np.interp(steps, [400, 500], [0.1, 0.9])
    found = transition(steps, accuracy, direction="up")
    assert (found.before, found.after) == pytest.approx((0.1, 0.9))
    assert found.sharpness > 0
    assert transition(steps, accuracy).onset.censored, "a rise is not a drop"


def test_steady_decline_and_constant_curves_have_no_transition():
    steps = np.arange(0.0, 1000.0, 10.0)
    rng = np.random.default_rng(2)
    for values in (np.ones(100), 1 - steps / 1000, 1 - steps / 1000 + 0.05 * rng.standard_normal(100)):
        found = transition(steps, values)
        assert found.onset.censored
        assert found.onset.length == 990
        assert found.sharpness == 0
        assert str(found) == "none, censored at 990"


@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3), height=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=30)
def test_units_of_steps_and_values_do_not_matter(scale, shift, height, seed):
    steps = np.arange(60.0)
    values = np.interp(steps, [20, 30], [1.0, 0.0]) + 0.05 * np.random.default_rng(seed).standard_normal(60)
    one, two = transition(steps, values), transition(scale * steps + shift, height * values)
    assert two.onset.length == pytest.approx(scale * one.onset.length + shift, rel=1e-9, abs=1e-9)
    assert two.sharpness == pytest.approx(one.sharpness * height / scale, rel=1e-6)


@pytest.mark.parametrize(
    ("steps", "values", "sentence"),
    [
        (range(7), np.ones(7), "needs one curve of 8 values"),
        (range(8), np.ones((2, 8)), "needs one curve"),
        ([0, 1, 2, 3, 4, 5, 6, 6], np.ones(8), "not repeat"),
    ],
)
def test_what_is_too_short_is_refused(steps, values, sentence, as_a_user):
    with pytest.raises(RequestError, match=sentence):
        transition(steps, values)
    with pytest.raises(RequestError, match="direction = 'sideways'"):
        transition(range(8), np.ones(8), direction="sideways")  # type: ignore[arg-type]
