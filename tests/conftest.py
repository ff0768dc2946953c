"""A hostile environment: shapes and types are checked at every call, and ranks are never promoted silently."""

from collections.abc import Iterator

import jax
import jaxtyping
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

import tests.checker  # noqa: F401  (the hook looks it up by name)

install_import_hook("daybreak", "tests.checker.check")
jax.config.update("jax_numpy_rank_promotion", "raise")
settings.register_profile("daybreak", deadline=None, derandomize=True)
settings.load_profile("daybreak")


@pytest.fixture
def as_a_user() -> Iterator[None]:
    """Without the type checker, which would refuse a wrong value before the code that is to refuse it for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
