"""The model and the text of the examples are those of `daybreak train text`, in PyTorch."""

from collections import Counter

import numpy as np
import pytest

from daybreak.tasks import Text
from tests.watch.run_script import run_script


@pytest.fixture(scope="module")
def twin() -> dict:
    return run_script("twin")


def test_from_the_same_weights_both_compute_and_learn_the_same(twin: dict) -> None:
    assert twin["outputs"] < 1e-5
    assert twin["attention"] < 1e-5
    losses = np.array(twin["losses"])
    assert losses[0, 0] > losses[-1, 0] + 0.05, "ten steps are enough to learn something"
    np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=1e-4)


def test_weights_are_drawn_alike(twin: dict) -> None:
    assert len(twin["scales"]) == 25
    for name, (ours, theirs) in twin["scales"].items():
        assert theirs == pytest.approx(ours, rel=0.25, abs=1e-9), name


def test_sequences_are_drawn_alike(twin: dict) -> None:
    """Tokens are their own places, so that what was trained on and what repeats can be read off."""
    places = twin["places"]
    assert not set(places["trained"]) & set(places["held_out"])
    task = Text(T=64)  # the same split, of another text
    assert task.split.parts * task.clean().split.length == pytest.approx(task.corpus.tokens.size / 10, rel=0.001)
    repeated = [one for one in places["repeats"] if one[1]]
    assert len(repeated) / len(places["repeats"]) == pytest.approx(0.5, abs=0.05)
    assert {tuple(one[:2]) for one in repeated} == {(10, 10)}, "ten tokens occur four times, no other twice"
    distances = Counter(distance for one in repeated for distance in one[2:])
    assert sum(distances.values()) == len(repeated), "copies are at equal distances"
    assert distances.keys() == set(range(10, 19))
    assert min(distances.values()) > 0.6 * len(repeated) / 9, "all of them equally likely"
