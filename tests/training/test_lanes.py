"""Lanes: side by side in one lane, as on an accelerator, members train as each does in its own, as on a CPU."""

import jax
import numpy as np
import pytest

from daybreak.models import Transformer
from daybreak.tasks import Recall
from daybreak.training import Optimizer, Run
from daybreak.training.lanes import Lanes, Row

MODEL = Transformer(layers=2, heads=2, width=16, head_width=8, mlp=32, norm="pre", causal=True)
RUNS = [
    Run(Recall(N=3, V=8, B=B, p=p), MODEL, Optimizer(learning_rate=rate), seed=seed, batch=8, evaluation=32)
    for seed, B, p, rate in ((0, 1.0, 0.0, 1e-3), (1, 2.0, 0.3, 3e-3), (2, 1.5, 0.1, 1e-2))
]


def _same(row: Row | None, other: Row | None) -> None:
    assert row is not None
    assert other is not None
    assert row.keys() == other.keys()
    for name, value in row.items():
        np.testing.assert_allclose(value, other[name], rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("width", [2, 3])
def test_how_many_share_a_lane_does_not_matter(width: int) -> None:
    """Members stop at different steps, one of them rests meanwhile; three do not fill two lanes of two."""
    alone, beside = Lanes(RUNS), Lanes(RUNS, width)
    for until, active in (([20, 10, 30], [True, True, True]), ([50, 0, 50], [True, False, True])):
        rows, others = (lanes.advance(until, active, [True] * 3) for lanes in (alone, beside))
        for i in np.flatnonzero(active):
            _same(rows[i], others[i])
        assert [row is not None for row in rows] == [row is not None for row in others] == active
    for lanes in (alone, beside):
        assert [int(lanes.learner(i).step) for i in range(3)] == [50, 10, 50]


@pytest.mark.parametrize("width", [1, 3])
def test_members_go_on_from_where_they_are_put(width: int) -> None:
    first, second = Lanes(RUNS, width), Lanes(RUNS, width)
    first.advance([10] * 3, [True] * 3, [True] * 3)
    second.put([first.learner(i) for i in range(3)])
    for lanes in (first, second):
        lanes.advance([20] * 3, [True] * 3, [True] * 3)
    for i in range(3):
        jax.tree.map(np.testing.assert_array_equal, first.learner(i), second.learner(i))
