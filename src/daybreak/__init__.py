"""Daybreak measures, explains, predicts and hastens the moment at which sparse attention emerges in training.

This is the public page: what a program needs is a name below, or an attribute of a package below.

    from daybreak import lab, measure, models, tasks, theory, training, watch

    theory.plateau(T=512, d=64)
    theory.escape_time(T=512, d=64, eps=0.8)
    measure.plateau(steps, losses, level=0.1)
    measure.fit_law("C * d**a * (T/B)**b", table)
    training.train([training.Run(tasks.SingleLocation(T=32, d=16), models.Transformer())])
    lab.Lab("lab").query("outcome = 'emerged'")
    watch.Watch(model, lab="lab", name="my-gpt")  # of PyTorch

A package is imported at its first use. So `import daybreak` and `daybreak --help` do not load JAX.
"""

TYPE_CHECKING = False  # `typing` is not imported for it: a Ctrl-C in that time would end in a traceback
if TYPE_CHECKING:
    from daybreak import lab as lab
    from daybreak import measure as measure
    from daybreak import models as models
    from daybreak import tasks as tasks
    from daybreak import theory as theory
    from daybreak import training as training
    from daybreak import watch as watch
    from daybreak.errors import RequestError as RequestError
    from daybreak.errors import WorkError as WorkError

__version__ = "0.2.0"
__all__ = [
    "RequestError",
    "WorkError",
    "__version__",
    "lab",
    "measure",
    "models",
    "tasks",
    "theory",
    "training",
    "watch",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'daybreak' has no attribute {name!r}")
    if name in ("RequestError", "WorkError"):
        return getattr(import_module("daybreak.errors"), name)
    return import_module(f"daybreak.{name}")


def __dir__() -> list[str]:
    return __all__
