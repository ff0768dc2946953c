"""What the stop rule watches is one rule: the trainer, the stored plateau and a forecast agree on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.training.watched import finite, watched

NAMES = {False: "clean_loss", True: "clean_accuracy"}


def _curves(values: list[float], accuracy: bool) -> dict:
    curve = np.array(values, np.float32)
    return {"clean_loss": curve} | ({"clean_accuracy": 1 - curve} if accuracy else {})


@pytest.mark.parametrize(("accuracy", "direction"), [(False, "down"), (True, "up")])
def test_an_accuracy_is_watched_where_there_is_one(accuracy: bool, direction: str) -> None:
    rule = watched(0.9, _curves([0.5], accuracy))
    assert (rule.name, rule.direction, rule.level) == (NAMES[accuracy], direction, float(np.float32(0.9)))


@given(
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]),
    st.booleans(),
)
def test_the_first_row_that_reaches_the_level_ends_the_plateau(
    values: list[float], level: float, accuracy: bool
) -> None:
    """Also where a value equals the level: 0.9 in single precision lies below 0.9."""
    values = [level, *values]
    curves, steps = _curves(values, accuracy), 10 * np.arange(len(values))
    rule = watched(level, curves)
    reached = [rule.reached({name: x[i] for name, x in curves.items()}) for i in range(len(values))]
    plateau = rule.plateau(steps, curves)
    assert plateau.censored == (not any(reached))
    assert plateau.bracket[1] == (steps[reached.index(True)] if any(reached) else np.inf)


@pytest.mark.parametrize("accuracy", [False, True])
def test_a_run_counts_until_its_loss_is_not_finite(accuracy: bool) -> None:
    """Accuracies of a diverged network are finite, and mean nothing."""
    curves = _curves([0.5, 0.4, np.nan, 0.0], False)
    curves |= {"clean_accuracy": np.array([0.1, 0.2, 0.9, 0.9], np.float32)} if accuracy else {}
    assert finite(curves) == 2
    plateau = watched(0.8 if accuracy else 0.1, curves).plateau(np.arange(4), curves)
    assert (plateau.length, plateau.censored) == (1, True)
    assert finite(_curves([np.inf], False)) == 0
    assert finite(_curves([1.0, 2.0], False)) == 2


@given(st.lists(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4), min_size=1, max_size=12))
def test_attention_is_watched_in_the_head_that_has_the_most(heads: list[list[float]]) -> None:
    """Whichever head that is at a step; an accuracy that the task has does not count."""
    maps = np.array(heads, np.float32).reshape(-1, 2, 2)
    curves, steps = _curves([0.5] * len(maps), True) | {"attention": maps}, 10 * np.arange(len(maps))
    rule = watched(0.3, curves, "attention")
    reached = [rule.reached({name: x[i] for name, x in curves.items()}) for i in range(len(maps))]
    assert reached == [max(x) >= np.float32(0.3) for x in heads]
    plateau = rule.plateau(steps, curves)
    assert plateau.censored == (not any(reached))
    assert plateau.bracket[1] == (steps[reached.index(True)] if any(reached) else np.inf)
    np.testing.assert_array_equal(rule.curve(curves), np.array(heads, np.float32).max(axis=1))
