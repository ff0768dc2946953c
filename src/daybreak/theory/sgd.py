"""Stochastic gradient descent of the toy model on sampled batches (paper A, A.3.4 and figure 9).

A sequence of T tokens in R^d enters the model only through z = Σ_t α_t x_t over the irrelevant positions, the relevant
token, and the T numbers ⟨v, x_t⟩ that the gradient of the logits needs. For Gaussian tokens these can be drawn exactly
without drawing the tokens: z first, then, given z, the projections on the direction v = Wᵀ(y − y*), which depends on z.
That takes 2d + T random numbers a sequence where the tokens take d·T, and the descent has the same distribution.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import NDArray

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import check_setting
from daybreak.theory.flow import integrate
from daybreak.theory.full import Parameters, Problem, expected_loss
from daybreak.theory.reduced import attention, loss_random


class Descent(NamedTuple):
    """Curves over steps, one row per seed: expected loss, attention α, and projection w of the weights on the target."""

    steps: NDArray
    loss: Floats
    alpha: Floats
    w: Floats


def sgd(
    T: int, d: int, *, seeds: int = 5, steps: int, every: int = 50, batch: int = 32, learning_rate: float = 1.0
) -> Descent:
    """Train the toy model from random weights on random targets, both N(0, 1/d), one relevant token, no repetition.

    Args:
        T: sequence length.
        d: dimension.
        seeds: number of runs; target, weights and data differ.
        steps: steps of descent; a multiple of `every`.
        every: steps between two records.
        batch: fresh sequences per step.
        learning_rate: step size; flow time is steps × learning rate.

    Returns:
        A `Descent` whose arrays have shape (seeds, steps/every + 1).

    Example:
        >>> runs = sgd(T=8, d=4, seeds=2, steps=200, every=100)
        >>> runs.steps.tolist(), bool(runs.loss[:, 0].min() > 0.5), bool(runs.loss[:, -1].max() < 0.01)
        ([0, 100, 200], True, True)
    """
    check_setting(T, d, 1, 0.0, "free")
    if min(seeds, steps, every, batch) < 1 or steps % every:
        raise RequestError(
            f"seeds = {seeds}, steps = {steps}, every = {every}, batch = {batch} are not allowed: "
            "all must be at least 1, and steps a multiple of every."
        )
    keys = jax.vmap(jax.random.key)(jnp.arange(seeds))
    run = partial(_run, T=T, d=d, records=steps // every, every=every, batch=batch)
    loss, alpha, w = (np.asarray(x) for x in jax.vmap(run, in_axes=(0, None))(keys, jnp.asarray(learning_rate)))
    return Descent(np.arange(0, steps + 1, every), loss, alpha, w)


def sgd_limit(T: int, d: int, *, times: ArrayLike, w_start: ArrayLike) -> Descent:
    """The limit of `sgd` for small steps: the gradient flow from random weights, one row per start.

    The part of the random weights that is orthogonal to the target is kept (`reduced.loss_random`); its length starts
    at √d. Seeds differ by the projection `w_start` of their weights on their target, and that sets their plateaus.

    Example:
        >>> import numpy as np
        >>> unlucky, lucky = sgd_limit(T=8, d=4, times=np.linspace(0, 40, 5), w_start=[-1.0, 1.0]).loss
        >>> bool(unlucky[-1] > 10 * lucky[-1])  # weights that start opposite to the target emerge later
        True
    """
    setting = check_setting(T, d, 1, 0.0, "free")
    times = np.asarray(times, dtype=np.float64)
    rows = []
    for w in np.atleast_1d(np.asarray(w_start, dtype=np.float64)):
        start = np.array([np.sqrt(max(d - w**2, 0.0)), w, 0.0])
        states = integrate(loss_random, setting, start, times).T
        rows.append((loss_random(states, setting, np), attention(states[2], setting), states[1]))
    return Descent(times, *(np.stack(x) for x in zip(*rows, strict=True)))


@partial(jax.jit, static_argnames=("T", "d", "records", "every", "batch"))
def _run(key: PRNGKeyArray, learning_rate: Float[Array, ""], *, T: int, d: int, records: int, every: int, batch: int):
    target_key, weights_key, data_key = jax.random.split(key, 3)
    target, weights = (jax.random.normal(k, (d, d)) / jnp.sqrt(d) for k in (target_key, weights_key))
    variance = jnp.full(d, 1 / d)
    problem = Problem(target, jnp.arange(T) == T - 1, variance, variance, jnp.asarray(1 / d))
    start = Parameters(jnp.zeros(T), weights)

    def observe(parameters: Parameters):
        w = jnp.sum(target * parameters.W) / jnp.linalg.norm(target)
        return expected_loss(parameters, problem), jax.nn.softmax(parameters.a)[-1], w

    def step(i, parameters: Parameters) -> Parameters:
        gradient = batch_gradient(jax.random.fold_in(data_key, i), parameters, target, batch)
        return jax.tree.map(lambda x, g: x - learning_rate * g, parameters, gradient)

    def record(parameters: Parameters, i):
        parameters = jax.lax.fori_loop(i * every, (i + 1) * every, step, parameters)
        return parameters, observe(parameters)

    _, later = jax.lax.scan(record, start, jnp.arange(records))
    return tuple(jnp.concatenate([first[None], rest]) for first, rest in zip(observe(start), later, strict=True))


def batch_gradient(key: PRNGKeyArray, parameters: Parameters, target: Float[Array, "d d"], batch: int) -> Parameters:
    """Gradient of the loss on `batch` fresh sequences whose last token is relevant, with the tokens integrated out."""
    T, d = parameters.a.size, target.shape[0]
    alpha = jax.nn.softmax(parameters.a)
    others = alpha.at[-1].set(0.0)
    size = jnp.sum(others**2)
    mix_key, token_key, rest_key = jax.random.split(key, 3)
    mix = jnp.sqrt(size / d) * jax.random.normal(mix_key, (batch, d))  # Σ_t α_t x_t over irrelevant t
    token = jax.random.normal(token_key, (batch, d)) / jnp.sqrt(d)
    attended = mix + alpha[-1] * token
    error = attended @ parameters.W.T - token @ target.T
    back = error @ parameters.W  # v, the derivative of the loss by the attended token
    # ⟨v, x_t⟩ given the mix: its mean along α, and noise orthogonal to α.
    free = jnp.linalg.norm(back, axis=1, keepdims=True) / jnp.sqrt(d) * jax.random.normal(rest_key, (batch, T))
    free = free.at[:, -1].set(0.0)
    along = (jnp.sum(back * mix, axis=1) - free @ others) / size
    slopes = free + along[:, None] * others[None, :]
    slopes = slopes.at[:, -1].set(jnp.sum(back * token, axis=1))
    slope = jnp.mean(slopes, axis=0)
    return Parameters(a=alpha * (slope - jnp.dot(alpha, slope)), W=error.T @ attended / batch)
