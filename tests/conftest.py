"""A hostile environment: shapes and types are checked at every call, and ranks are never promoted silently.

Most of the time would go into compiling the same small programs again, in other tests and in processes that tests start:
JAX keeps compiled ones in `.pytest_cache` for all of them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import jax
import jaxtyping
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

import tests.checker  # noqa: F401  (the hook looks it up by name)

install_import_hook("daybreak", "tests.checker.check")
jax.config.update("jax_numpy_rank_promotion", "raise")
for name, value in {
    "jax_compilation_cache_dir": str(Path(__file__).parents[1] / ".pytest_cache" / "compiled"),
    "jax_persistent_cache_min_compile_time_secs": 0.2,
}.items():
    jax.config.update(name, value)
    os.environ[name.upper()] = str(value)
settings.register_profile("daybreak", deadline=None, derandomize=True)
settings.load_profile("daybreak")


@pytest.fixture
def as_a_user() -> Iterator[None]:
    """Without the type checker, which would refuse a wrong value before the code that is to refuse it for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
