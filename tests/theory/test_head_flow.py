"""Staircases of the heads: they rest on the plateaus, noise breaks their symmetry, and papers A and B agree where they meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.theory.heads import HeadFlow
from tests.theory import drawn


@given(drawn.tasks(correlated=True), st.integers(1, 3), st.sampled_from(["logits", "published"]))
@settings(max_examples=8)
def test_the_loss_only_falls_and_attention_is_shared_out(task: theory.Patterns, heads: int, flow: HeadFlow) -> None:
    line = theory.head_flow(task, heads, eps=1e-3, flow=flow)
    assert line.loss[0] == pytest.approx(theory.plateau_levels(task)[0])
    assert np.all(np.diff(line.loss) <= 1e-7)
    np.testing.assert_allclose(line.attention.sum(axis=2), 1, rtol=1e-9)
    inside = np.stack([line.attention[:, :, task.labels == k].sum(axis=2) for k in range(task.K)], axis=2)
    np.testing.assert_allclose(line.mass, inside, atol=1e-12)
    assert line.loss[-1] >= theory.plateau_levels(task)[min(heads, task.K)] - 1e-7


@pytest.mark.parametrize("flow", ["logits", "published"])
def test_a_staircase_rests_on_the_plateaus_of_paper_b(flow: HeadFlow) -> None:
    task = theory.patterns([4, 2, 1], T=6)
    line = theory.head_flow(task, 3, eps=1e-9, flow=flow)
    levels, at = theory.plateau_levels(task), line.transitions
    assert np.all(np.diff(at) > 0)
    for n in (1, 2):
        before = np.interp(at[n - 1] + 0.8 * (at[n] - at[n - 1]), line.t, line.loss)
        assert before == pytest.approx(levels[n], rel=0.05)
    assert line.loss[-1] < 1e-2 * levels[2]


@given(drawn.tasks(), st.integers(2, 5))
@settings(max_examples=4)
def test_without_noise_heads_are_equal_for_ever(task: theory.Patterns, heads: int) -> None:
    line = theory.head_flow(task, heads, eps=0, times=[0, 1e2, 1e5])
    assert np.ptp(line.attention, axis=1).max() == 0
    assert np.ptp(line.values, axis=1).max() == 0
    assert line.loss[-1] == pytest.approx(theory.plateau_levels(task)[1], abs=2e-2 * line.loss[0])


@pytest.mark.parametrize("g", [0.3, 0.6])
def test_correlated_features_move_the_first_plateau(g: float) -> None:
    task = theory.patterns([2, 1], T=5, gram=[[1, g], [g, 1]])
    line = theory.head_flow(task, 2, eps=0, times=[0, 1e5])
    assert line.loss[-1] == pytest.approx(theory.plateau_levels(task)[1], rel=1e-3)
    assert line.mass[-1, 0].min() > 0.05, "attention mixes the two blocks"


@pytest.mark.parametrize(("T", "d", "heads"), [(32, 16, 1), (64, 9, 1), (32, 4, 3)])
def test_one_pattern_is_the_toy_model_of_paper_a(T: int, d: int, heads: int) -> None:
    """H heads and one pattern of strength H√d are paper A's model in dimension d, dH times as fast."""
    level, goal = 0.2, float(theory.plateau(T, d, logits="free", level=0.2)) / (d * heads)
    task = theory.patterns([heads * np.sqrt(d)], T=T)
    line = theory.head_flow(task, heads, eps=0, times=np.linspace(0.99 * goal, 1.01 * goal, 41))
    assert np.interp(-level, -line.loss / theory.plateau_levels(task)[0], line.t) == pytest.approx(goal, rel=1e-5)


def test_a_given_start_and_the_same_seed_are_followed() -> None:
    task = theory.patterns([2, 1])
    start = [[0.1, 0.0], [0.0, 0.1]]
    line = theory.head_flow(task, 2, start=start, times=[0, 1])
    np.testing.assert_allclose(np.diff(np.log(line.attention[0]), axis=1), [[-0.1], [0.1]])
    first, second, other = (theory.head_flow(task, 2, eps=0.1, seed=x, times=[0, 1]).attention for x in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"heads": 0}, "heads = 0 is not allowed"),
        ({"heads": 1.5}, "heads = 1.5 is not allowed"),
        ({"heads": [1, 2]}, "heads of shape"),
        ({"heads": 2, "eps": -1e-3}, "eps = -0.001 is not allowed"),
        ({"heads": 2, "eps": np.nan}, "eps = nan is not allowed"),
        ({"heads": 2, "seed": -1}, "seed = -1 is not allowed"),
        ({"heads": 2, "flow": "once"}, "flow = 'once' is unknown: choose 'logits' or 'published'"),
        ({"heads": 2, "start": [[0.0, 0.0]]}, "2 heads on 2 positions need 2 × 2 logits"),
        ({"heads": 2, "times": [1.0, 0.5]}, "times are not allowed"),
    ],
)
def test_bad_requests(arguments: dict, said: str, as_a_user: None) -> None:
    with pytest.raises(RequestError, match=said):
        theory.head_flow(theory.patterns([2, 1]), **arguments)
