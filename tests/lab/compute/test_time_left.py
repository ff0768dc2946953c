"""The time that is left: planted speeds and lengths are recovered at every moment of a sweep."""

import time

import pytest

from daybreak.lab.compute.messages import RunStatus
from daybreak.lab.compute.state import Assignment, State
from daybreak.models import ToyAttention
from daybreak.tasks import SingleLocation
from daybreak.training import Run, Stop

RUNS = [Run(SingleLocation(T=4, d=2), ToyAttention(), stop=Stop(budget=10_000), seed=seed) for seed in range(4)]
EACH = 1e6  # operations of a run if it uses its budget: 100 a step
PACE = 0.05  # seconds a step, of all runs together


def _status(step: int, emerged: int | None = None) -> RunStatus:
    return RunStatus(step, loss=0.5, accuracy=None, attention=0.1, emerged=emerged)


def _state(under_way: dict[int, RunStatus], done: int, steps_done: int, expected: float | None) -> State:
    """Of four runs, `done` are done after `steps_done` steps, some are under way, and all steps took `PACE` each."""
    known = {} if expected is None else {run.id: expected for run in RUNS}
    members = {RUNS[i].id: RUNS[i] for i in under_way}
    statuses = {RUNS[i].id: status for i, status in under_way.items()}
    steps = steps_done + sum(x.step for x in under_way.values())
    state = State(4, expected=known, under_way={0: Assignment(members, dict.fromkeys(members, EACH), "w", statuses)})
    left = 4 - done
    state.operations, state.operations_expected = left * EACH, left * EACH * (expected or 10_000) / 10_000
    state.computed, state.first_report = 100.0 * steps_done, time.monotonic() - PACE * steps
    return state


@pytest.mark.parametrize(
    ("under_way", "done", "steps_done", "left", "at_most"),
    [
        ({0: _status(100)}, 0, 0, 400 + 3 * 500, 9_900 + 30_000),
        ({0: _status(499)}, 0, 0, 1 + 3 * 500, 9_501 + 30_000),
        ({1: _status(250), 2: _status(350)}, 1, 500, 250 + 150 + 500, 9_750 + 9_650 + 10_000),
        ({3: _status(400, emerged=380)}, 3, 1_500, 1.2 * 380 - 400, 9_600),  # it has emerged: the margin is left
        ({3: _status(800)}, 3, 1_500, 400, 9_200),  # it is late: half as long again
        ({3: _status(9_000)}, 3, 1_500, 1_000, 1_000),  # never beyond the budget
    ],
)
def test_planted_lengths(under_way: dict[int, RunStatus], done: int, steps_done: int, left: float, at_most: float):
    estimate = _state(under_way, done, steps_done, expected=500.0).time_left
    assert estimate is not None
    assert estimate.expected == pytest.approx(PACE * left, rel=0.01)
    assert estimate.at_most == pytest.approx(PACE * at_most, rel=0.01)


def test_without_a_known_length_only_the_limit_is_stated() -> None:
    estimate = _state({0: _status(100)}, 0, 0, expected=None).time_left
    assert estimate is not None
    assert estimate.expected is None
    assert estimate.at_most == pytest.approx(PACE * 39_900, rel=0.01)


def test_what_was_computed_before_the_first_report_does_not_count_for_the_speed() -> None:
    state = _state({0: _status(1_100)}, 0, 0, expected=2_000.0)
    state.computed_before, state.first_report = 100.0 * 1_000, time.monotonic() - PACE * 100
    estimate = state.time_left
    assert estimate is not None
    assert estimate.expected == pytest.approx(PACE * (900 + 6_000), rel=0.01)


def test_before_the_first_report_measured_rates_are_used() -> None:
    state = _state({0: _status(0)}, 0, 0, expected=500.0)
    state.first_report, state.pace = None, PACE / 100
    estimate = state.time_left
    assert estimate is not None
    assert (estimate.expected, estimate.at_most) == pytest.approx((PACE * 4 * 500, PACE * 40_000))


def test_before_the_first_report_nothing_is_stated_without_rates() -> None:
    assert State(4).time_left is None
    state = _state({0: _status(0)}, 0, 0, expected=500.0)
    state.first_report = None
    assert state.time_left is None
