"""What is measured between steps: clean and training-like loss and accuracy, and where attention goes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from daybreak.models import Output
from daybreak.tasks import Example, Task
from daybreak.training.run import Run

_SETS = ((0, "clean"), (1, "train"))


def evaluation_sets(run: Run, key: PRNGKeyArray, world: PyTree) -> Example:
    """What a run is evaluated on, the same at every evaluation: a clean set, and one like its training data."""
    sets = [
        _evaluation_set(run, task, jax.random.fold_in(key, i), world)
        for i, task in enumerate((run.task.clean(), run.task))
    ]
    return jax.tree.map(lambda *x: jnp.stack(x), *sets)


def _evaluation_set(run: Run, task: Task[Any], key: PRNGKeyArray, world: PyTree) -> Example:
    """The task's own validation set, or examples drawn for this run."""
    own = task.dataset(key, world, "validation")
    if own is not None:
        return own
    return jax.vmap(task.sample, (0, None))(jax.random.split(key, run.evaluation), world)


def measure(run: Run, parameters: PyTree, sets: Example) -> dict[str, Array]:
    """One row of a record, from the clean and the training-like set, stacked so that they share one compiled body."""

    def on(examples: Example) -> dict[str, Array]:
        outputs = jax.vmap(lambda x: run.model.apply(parameters, x, run.ends, attention=True))(examples.inputs)
        row = {
            "loss": jnp.mean(jax.vmap(run.task.loss)(outputs.values, examples)),
            **_attention(run, outputs, examples),
        }
        accuracy = jax.vmap(run.task.accuracy)(outputs.values, examples)
        return row if accuracy is None else row | {"accuracy": jnp.mean(accuracy)}

    rows = jax.lax.map(on, sets)
    scores = {f"{name}_{score}": rows[score][i] for score in ("loss", "accuracy") if score in rows for i, name in _SETS}
    return scores | {name: rows[name][0] for name in ("attention", "entropy")}


def _attention(run: Run, outputs: Output, examples: Example) -> dict[str, Float[Array, "layers heads"]]:
    """Attention of the read positions to the relevant ones, and its entropy, for each layer and head."""
    assert outputs.attention is not None  # noqa: S101
    to_relevant, entropy = [], []
    for weights in outputs.attention:
        if weights.shape[2] != len(run.ends.reads):  # a layer before the last has a row for every position
            weights = weights[:, :, np.array(run.ends.reads)]
        to_relevant.append(jnp.einsum("bhrt,brt->h", weights, examples.relevant.astype(weights.dtype)))
        entropy.append(-jnp.einsum("bhrt,bhrt->h", weights, jnp.log(jnp.maximum(weights, 1e-30))))
    count = examples.relevant.shape[0] * examples.relevant.shape[1]
    return {"attention": jnp.stack(to_relevant) / count, "entropy": jnp.stack(entropy) / count}
