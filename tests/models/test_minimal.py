"""The minimal model with gathers equals its definition with one-hot vectors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.models import Interface, MinimalAttention
from daybreak.tasks import MarkovChain
from daybreak.training import Optimizer, Run, cohort

INTERFACE = Interface(length=7, features=None, tokens=5, outputs=5, reads=(3, 4, 6))


def test_equals_the_definition() -> None:
    """With u = [token; position]; logits = Σ_h V_h Σ_j softmax_j≤t(u_tᵀ W_hᵀ u_j / √D) u_j (paper B, §2)."""
    model = MinimalAttention(heads=2, epsilon=2.0)
    parameters = model.init(jax.random.key(0), INTERFACE)
    parameters = parameters._replace(V=jax.random.normal(jax.random.key(1), (2, 5, 12)))
    W, V = (np.asarray(x) for x in parameters)
    tokens = np.array([4, 1, 0, 0, 3, 2, 1])
    u = np.concatenate([np.eye(5)[tokens], np.eye(7)], axis=1)
    expected, patterns = np.zeros((3, 5)), np.zeros((2, 3, 7))
    for i, t in enumerate(INTERFACE.reads):
        for h in range(2):
            scores = np.array([u[t] @ W[h].T @ u[j] for j in range(t + 1)]) / np.sqrt(12)
            pattern = np.exp(scores) / np.exp(scores).sum()
            expected[i] += V[h] @ (pattern @ u[: t + 1])
            patterns[h, i, : t + 1] = pattern
    output = model.apply(parameters, jnp.asarray(tokens), INTERFACE, attention=True)
    np.testing.assert_allclose(output.values, expected, rtol=1e-4, atol=1e-5)
    assert output.attention is not None
    np.testing.assert_allclose(output.attention[0], patterns, atol=1e-5)


def test_starts_silent_with_attention_uniform_over_the_past() -> None:
    model = MinimalAttention()
    output = model.apply(model.init(jax.random.key(0), INTERFACE), jnp.zeros(7, int), INTERFACE, attention=True)
    assert not np.any(output.values)
    assert output.attention is not None
    np.testing.assert_allclose(output.attention[0][:, 0, :4], 0.25, rtol=1e-5)
    assert not np.any(output.attention[0][:, 0, 4:])


def test_a_window_hides_what_lies_further_back() -> None:
    """A window of two: only the newest two tokens, and nothing of the others, decides."""
    model = MinimalAttention(heads=2, epsilon=2.0, window=2)
    parameters = model.init(jax.random.key(0), INTERFACE)
    parameters = parameters._replace(V=jax.random.normal(jax.random.key(1), (2, 5, 12)))
    tokens = np.array([4, 1, 0, 0, 3, 2, 1])
    output = model.apply(parameters, jnp.asarray(tokens), INTERFACE, attention=True)
    assert output.attention is not None
    seen = np.asarray(output.attention[0]) > 0
    for i, read in enumerate(INTERFACE.reads):
        np.testing.assert_array_equal(np.flatnonzero(seen[0, i]), [read - 1, read])
    other = model.apply(parameters, jnp.asarray([0, 0, *tokens[2:]]), INTERFACE)
    np.testing.assert_array_equal(other.values, output.values)
    whole = MinimalAttention(heads=2, epsilon=2.0)
    assert not np.allclose(whole.apply(parameters, jnp.asarray(tokens), INTERFACE).values, output.values)


@pytest.mark.parametrize("heads", [2, 3, 5])
def test_heads_that_start_alike_stay_alike(heads: int) -> None:
    """To the last bit, in the published sizes: without noise nothing sets them apart (paper B, figure 4 left)."""
    run = Run(
        MarkovChain(L=2, train=300, validation=30),
        MinimalAttention(heads=heads, epsilon=0.0),
        Optimizer(name="adamw", learning_rate=0.08),
        batch=300,
    )
    members = cohort.stack([run])
    learners, world_and_data = cohort.begin(members)
    yes = jnp.ones(1, bool)
    learners, _ = cohort.advance(members, learners, world_and_data, jnp.full(1, 20, jnp.int32), yes, yes)
    for weights in learners.parameters:
        assert np.abs(weights).max() > 0.1
        np.testing.assert_array_equal(weights[0], np.broadcast_to(weights[0][:1], weights[0].shape))
