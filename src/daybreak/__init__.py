"""Daybreak measures, explains, predicts and hastens the moment at which sparse attention emerges in training.

The public page: everything a program needs is an attribute of one of these rooms.

    from daybreak import measure, models, tasks, theory

    theory.plateau(T=512, d=64)
    theory.escape_time(T=512, d=64, eps=0.8)
    measure.plateau(steps, losses, level=0.1)
    measure.fit_law("C * d**a * (T/B)**b", table)

Rooms are imported when first used, so `import daybreak` and `daybreak --help` do not wait for JAX.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daybreak import measure as measure
    from daybreak import models as models
    from daybreak import tasks as tasks
    from daybreak import theory as theory
    from daybreak.errors import RequestError as RequestError

__version__ = "0.1.0"
__all__ = ["RequestError", "measure", "models", "tasks", "theory"]


def __getattr__(name: str) -> ModuleType | type:
    if name == "RequestError":
        return import_module("daybreak.errors").RequestError
    if name in __all__:
        return import_module(f"daybreak.{name}")
    raise AttributeError(f"module 'daybreak' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
