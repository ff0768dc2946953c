"""Forecasts: a planted step of emergence is covered as often as promised, flat noise is never taken for growth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.measure import Forecast, NotEnoughEvidence, Plateau, forecast, plateau
from daybreak.measure._growth import clock, lateness

_steps = np.arange(0.0, 1000.0, 10.0)
_flat = np.full(_steps.size, 0.5)


def planted(takeoff: float, heads: int = 4, T: int = 64) -> np.ndarray:
    """Attention of heads that follow the clock and take off at a step."""
    rise = special.erfinv(np.minimum(_steps / takeoff, 1 - 1e-9)) ** 2
    return np.repeat(special.expit(rise[:, None] - np.log(T - 1)), heads, axis=1)


def seen(fraction: float, takeoff: float, attention: np.ndarray, **more):
    rows = _steps <= fraction * takeoff
    return forecast(_steps[rows], _flat[rows], 0.1, attention[rows], **more)


def test_the_clock_of_the_toy_model_runs_uniformly() -> None:
    T, d = 1024, 256
    takeoff = float(theory.takeoff_time(T, d))
    line = theory.flow(T, d, times=np.linspace(0, 0.9 * takeoff, 10))
    reading = clock(line.alpha[:, None], line.alpha[:1])
    np.testing.assert_allclose(reading, line.t / takeoff, atol=0.02)


def test_the_flow_is_forecast_before_its_loss_moves() -> None:
    """Nothing here was tuned on the flow: the networks of the tuning runs are Transformers trained by Adam."""
    for T, d in ((64, 16), (256, 64), (512, 256)):
        truth = float(theory.plateau(T, d))
        line = theory.flow(T, d, times=np.linspace(0, truth, 60))
        half = line.t <= truth / 2
        assert line.clean_loss[half].min() > 0.49
        answer = forecast(line.t[half], line.clean_loss[half], 0.1, line.alpha[half])
        assert isinstance(answer, Forecast)
        assert answer.interval.low < truth < answer.interval.high
        assert answer.median == pytest.approx(truth, rel=0.15)


@pytest.mark.parametrize("fraction", [0.3, 0.5, 0.7])
def test_intervals_cover_a_planted_step_as_often_as_promised(fraction: float) -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(500):
        takeoff = rng.uniform(300, 900)
        attention = planted(takeoff)
        answer = seen(fraction, takeoff, attention)
        assert isinstance(answer, Forecast)
        late, spread = lateness(float(clock(attention[_steps <= fraction * takeoff], attention[0])[-2:].mean()))
        truth = takeoff * np.exp(late + spread * rng.standard_normal())
        covered.append(answer.interval.low <= truth <= answer.interval.high)
    assert 0.76 <= np.mean(covered) <= 0.84


def test_noise_of_the_probe_widens_the_interval_and_does_not_move_it() -> None:
    rng = np.random.default_rng(1)
    takeoff, clean = 700.0, planted(700.0)
    sure = seen(0.6, takeoff, clean)
    assert isinstance(sure, Forecast)
    medians, widths = [], []
    for _ in range(200):
        noisy = special.expit(special.logit(clean) + 0.02 * rng.standard_normal(clean.shape))
        answer = seen(0.6, takeoff, noisy, baseline=clean[0])
        assert isinstance(answer, Forecast)
        medians.append(answer.median)
        widths.append(np.log(answer.interval.high / answer.interval.low))
    assert np.median(medians) == pytest.approx(sure.median, rel=0.05)
    assert np.mean(widths) > np.log(sure.interval.high / sure.interval.low)


@pytest.mark.parametrize("evaluations", [8, 20, 40, 100])
def test_flat_noise_is_no_evidence(evaluations: int) -> None:
    rng = np.random.default_rng(evaluations)
    steps = 10.0 * np.arange(evaluations)
    unclear = 0
    for _ in range(250):
        attention = special.expit(-4 + 0.1 * rng.standard_normal((evaluations, 8)))
        answer = forecast(steps, 0.5 + 0.02 * rng.standard_normal(evaluations), 0.1, attention)
        assert isinstance(answer, NotEnoughEvidence)
        unclear += answer.evaluations is not None
        said = "attention has not grown" if answer.evaluations is None else f"(about {answer.evaluations} would)"
        assert said in answer.reason
        assert answer.reason.endswith("and the loss has not begun to fall.")
    assert unclear < 0.3 * 250, "noise is mostly not taken for growth that needs more evaluations"


def test_it_says_how_many_evaluations_would_be_enough() -> None:
    rows = _steps <= 400
    steps, attention, flat = _steps[rows], planted(800.0)[rows], _flat[rows]
    few = forecast(steps[::8], flat[::8], 0.1, attention[::8])
    assert isinstance(few, NotEnoughEvidence)
    assert few.evaluations is not None
    assert "attention seems to grow, but 6 evaluations do not tell that from noise" in few.reason
    every = int(40 // (few.evaluations - 1))
    assert isinstance(forecast(steps[::every], flat[::every], 0.1, attention[::every]), Forecast)
    two = forecast(steps[::40], flat[::40], 0.1, attention[::40])
    assert isinstance(two, NotEnoughEvidence)
    assert two.evaluations == 5


def test_more_evidence_sharpens_the_forecast() -> None:
    takeoff, attention = 800.0, planted(800.0)
    found = [seen(fraction, takeoff, attention) for fraction in (0.3, 0.5, 0.7, 0.9)]
    widths = [np.log(x.interval.high / x.interval.low) for x in found if isinstance(x, Forecast)]
    assert len(widths) == 4
    assert sorted(widths, reverse=True) == widths
    with_law = seen(0.5, takeoff, attention, prior=(900.0, 0.1))
    assert isinstance(with_law, Forecast)
    assert np.log(with_law.interval.high / with_law.interval.low) < widths[1]
    assert {one.source for one in with_law.evidence} == {"law", "attention"}


def test_a_law_alone_is_cut_off_at_what_was_seen() -> None:
    before = forecast([0.0, 10.0], [0.5, 0.5], 0.1, prior=(500.0, 0.2))
    after = forecast([0.0, 510.0], [0.5, 0.5], 0.1, prior=(500.0, 0.2))
    assert isinstance(before, Forecast)
    assert isinstance(after, Forecast)
    assert before.median == pytest.approx(500)
    assert np.log(before.interval) == pytest.approx(np.log(500) + 0.2 * np.array([-1.2816, 1.2816]), abs=1e-4)
    assert 510 < after.interval.low < after.median < after.interval.high
    draws = 500 * np.exp(0.2 * np.random.default_rng(0).standard_normal(200_000))
    expected = np.quantile(draws[draws > 510], [0.1, 0.5, 0.9])
    assert (after.interval.low, after.median, after.interval.high) == pytest.approx(expected, rel=0.01)
    outlived = forecast([0.0, 5000.0], [0.5, 0.5], 0.1, prior=(500.0, 0.2))
    assert isinstance(outlived, NotEnoughEvidence)
    assert "should have emerged before step 5,000" in outlived.reason
    vague = forecast([0.0, 10.0], [0.5, 0.5], 0.1, prior=(500.0, 2.0))
    assert isinstance(vague, NotEnoughEvidence)


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_loss_that_falls_or_an_accuracy_that_rises_is_extrapolated(direction) -> None:
    fall = np.interp(_steps, [600, 900], [0.5, 0.0])
    curve, level = (fall, 0.1) if direction == "down" else (0.9 - fall, 0.8)
    truth = plateau(_steps, curve, level, direction=direction).length
    rows = _steps <= 760
    answer = forecast(_steps[rows], curve[rows], level, direction=direction)
    assert isinstance(answer, Forecast)
    assert [one.source for one in answer.evidence] == ["loss"]
    assert answer.interval.low < truth < answer.interval.high
    assert isinstance(forecast(_steps, curve, level, direction=direction), Plateau), "it has emerged"


@given(scale=st.floats(1e-3, 1e3), fraction=st.floats(0.4, 0.9))
@settings(max_examples=30)
def test_units_of_steps_do_not_matter(scale: float, fraction: float) -> None:
    attention, rows = planted(900.0), _steps <= fraction * 900
    one = forecast(_steps[rows], _flat[rows], 0.1, attention[rows])
    two = forecast(scale * _steps[rows], _flat[rows], 0.1, attention[rows].reshape(-1, 2, 2))
    assert isinstance(one, Forecast)
    assert isinstance(two, Forecast)
    assert two.median == pytest.approx(scale * one.median, rel=1e-9)
    assert two.interval == pytest.approx([scale * x for x in one.interval], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"probes": np.full((3, 2), 0.1)}, "one row for each of 4 steps"),
        ({"probes": np.full((4, 2), 1.5)}, "attention lies between 0 and 1"),
        ({"probes": np.full((4, 2), np.nan)}, "attention lies between 0 and 1"),
        ({"baseline": [0.1, 0.1, 0.1]}, "one for each of 2 probes"),
        ({"baseline": 0.0}, "baseline is not allowed"),
        ({"prior": (0.0, 0.1)}, r"prior = \(0.0, 0.1\) is not allowed"),
        ({"prior": (100.0, np.inf)}, "positive median and spread"),
        ({"level": np.nan}, "level = nan is not allowed"),
        ({"steps": [0, 1, 1, 2]}, "not repeat"),
        ({"values": [0.5, np.nan, 0.5, 0.5]}, "value at step 1 is not finite"),
        ({"direction": "sideways"}, "direction = 'sideways'"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict, sentence: str, as_a_user) -> None:
    given = {"steps": [0, 1, 2, 3], "values": [0.5] * 4, "level": 0.1, "probes": np.full((4, 2), 0.1)} | change
    with pytest.raises(RequestError, match=sentence):
        forecast(**given)
