"""The one rule for stages of paper B: planted staircases, staircases of the flow, and what must not count as a stage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.measure import staircase
from daybreak.measure.staircase import APART

STEPS = np.arange(0.0, 801.0, 10.0)


def drop(at, width, steps=STEPS):
    return 1 / (1 + np.exp(-np.clip((steps - at) / width, -50, 50)))


def planted(second=330.0, third=575.0, width=8.0, steps=STEPS):
    """An excess loss like that of figure 1: a fast first fall, then plateaus at 1.2, 0.5 and 0.1."""
    return 2.8 * np.exp(-steps / 12) + 1.2 - 0.7 * drop(second, width, steps) - 0.4 * drop(third, width, steps)


def noisy(values, noise, seed):
    return values + noise * np.random.default_rng(seed).standard_normal(values.size)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
def test_planted_stages_are_counted_and_their_transitions_located(noise):
    found = [staircase(STEPS, noisy(planted(), noise, seed)) for seed in range(60)]
    assert np.mean([one.number == 3 for one in found]) >= 0.97
    times = np.array([one.transitions for one in found if one.number == 3])
    assert np.abs(times - [330, 575]).max() <= 10
    assert np.abs(np.median(times, axis=0) - [330, 575]).max() <= 3
    assert all(60 >= one.stages[0].start >= 10 for one in found), "the first fall is no stage"


@pytest.mark.parametrize("m", [1.3, 1.7])
@pytest.mark.parametrize("points", [60, 200])
def test_stages_of_the_flow_are_those_of_theory(m, points):
    """Levels and transitions agree with the closed forms and with the flow's own transitions."""
    start = np.pad(1e-6 * np.random.default_rng(0).uniform(-1, 1, (3, 3)), [(0, 0), (0, 5)])
    line = theory.head_flow(theory.patterns(m ** np.arange(2.0, -1.0, -1.0), T=8), 3, start=start)
    times = np.linspace(0, 1.5 * line.transitions[-1], points)
    found = staircase(times, np.interp(times, line.t, line.loss))
    assert found.number == 3
    np.testing.assert_allclose(found.transitions, line.transitions[1:], atol=times[1])
    levels = theory.plateau_levels(line.task)
    np.testing.assert_allclose([one.level for one in found.stages], levels[1:], atol=0.03 * levels[1])


def test_the_flow_without_noise_has_one_stage():
    task = theory.patterns(1.7 ** np.arange(2.0, -1.0, -1.0), T=8)
    times = np.linspace(0, 1000, 100)
    line = theory.head_flow(task, 3, eps=0, times=times)
    assert staircase(line.t, line.loss).number == 1


def test_where_nothing_is_learned_there_is_no_stage():
    assert staircase(STEPS, np.full(STEPS.size, 3.3)).number == 0
    assert staircase(STEPS, noisy(np.full(STEPS.size, 3.3), 0.02, 0)).number == 0
    assert staircase(STEPS, 3.3 - 0.2 * drop(400, 8)).number == 0, (
        "six hundredths is what values learn under uniform attention"
    )
    assert staircase([5.0], [1.0]).number == 0
    slow = staircase(STEPS, 3.3 - 2.1 * drop(300, 8) - 0.7 * drop(550, 8))
    assert (slow.number, slow.at(200), slow.at(400), slow.at(700)) == (2, 0, 1, 2), "a plateau at the start is stage 0"


def test_transients_of_the_first_steps_do_not_count():
    """A dip, a bump and a shoulder of two evaluations during the first fall."""
    values = planted()
    for change in ({2: 0.3}, {1: 5.0, 2: 6.0}, {1: 2.4, 2: 2.4, 3: 1.9}):
        curve = values.copy()
        for place, value in change.items():
            curve[place] = value
        assert staircase(STEPS, curve).number == 3


def test_a_sharp_start_does_not_turn_the_first_fall_into_a_stage():
    """As a Transformer of two layers: 0.8 nats in one evaluation, three slow ones, then the first fall itself, slower but larger."""
    values = np.interp(STEPS, [0, 10, 40], [4.0, 3.3, 3.2]) - 2.6 * (1 - np.exp(-np.maximum(STEPS - 40, 0) / 70))
    (stage,) = staircase(STEPS, values).stages
    assert stage.start > 80
    assert stage.level < 0.8


def test_a_long_decline_after_a_short_drop_is_no_stage():
    """As SGD: 0.3 nats at once, then 1.4 more, a little slower all the time."""
    values = 0.4 + 0.3 * np.exp(-STEPS / 12) + 2.6 * np.exp(-STEPS / 1000)
    assert staircase(STEPS, values).number == 0


@pytest.mark.parametrize("height", [0.5, 2.8, 10.0, 50.0])
def test_the_height_of_the_first_fall_does_not_matter(height):
    """A last drop that is slow, as trained networks have it: 0.3 in 120 steps, after a plateau that itself falls by 0.05."""
    values = np.interp(STEPS, [0, 300, 360, 480, 600, 800], [1.2, 1.1, 0.45, 0.4, 0.13, 0.08])
    assert staircase(STEPS, values + height * np.exp(-STEPS / 12)).number == 3


def test_a_spike_on_a_plateau_does_not_count():
    values = planted()
    values[20:23] = 2.0
    assert staircase(STEPS, values).number == 3


@pytest.mark.parametrize(("widths", "number"), [(3, 2), (5, 2), (8, 3), (10, 3)])
def test_drops_that_run_into_each_other_are_one(widths, number):
    values = planted(300, 300 + widths * 20, 20)
    assert staircase(STEPS, values).number == number
    assert staircase(STEPS, noisy(values, 0.01, 0)).number == number


def test_a_plateau_shorter_than_the_distance_of_evaluations_is_not_seen():
    fine = np.arange(0.0, 801.0, 4.0)
    values = planted(402, 434, 1.0, fine)
    assert staircase(fine, values).number == 3
    assert staircase(fine[::10], values[::10]).number == 2


def test_a_longer_run_has_the_same_stages():
    steps = np.arange(0.0, 2001.0, 10.0)
    long = staircase(steps, planted(steps=steps))
    assert long.number == 3
    assert long.transitions == pytest.approx(staircase(STEPS, planted()).transitions)


def test_a_run_that_is_cut_in_a_drop_has_not_reached_the_next_stage():
    rows = STEPS <= 575
    assert staircase(STEPS[rows], planted(width=20)[rows]).number == 2


def test_overfitting_is_no_stage():
    values = planted() + np.maximum(STEPS - 430, 0) / 50
    found = staircase(STEPS, values)
    assert found.number == 2
    assert found.at(790) == 2
    only = staircase(STEPS, 2.8 * np.exp(-STEPS / 12) + 1.5 + STEPS / 200)
    assert (only.number, only.at(60)) == (1, 1)


def test_the_truth_is_read_before_the_run_overfits():
    """It is at p⁽¹⁾ at its best; what it is near to when it has overfitted says nothing of the stage."""
    excess = 2.8 * np.exp(-STEPS / 12) + 1.5 + STEPS / 200
    late = STEPS > 150
    found = staircase(STEPS, excess, np.stack([np.where(late, 3.0, 1.0), np.full(STEPS.size, 2.0)]))
    assert found.truths == ((1,),)


def test_a_run_that_diverges_is_read_up_to_there():
    values = planted()
    values[60:] = np.nan
    assert staircase(STEPS, values) == staircase(STEPS[:60], planted()[:60])
    with pytest.raises(RequestError, match="step 0 is not finite"):
        staircase(STEPS, np.full(STEPS.size, np.nan))


def divergences(*, nearer=0.0):
    """From p⁽¹⁾, p⁽²⁾, p⁽³⁾; `nearer` is what p⁽²⁾ gains on the first plateau."""
    stage = 1 + drop(330, 8) + drop(575, 8)
    kl = np.stack([0.5 * np.abs(stage - n) + 0.1 for n in (1, 2, 3)])
    kl[1] -= nearer * (1 - drop(330, 8))
    return kl


def test_the_nearest_truth_confirms_a_stage_contradicts_it_or_cannot_tell():
    sure = staircase(STEPS, planted(), divergences())
    assert sure.truths == ((1,), (2,), (3,))
    assert set(sure.standings) == {"confirmed"}
    assert sure.in_order(3)
    assert not sure.in_order(2)
    both = staircase(STEPS, planted(), divergences(nearer=0.5))
    assert both.truths[0] == (1, 2)
    assert both.standings == ("not told apart", "confirmed", "confirmed")
    assert both.in_order(3)
    wrong = staircase(STEPS, planted(), divergences(nearer=0.5 + 1.1 * APART))
    assert wrong.standings[0] == "contradicted"
    assert wrong.number == 3
    assert not wrong.in_order(3)
    assert staircase(STEPS, planted(), divergences(nearer=0.5 + 1.1 * APART), apart=0.2).in_order(3)


@given(
    steps=st.floats(0.1, 100), height=st.floats(0.1, 100), seed=st.integers(0, 30), noise=st.sampled_from([0.0, 0.01])
)
@settings(deadline=None, max_examples=25)
def test_units_do_not_matter(steps, height, seed, noise):
    values = noisy(planted(), noise, seed)
    one, two = staircase(STEPS, values), staircase(steps * STEPS, height * values)
    assert one.number == two.number
    assert two.transitions == pytest.approx([steps * x for x in one.transitions], rel=1e-6)


@given(values=st.lists(st.floats(0, 10), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_any_curve_gets_stages_in_order_that_go_down(values):
    found = staircase(np.arange(len(values)), values)
    levels = [one.level for one in found.stages]
    assert levels == sorted(levels, reverse=True)
    assert len(found.transitions) == max(found.number - 1, 0)
    assert list(found.transitions) == sorted(found.transitions)


@pytest.mark.parametrize(
    ("excess", "kl", "apart", "sentence"),
    [
        (np.ones((2, 81)), None, 0.1, "one curve at a time"),
        (np.ones(81), np.ones(81), 0.1, "one row per truth"),
        (np.ones(81), np.ones((3, 80)), 0.1, "not a curve"),
        (np.ones(81), None, -1.0, "apart = -1"),
    ],
)
def test_what_is_no_staircase_is_refused(excess, kl, apart, sentence):
    with pytest.raises(RequestError, match=sentence):
        staircase(STEPS, excess, kl, apart=apart)
