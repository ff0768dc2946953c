"""Stochastic descent with the tokens integrated out has the distribution of descent on the tokens."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from daybreak import measure, theory
from daybreak.errors import RequestError
from daybreak.theory.full import Parameters
from daybreak.theory.sgd import batch_gradient

_T, _D, _BATCH, _DRAWS = 5, 3, 4, 20_000


def _token_gradient(key, parameters: Parameters, target) -> Parameters:
    """The plain way: draw every token, differentiate the batch loss."""
    x = jax.random.normal(key, (_BATCH, _T, _D)) / jnp.sqrt(_D)

    def loss(parameters: Parameters):
        alpha = jax.nn.softmax(parameters.a)
        error = jnp.einsum("t,ntd->nd", alpha, x) @ parameters.W.T - x[:, -1] @ target.T
        return 0.5 * jnp.mean(jnp.sum(error**2, axis=1))

    return jax.grad(loss)(parameters)


def test_gradients_have_the_distribution_of_sampled_tokens() -> None:
    """Each coordinate, and random mixtures of all, by a two-sample Kolmogorov-Smirnov test at 1e-4 after Bonferroni."""
    keys = jax.random.split(jax.random.key(1), 5)
    parameters = Parameters(jax.random.normal(keys[0], (_T,)), jax.random.normal(keys[1], (_D, _D)))
    target = jax.random.normal(keys[2], (_D, _D))
    ours = jax.vmap(lambda k: batch_gradient(k, parameters, target, _BATCH))(jax.random.split(keys[3], _DRAWS))
    plain = jax.vmap(lambda k: _token_gradient(k, parameters, target))(jax.random.split(keys[4], _DRAWS))
    flat = [np.concatenate([np.asarray(x.a), np.asarray(x.W).reshape(_DRAWS, -1)], axis=1) for x in (ours, plain)]
    mixtures = np.random.default_rng(0).standard_normal((flat[0].shape[1], 20))
    columns = [np.concatenate([x, x @ mixtures], axis=1) for x in flat]
    tests = columns[0].shape[1]
    for i in range(tests):
        assert stats.ks_2samp(columns[0][:, i], columns[1][:, i])[1] > 1e-4 / tests, i


def test_descent_follows_the_flow_from_its_own_start() -> None:
    """Every seed's plateau is predicted by the flow from its random weights, to 5 %."""
    T, d = 64, 64
    steps = 10 * int(2 * theory.plateau(T, d) / 10)
    descent = theory.sgd(T, d, seeds=3, steps=steps, every=10, batch=64)
    limit = theory.sgd_limit(T, d, times=descent.steps, w_start=descent.w[:, 0])
    for seen, expected in zip(descent.loss, limit.loss, strict=True):
        found, predicted = (measure.plateau(descent.steps, x, level=0.1) for x in (seen, expected))
        assert not found.censored
        assert predicted.length == pytest.approx(found.length, rel=0.05)


def test_records_and_seeds() -> None:
    descent = theory.sgd(8, 4, seeds=2, steps=20, every=5)
    assert descent.steps.tolist() == [0, 5, 10, 15, 20]
    assert descent.loss.shape == descent.alpha.shape == descent.w.shape == (2, 5)
    assert descent.alpha[:, 0] == pytest.approx(1 / 8)
    assert not np.array_equal(descent.loss[0], descent.loss[1])
    again = theory.sgd(8, 4, seeds=2, steps=20, every=10)
    np.testing.assert_array_equal(again.loss, descent.loss[:, ::2])


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match="steps a multiple of every"):
        theory.sgd(8, 4, steps=21, every=5)
    with pytest.raises(RequestError, match="T = 1 is not allowed"):
        theory.sgd(1, 4, steps=10, every=5)
