"""A hostile place for tasks: shapes are checked at every call, rank promotion and NaN raise."""

from collections.abc import Callable
from typing import Any

import jax
import pytest
from jaxtyping import install_import_hook

install_import_hook("daybreak.tasks", "beartype.beartype")


@pytest.fixture(autouse=True)
def hostile():
    with jax.numpy_rank_promotion("raise"), jax.debug_nans(True):
        yield


@pytest.fixture
def draw() -> Callable[..., Any]:
    """Many examples of a task, each in a world of its own or all in one, as NumPy arrays."""

    def examples(task, n: int, seed: int = 0, *, worlds: bool = False):
        world_key, key = jax.random.split(jax.random.key(seed))
        keys = jax.random.split(key, n)
        if worlds:
            world = jax.jit(jax.vmap(task.world))(jax.random.split(world_key, n))
            drawn = jax.jit(jax.vmap(task.sample))(keys, world)
        else:
            world = task.world(world_key)
            drawn = jax.jit(jax.vmap(task.sample, (0, None)))(keys, world)
        return jax.device_get((world, drawn))

    return examples
