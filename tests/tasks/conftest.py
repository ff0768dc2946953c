"""A hostile place for tasks: shapes are checked at every call, rank promotion and NaN raise."""

from functools import partial

import jax
import pytest

_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # compiling is most of the time here


@pytest.fixture(autouse=True)
def hostile():
    with jax.numpy_rank_promotion("raise"), jax.debug_nans(True):
        yield


@_jit
def _in_one_world(task, key, keys):
    world = task.world(key)
    return world, jax.vmap(lambda key: task.sample(key, world))(keys)


@_jit
def _in_many_worlds(task, world_keys, keys):
    worlds = jax.vmap(task.world)(world_keys)
    return worlds, jax.vmap(task.sample)(keys, worlds)


@pytest.fixture
def draw():
    """Draw n examples of a task, each in a world of its own or all in one: the worlds, and the examples."""

    def examples(task, n: int, seed: int = 0, *, one_world: bool = False):
        world_key, key = jax.random.split(jax.random.key(seed))
        keys = jax.random.split(key, n)
        if one_world:
            return jax.device_get(_in_one_world(task, world_key, keys))
        return jax.device_get(_in_many_worlds(task, jax.random.split(world_key, n), keys))

    return examples
