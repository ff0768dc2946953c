"""The operations that `flops.py` states for a step are those that XLA counts in its compiled gradient."""

import jax
import jax.numpy as jnp
import pytest

from benchmarks import flops
from daybreak.models import Transformer
from daybreak.tasks import Recall, SingleLocation
from daybreak.training import Run


def counted(run: Run) -> float:
    """Operations XLA counts in the gradient of a batch's loss, compiled: no sampling, no optimizer."""

    def loss(parameters, examples):
        outputs = jax.vmap(lambda x: run.model.apply(parameters, x, run.interface).values)(examples.inputs)
        return jnp.mean(jax.vmap(run.task.loss)(outputs, examples))

    def batch(key):
        return jax.vmap(run.task.sample, (0, None))(jax.random.split(key, run.batch), run.task.world(key))

    key = jax.random.key(0)
    parameters = jax.eval_shape(lambda key: run.model.init(key, run.interface), key)
    cost = jax.jit(jax.grad(loss)).lower(parameters, jax.eval_shape(batch, key)).compile().cost_analysis()
    assert cost is not None
    return cost["flops"]


@pytest.mark.parametrize(
    ("run", "beyond"),
    [
        # Few elementwise operations besides the products: softmax, activation, residuals, biases.
        (Run(SingleLocation(T=64, d=16), Transformer()), 0.01),
        # With one layer there are fewer products, so the other operations are a larger fraction.
        (Run(SingleLocation(T=64, d=16), Transformer(layers=1)), 0.03),
        # Also norms, and the half of the scores that the mask discards.
        (Run(Recall(N=16, V=256), Transformer(norm="pre", causal=True)), 0.03),
    ],
)
def test_required_operations_are_those_xla_counts(run: Run, beyond: float) -> None:
    ratio = counted(run) / flops.required(run)
    assert 1 <= ratio <= 1 + beyond
