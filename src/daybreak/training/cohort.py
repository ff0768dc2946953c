"""A cohort: runs that share every shape, trained by one compiled program.

Randomness is a function of seed, purpose and step, so that a record does not depend on how steps are grouped, on an
interruption, or on the other members of the cohort.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Int, Key, PRNGKeyArray, PyTree

from daybreak.errors import RequestError
from daybreak.models import products_in
from daybreak.tasks import Example
from daybreak.training.devices import on_each_device
from daybreak.training.evaluate import EvaluationSets, evaluate, evaluation_sets, parts, scheduled
from daybreak.training.run import Run, shape, without_stop
from daybreak.training.schedule import with_repetition

_QUICKLY = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
"""For a program that runs once, where only the time to compile counts: these options make it six times shorter."""
Purpose = Literal["task", "init", "training set", "data", "evaluation", "dropout", "schedule"]


class Learner(NamedTuple):
    """The state of a member."""

    parameters: PyTree
    optimizer: PyTree
    step: Int[Array, ""]


class WorldAndData(NamedTuple):
    """What stays fixed while a member trains: its world, its training set if it has one, and its evaluation sets."""

    world: PyTree
    train: Example | None
    evaluation: EvaluationSets


def check_alike(runs: Sequence[Run]) -> None:
    """Refuse runs that cannot form one cohort."""
    if not runs:
        raise RequestError("a cohort needs at least one run.")
    if len({shape(run) for run in runs}) > 1:
        raise RequestError(
            "the runs of a cohort must differ only in seed, stop rule, learning rate and scalars such as B and p."
        )


def stack(runs: Sequence[Run]) -> Run:
    """Runs of equal shape as one pytree with a leading axis of members."""
    check_alike(runs)
    members = [without_stop(run) for run in runs]
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x) for x in leaves]), *members)


@partial(jax.jit, static_argnames="mesh", compiler_options=_QUICKLY)
def begin(cohort: Run, mesh: Mesh | None = None) -> tuple[Learner, WorldAndData]:
    """Draw worlds, data sets and initial parameters of all members. Weak types are removed: shape and dtype define each array.

    With a `mesh`, arrays are laid out over its devices, and so is what it returns.
    """
    all_members = partial(_each, _begin)
    begun = all_members(cohort) if mesh is None else on_each_device(all_members, mesh)(cohort)
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), begun)


@partial(jax.jit, static_argnames="mesh")
def advance(
    cohort: Run,
    learners: Learner,
    world_and_data: WorldAndData,
    until: Int[Array, " members"],
    active: Bool[Array, " members"],
    repeats: Bool[Array, " members"],
    mesh: Mesh | None = None,
) -> tuple[Learner, dict[str, Array]]:
    """Train each active member until its step and evaluate it there; the others stay as they are, and their row is zero.

    `repeats` holds the current decision of `training.control` for each member. With a `mesh`, arrays are laid out over its devices.
    """
    members = cohort, learners, world_and_data, until, active, repeats
    return _each(_advance, *members) if mesh is None else on_each_device(_advance_if_any, mesh)(*members)


def _advance_if_any(
    cohort: Run, learners: Learner, world_and_data: WorldAndData, until: Array, active: Array, repeats: Array
) -> tuple[Learner, dict[str, Array]]:
    """The members of one device. If none is active, nothing is computed: `vmap` computes all or none."""

    def go() -> tuple[Learner, dict[str, Array]]:
        return _each(_advance, cohort, learners, world_and_data, until, active, repeats)

    _, rows = jax.eval_shape(go)
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), rows)
    return jax.lax.cond(jnp.any(active), go, lambda: (learners, nothing))


def _each(function: Callable, *members: Any) -> Any:
    """All members under `vmap`; a single one without the axis of members, so that its matrix products are not batched."""
    if len(jax.tree.leaves(members)[0]) > 1:
        return jax.vmap(function)(*members)
    return jax.tree.map(lambda x: x[None], function(*jax.tree.map(lambda x: x[0], members)))


def _begin(run: Run) -> tuple[Learner, WorldAndData]:
    world = run.task.world(_stream(run, "task"))
    parameters = run.model.init(_stream(run, "init"), run.interface)
    learner = Learner(parameters, run.optimizer.init(parameters), jnp.zeros((), jnp.int32))
    train = run.task.dataset(_stream(run, "training set"), world, "train")
    return learner, WorldAndData(world, train, evaluation_sets(run, _stream(run, "evaluation"), world, train))


def _advance(
    run: Run,
    learner: Learner,
    world_and_data: WorldAndData,
    until: Int[Array, ""],
    active: Bool[Array, ""],
    repeats: Bool[Array, ""],
):
    def row_of(learner: Learner) -> dict[str, Array]:
        row = evaluate(run, learner.parameters, world_and_data.world, world_and_data.evaluation)
        return row if run.schedule.name == "constant" else scheduled(row, run.schedule.fraction(learner.step, repeats))

    def go() -> tuple[Learner, dict[str, Array]]:
        start = learner, _order(run, learner.step)
        later, _ = jax.lax.fori_loop(
            learner.step, until, lambda _, x: _step(run, x[0], x[1], world_and_data, repeats), start
        )
        return later, row_of(later)

    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(row_of, learner))
    return jax.lax.cond(active, go, lambda: (learner, nothing))


def _step(
    run: Run,
    learner: Learner,
    order: Int[Array, " size"] | None,
    world_and_data: WorldAndData,
    repeats: Bool[Array, ""],
) -> tuple[Learner, Int[Array, " size"] | None]:
    """One step in the order of its epoch; each epoch is shuffled again."""
    order = jax.lax.cond(learner.step % _batches(run) == 0, lambda: _order(run, learner.step), lambda: order)
    examples = _batch(run, world_and_data, learner.step, order, repeats)
    keys = jax.random.split(jax.random.fold_in(_stream(run, "dropout"), learner.step), len(examples.target))
    count = parts(len(examples.target), run)

    def loss(parameters: PyTree, examples: Example, keys: Key[Array, " examples"]):
        with products_in(run.precision, in_parts=count > 1):
            outputs = run.model.batch(parameters, examples.inputs, run.interface, keys)
        return jnp.mean(jax.vmap(run.task.loss)(outputs, examples))

    gradient = _mean(lambda part: jax.grad(loss)(learner.parameters, *part), (examples, keys), count)
    parameters, optimizer = run.optimizer.step(gradient, learner.optimizer, learner.parameters)
    return Learner(parameters, optimizer, learner.step + 1), order


def _mean(function: Callable[[PyTree], PyTree], batch: PyTree, count: int) -> PyTree:
    """The mean of a function over `count` equal parts of a batch, computed one after the other."""
    if count == 1:
        return function(batch)
    cut = jax.tree.map(lambda x: x.reshape(count, -1, *x.shape[1:]), batch)
    start = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lambda: function(_at(cut, 0))))
    total, _ = jax.lax.scan(lambda sum_, part: (jax.tree.map(jnp.add, sum_, function(part)), None), start, cut)
    return jax.tree.map(lambda x: x / count, total)


def _at(tree: PyTree, i: int) -> PyTree:
    return jax.tree.map(lambda x: x[i], tree)


def _batch(
    run: Run,
    world_and_data: WorldAndData,
    step: Int[Array, ""],
    order: Int[Array, " size"] | None,
    repeats: Bool[Array, ""],
) -> Example:
    """New examples, or the next part of the training set in the order of this epoch."""
    if world_and_data.train is not None and order is not None:
        size = run.task.sizes.train
        chosen = jax.lax.dynamic_slice_in_dim(order, (step % _batches(run)) * run.batch, min(run.batch, size))
        return jax.tree.map(lambda x: x[chosen], world_and_data.train)
    keys = jax.random.split(jax.random.fold_in(_stream(run, "data"), step), run.batch)
    if run.schedule.name == "constant":
        return jax.vmap(run.task.sample, (0, None))(keys, world_and_data.world)
    place = jax.random.uniform(jax.random.fold_in(_stream(run, "schedule"), step), (run.batch,))
    chosen = place < run.schedule.fraction(step, repeats)
    return jax.vmap(lambda key, repeat: with_repetition(run.task, repeat).sample(key, world_and_data.world))(
        keys, chosen
    )


def _batches(run: Run) -> int:
    """The number of batches in an epoch."""
    return max(run.task.sizes.train // run.batch, 1)


def _order(run: Run, step: Int[Array, ""]) -> Int[Array, " size"] | None:
    """The order of the training set in the epoch of a step; None where every example is new."""
    size = run.task.sizes.train
    if not size:
        return None
    return jax.random.permutation(jax.random.fold_in(_stream(run, "data"), step // _batches(run)), size)


def _stream(run: Run, purpose: Purpose) -> PRNGKeyArray:
    return jax.random.fold_in(jax.random.key(run.seed), get_args(Purpose).index(purpose))
