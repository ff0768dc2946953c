"""Staircases: planted plateaus are counted and located, under noise and with gradual drops."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure import stages

STEPS = np.linspace(0, 1000, 300)


def staircase(cuts, levels, width):
    values = np.full(STEPS.size, levels[0])
    for cut, before, after in zip(cuts, levels, levels[1:], strict=False):
        share = 1 / (1 + np.exp(-np.clip((STEPS - cut) / width, -50, 50)))
        values = values + (after - before) * share
    return values


@pytest.mark.parametrize("plateaus", [2, 3, 4])
@pytest.mark.parametrize(("noise", "width"), [(0.0, 10), (0.02, 10), (0.05, 5)])
def test_planted_plateaus_are_counted_and_drops_located(plateaus, noise, width):
    rng = np.random.default_rng(0)
    right, error = [], []
    for _ in range(60):
        cuts = np.linspace(0, 1000, plateaus + 1)[1:-1] + rng.uniform(-40, 40, plateaus - 1)
        levels = np.linspace(1, 0.1, plateaus)
        found = stages(STEPS, staircase(cuts, levels, width) + noise * rng.standard_normal(STEPS.size))
        right.append(len(found) == plateaus)
        if right[-1]:
            middles = [(a.end + b.start) / 2 for a, b in pairwise(found)]
            error.append(np.abs(np.array(middles) - cuts).max())
            np.testing.assert_allclose([s.level for s in found], levels, atol=0.03)
    assert np.mean(right) >= 0.95
    assert np.max(error) < 15


def test_three_steps_of_paper_b_with_uneven_heights():
    rng = np.random.default_rng(1)
    values = staircase([330, 575], [1.0, 0.25, 0.05], 8) + 0.01 * rng.standard_normal(STEPS.size)
    first, second, third = stages(STEPS, values)
    assert first.start == STEPS[0]
    assert 290 < first.end < 330 < second.start < 370
    assert 540 < second.end < 575 < third.start < 610
    assert third.end == pytest.approx(1000, abs=5)


def test_flat_noise_is_one_plateau():
    rng = np.random.default_rng(2)
    count = [len(stages(STEPS, rng.standard_normal(STEPS.size))) for _ in range(200)]
    assert np.mean(np.array(count) == 1) >= 0.97


def test_even_decline_has_no_plateau_and_a_constant_has_one():
    rng = np.random.default_rng(3)
    assert stages(STEPS, 1 - STEPS / 1000 + 0.02 * rng.standard_normal(STEPS.size)) == ()
    (one,) = stages(STEPS, np.full(STEPS.size, 0.1))
    assert (one.level, one.start) == (pytest.approx(0.1), 0)
    assert len(stages([5.0], [1.0])) == 1
    assert len(stages([5.0, 6.0], [1.0, 1.0])) == 1


def test_steps_smaller_than_asked_for_do_not_count():
    values = staircase([300, 600], [1.0, 0.1, 0.0], 2)
    assert len(stages(STEPS, values)) == 3
    assert len(stages(STEPS, values, smallest=0.2)) == 2


def test_a_spike_does_not_split_a_plateau():
    values = staircase([500], [1.0, 0.0], 5)
    values[60:63] = 2.0
    assert len(stages(STEPS, values)) == 2


@given(scale=st.floats(1e-3, 1e3), height=st.floats(1e-3, 1e3), sign=st.sampled_from([-1, 1]), seed=st.integers(0, 50))
@settings(deadline=None, max_examples=25)
def test_units_and_direction_do_not_matter(scale, height, sign, seed):
    values = staircase([330, 575], [1.0, 0.4, 0.1], 8) + 0.03 * np.random.default_rng(seed).standard_normal(STEPS.size)
    one, two = stages(STEPS, values), stages(scale * STEPS, sign * height * values)
    assert [s.end for s in two] == pytest.approx([scale * s.end for s in one], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"), [({"smallest": 0}, "smallest = 0"), ({"shortest": 0}, "shortest = 0")]
)
def test_senseless_limits_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        stages(STEPS, STEPS, **options)
    with pytest.raises(RequestError, match="one curve at a time"):
        stages(STEPS, np.ones((2, 300)))
