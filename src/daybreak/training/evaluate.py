"""What is measured between steps: loss and accuracy on clean data and on training data, and attention."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray, PyTree

from daybreak.models import Output
from daybreak.tasks import Example, Task
from daybreak.training.run import Run


def parts(examples: int, run: Run) -> int:
    """The number of equal parts into which examples are cut so that each about fits in a CPU's cache; 1 if no cut is equal."""
    rows = examples * run.task.interface.length
    least = max(1, round(rows / run.model.rows_at_once)) if jax.default_backend() == "cpu" else 1
    return next((count for count in range(least, 2 * least) if examples % count == 0), 1)


_PROBES = 16  # examples of a probe batch of its own
_PROBE = 1  # names its stream of random numbers


class EvaluationSets(NamedTuple):
    """The fixed sets on which a run is evaluated, stacked: a clean one, and one like its training data."""

    examples: Example
    needed: Bool[Array, " 2"]  # the second is not needed where training data are clean: it would give the same numbers
    probe: Example | None  # the batch on which attention is read; None where that is the clean set


def evaluation_sets(run: Run, key: PRNGKeyArray, world: PyTree, train: Example | None) -> EvaluationSets:
    """Draw both sets. The second is the training set itself, if there is one, or new examples of the task."""
    clean, size = run.task.clean(), run.task.sizes.validation or run.evaluation
    keys = jax.random.split(key, (2, size))
    needed = jnp.array(True)
    if train is not None:
        first = _draw(clean, keys[0], world)
        second = jax.tree.map(lambda x: x[np.arange(size) % run.task.sizes.train], train)
        both = _stack(first, second)
    elif jax.tree.structure(clean) != jax.tree.structure(run.task):
        both = _stack(_draw(clean, keys[0], world), _draw(run.task, keys[1], world))
    else:  # one compiled body draws both
        tasks = _stack(clean, run.task)
        needed = jnp.any(jnp.array([x[0] != x[1] for x in jax.tree.leaves(tasks)]))
        both = jax.vmap(lambda task, keys: _draw(task, keys, world))(tasks, keys)
    probe = jax.vmap(clean.probe, (0, None))(jax.random.split(jax.random.fold_in(key, _PROBE), _PROBES), world)
    return EvaluationSets(both, jnp.stack([jnp.array(True), needed]), probe)


def _draw(task: Task[Any], keys: Key[Array, " examples"], world: PyTree) -> Example:
    return jax.vmap(task.sample, (0, None))(keys, world)


def _stack(*trees: Any) -> Any:
    return jax.tree.map(lambda *x: jnp.stack([jnp.asarray(y) for y in x]), *trees)


@jax.jit  # traced once, although `eval_shape` and the call itself both need it
def evaluate(run: Run, parameters: PyTree, world: PyTree, sets: EvaluationSets) -> dict[str, Array]:
    """One row of a record. Both sets share one compiled body."""
    size = sets.examples.target.shape[1]
    most = max(1, run.model.rows_at_once // run.task.interface.length)
    chunk = min(size // parts(size, run), most)  # where parts are unequal, the rest is compiled once more

    def mean(examples: Example, clean: Bool[Array, ""]) -> dict[str, Array]:
        rows = jax.lax.map(lambda x: _score(run, parameters, world, x, clean), examples, batch_size=chunk)
        return jax.tree.map(lambda x: jnp.mean(x, axis=0), rows)

    blank = _blank(lambda: mean(_first(sets.examples), jnp.array(True)))
    rows = jax.lax.map(
        lambda x: jax.lax.cond(x[1], mean, lambda *_: blank, x[0], x[2]),
        (sets.examples, sets.needed, jnp.array([True, False])),
    )
    row = {} if sets.probe is None else _probe(run, parameters, sets.probe)
    for name, (clean, train) in rows.items():
        if name in ("loss", "accuracy"):
            row |= {f"clean_{name}": clean, f"train_{name}": jnp.where(sets.needed[1], train, clean)}
        else:
            row[name] = clean
    return row


def scheduled(row: dict[str, Array], repetition: Float[Array, ""]) -> dict[str, Array]:
    """A row of a run with a schedule. Of its training data now, only the fraction `repetition` repeats: so its scores `train_…`
    are those of such a mixture, and the loss on data that all repeat gets a name of its own.
    """
    mixed = {
        f"train_{name}": repetition * row[f"train_{name}"] + (1 - repetition) * row[f"clean_{name}"]
        for name in ("loss", "accuracy")
        if f"train_{name}" in row
    }
    return row | mixed | {"repeated_loss": row["train_loss"], "repetition": repetition}


def _first(examples: Example) -> Example:
    return jax.tree.map(lambda x: x[0], examples)


def _blank(function: Callable[[], PyTree]) -> PyTree:
    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(function))


@jax.jit
def _score(run: Run, parameters: PyTree, world: PyTree, example: Example, clean: Bool[Array, ""]) -> dict[str, Array]:
    """All measurements on one example; on one that is not clean, only loss and accuracy."""
    on_clean = _has_no_probe(run.task, world)  # attention is read here
    outputs = run.model.apply(parameters, example.inputs, run.interface, attention=on_clean)
    row = {"loss": run.task.loss(outputs.values, example)}
    accuracy = run.task.accuracy(outputs.values, example)
    if accuracy is not None:
        row["accuracy"] = accuracy

    def probes() -> dict[str, Array]:
        scores = run.task.scores(world, outputs.values, example)
        if not on_clean:
            return scores
        return scores | _attention(run, outputs, example, len(run.interface.reads)) | _circuits(run, outputs)

    return row | jax.lax.cond(clean, probes, lambda: _blank(probes))


def _has_no_probe(task: Task[Any], world: PyTree) -> bool:
    return jax.eval_shape(task.probe, jax.eval_shape(lambda: jax.random.key(0)), world) is None


def _probe(run: Run, parameters: PyTree, batch: Example) -> dict[str, Array]:
    """All measurements on a probe batch. Attention to relevant positions is averaged over the rows that have any."""

    def one(example: Example) -> dict[str, Array]:
        outputs = run.model.apply(parameters, example.inputs, run.interface, attention=True)
        scores = run.task.probe_scores(outputs.values, example)
        rows = jnp.sum(jnp.any(example.relevant, axis=1))
        return scores | _attention(run, outputs, example, rows) | _circuits(run, outputs)

    chunk = max(1, min(_PROBES, run.model.rows_at_once // run.interface.length))
    return jax.tree.map(lambda x: jnp.mean(x, axis=0), jax.lax.map(one, batch, batch_size=chunk))


def _attention(
    run: Run, outputs: Output, example: Example, rows: Int[Array, ""] | int
) -> dict[str, Float[Array, "layers heads"]]:
    """Attention of the read positions to the relevant ones, and its entropy, for each layer and head.

    The first is an average over `rows` of the read positions.
    """
    maps = jnp.stack([x[:, _rows(run, x)] for x in outputs.attention or ()])
    to_relevant = jnp.einsum("lhrt,rt->lh", maps, example.relevant.astype(maps.dtype))
    entropy = -jnp.einsum("lhrt,lhrt->lh", maps, jnp.log(jnp.maximum(maps, 1e-30)))
    return {"attention": to_relevant / rows, "entropy": entropy / len(run.interface.reads)}


def _rows(run: Run, pattern: Float[Array, "heads rows length"]) -> np.ndarray:
    """Indices of the read positions among the rows: the last layer has no other rows."""
    reads = np.array(run.interface.reads)
    return np.arange(reads.size) if pattern.shape[1] == reads.size else reads


def _circuits(run: Run, outputs: Output) -> dict[str, Float[Array, "layers heads *kinds"]]:
    """Attention that the task's circuits need, for each head of each layer that computes their rows."""
    circuits = {}
    for name, (rows, targets) in run.task.circuits().items():
        maps = []
        for pattern in outputs.attention or ():
            if rows == run.interface.reads:
                maps.append(pattern[:, _rows(run, pattern)])
            elif pattern.shape[1] == run.interface.length:
                maps.append(pattern[:, np.array(rows)])
        if maps:
            mass = jnp.einsum("lhrt,...rt->lh...", jnp.stack(maps), targets.astype(np.float32))
            circuits[name] = mass / len(rows)
    return circuits
