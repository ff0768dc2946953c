"""A hostile environment: shapes and types are checked at every call, and ranks are never promoted silently."""

import jax
from hypothesis import settings
from jaxtyping import install_import_hook

import tests.checker  # noqa: F401  (the hook looks it up by name)

install_import_hook("daybreak", "tests.checker.check")
jax.config.update("jax_numpy_rank_promotion", "raise")
settings.register_profile("daybreak", deadline=None, derandomize=True)
settings.load_profile("daybreak")
