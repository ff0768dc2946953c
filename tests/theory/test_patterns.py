"""What is to be learned is laid out as asked, its plateaus are where the mathematics puts them, and nonsense is refused."""

import numpy as np
import pytest
from hypothesis import given

from daybreak import theory
from daybreak.errors import RequestError
from tests.theory import drawn


@given(drawn.tasks(correlated=True))
def test_blocks_follow_each_other_and_features_have_their_inner_products(task: theory.Patterns) -> None:
    assert task.labels.size == task.T
    assert np.all(np.diff(task.labels) >= 0)
    assert [np.sum(task.labels == k) for k in range(task.K)] == task.blocks.tolist()
    np.testing.assert_allclose(task.features.T @ task.features, task.gram, atol=1e-12)


@given(drawn.tasks(correlated=True))
def test_levels_fall_from_the_norm_of_the_target_to_zero(task: theory.Patterns) -> None:
    levels = theory.plateau_levels(task)
    assert levels.shape == (task.K + 1,)
    assert levels[0] == pytest.approx(task.importance.sum() / 2)
    assert np.all(np.diff(levels) <= 1e-12)
    assert levels[-1] == 0


@given(drawn.tasks())
def test_levels_of_paper_b(task: theory.Patterns) -> None:
    drops = np.sort(task.strengths**2 / task.blocks)[::-1]
    expected = [0.5 * drops[n:].sum() for n in range(task.K + 1)]
    np.testing.assert_allclose(theory.plateau_levels(task), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"strengths": []}, "at least one"),
        ({"strengths": [[1, 2]]}, "one number per pattern"),
        ({"strengths": [2, 0]}, "strengths = 0 is not allowed: the strength of a pattern must be above 0"),
        ({"strengths": [2, -1]}, "strengths = -1 is not allowed"),
        ({"strengths": [2, np.nan]}, "strengths = nan is not allowed: it must be finite"),
        ({"strengths": "two"}, "strengths = 'two' is not allowed"),
        ({"strengths": [2, 1], "blocks": [1, 1, 1]}, "one for each of the 2 patterns"),
        ({"strengths": [2, 1], "blocks": 0}, "blocks = 0 is not allowed"),
        ({"strengths": [2, 1], "blocks": 1.5}, "blocks = 1.5 is not allowed"),
        ({"strengths": [2, 1], "blocks": 3, "T": 5}, "T = 5 is not allowed: the blocks take 6 positions"),
        ({"strengths": [2, 1], "T": 2.5}, "T = 2.5 is not allowed"),
        ({"strengths": [2, 1], "T": [3, 4]}, "T of shape"),
        ({"strengths": [2, 1], "gram": np.eye(3)}, "2 patterns need 2 × 2 inner products"),
        ({"strengths": [2, 1], "gram": [[1, 0.5], [0.2, 1]]}, "symmetric"),
        ({"strengths": [2, 1], "gram": [[2, 0], [0, 1]]}, "ones on its diagonal"),
        ({"strengths": [2, 1], "gram": [[1, 1.5], [1.5, 1]]}, "no features have these inner products"),
    ],
)
def test_bad_patterns(arguments: dict, said: str, as_a_user: None) -> None:
    with pytest.raises(RequestError, match=said):
        theory.patterns(**arguments)


def test_levels_of_mixed_correlations_are_not_known() -> None:
    gram = [[1, 0.3, -0.2], [0.3, 1, 0], [-0.2, 0, 1]]
    with pytest.raises(RequestError, match=r"correlations from -0\.2 to 0\.3"):
        theory.plateau_levels(theory.patterns([3, 2, 1], gram=gram))
