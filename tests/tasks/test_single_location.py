"""Single-location regression has the distribution the paper gives it. Every test is at significance 1e-4."""

from dataclasses import replace
from itertools import combinations

import jax
import numpy as np
import pytest
from scipy import stats

from daybreak.tasks import SingleLocation

LEVEL = 1e-4


def test_tokens_are_normal_with_covariance_one_over_d(draw):
    T, d, n = 4, 3, 10_000
    _, examples = draw(SingleLocation(T=T, d=d), n)
    tokens = examples.inputs[:, :, :d].reshape(n, T * d) * np.sqrt(d)
    assert stats.kstest(tokens.ravel(), "norm").pvalue > LEVEL
    # The T·d entries of a sequence, relevant ones included, are independent: n·S is a Wishart matrix.
    z = (tokens.T @ tokens / n - np.eye(T * d)) / np.sqrt((1 + np.eye(T * d)) / n)
    assert np.abs(z).max() < stats.norm.isf(LEVEL / 2 / z.size)


def test_target_weights_have_variance_one_over_d(draw):
    worlds, _ = draw(SingleLocation(T=4, d=3), 10_000)
    assert stats.kstest(worlds.W.ravel() * np.sqrt(3), "norm").pvalue > LEVEL


def test_unit_columns_put_the_plateau_at_one_half():
    """The mean squared target of y = 0 is one for every world, and other draws are as without."""
    task, plain = (SingleLocation(T=4, d=3, unit_columns=x) for x in (True, False))
    worlds = [x.world(jax.random.key(7)) for x in (task, plain)]
    np.testing.assert_allclose(np.linalg.norm(worlds[0].W, axis=0), 1, rtol=1e-6)
    ratio = worlds[0].W / worlds[1].W
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:1], ratio.shape), rtol=1e-5)
    np.testing.assert_array_equal(worlds[0].repeated, worlds[1].repeated)


@pytest.mark.parametrize("position", ["random", "fixed"])
@pytest.mark.parametrize("B", [1, 2, 4])
def test_every_set_of_B_positions_is_equally_likely(draw, position, B):
    _, examples = draw(SingleLocation(T=5, d=3, B=B, position=position), 10_000)
    sets = [tuple(np.flatnonzero(row)) for row in examples.relevant[:, 0]]
    counts = [sets.count(chosen) for chosen in combinations(range(5), B)]
    assert sum(counts) == 10_000
    assert stats.chisquare(counts).pvalue > LEVEL


def test_fixed_positions_stay_and_grow_with_B(draw):
    task = SingleLocation(T=5, d=3, position="fixed")
    rows = []
    for B in (1, 2, 4):
        _, examples = draw(replace(task, B=B), 10_000, one_world=True)
        assert (examples.relevant == examples.relevant[:1]).all()
        rows.append(examples.relevant[0, 0])
    assert (rows[0] <= rows[1]).all() and (rows[1] <= rows[2]).all()


def test_random_positions_differ_within_a_world(draw):
    _, examples = draw(SingleLocation(T=5, d=3, B=2), 10_000, one_world=True)
    assert stats.chisquare(examples.relevant[:, 0].sum(axis=0)).pvalue > LEVEL


def test_the_relevant_token_is_copied_and_marked(draw):
    _, (inputs, _, relevant) = draw(SingleLocation(T=5, d=3, B=2, p=0.5), 10_000)
    np.testing.assert_array_equal(inputs[:, :, 3], relevant[:, 0])
    pairs = inputs[relevant[:, 0]].reshape(10_000, 2, 4)
    np.testing.assert_array_equal(pairs[:, 0], pairs[:, 1])


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9])
def test_the_repeated_token_comes_with_probability_p(draw, p):
    world, (inputs, _, relevant) = draw(SingleLocation(T=5, d=3, p=p), 10_000, one_world=True)
    np.testing.assert_allclose(np.linalg.norm(world.repeated), 1, rtol=1e-6)
    repeated = (inputs[:, :, :3] == world.repeated).all(axis=2)
    assert not repeated[~relevant[:, 0]].any()
    assert stats.binomtest(int(repeated.sum()), 10_000, p).pvalue > LEVEL
