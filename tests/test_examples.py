"""Every name on the public page has an example in its docstring. That the examples run is what `--doctest-modules` tests.

The rule, in place of a list of names:
- A function needs an `Example:` with `>>>` in its docstring, and so does a class.
- A method needs one, or is called in the example of its class. A method that overrides one of a public base class is described
  there. Properties are fields.
- Exempt are errors and type aliases, and plain data that users get and never make: a dataclass or named tuple that a public
  function, method or property returns, or that is a field of such a class. The example of that function shows it.
"""

import inspect
import re
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import equinox as eqx
import pytest

PACKAGES = ("theory", "measure", "tasks", "models", "training", "lab")


def _names(package: str) -> dict[str, Any]:
    """What a package exports, apart from modules, constants, type aliases, and what comes from other projects."""
    module = import_module(f"daybreak.{package}")
    return {
        f"{package}.{name}": thing
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(thing) or inspect.isroutine(inspect.unwrap(thing) if callable(thing) else thing))
        and getattr(thing, "__module__", "").startswith("daybreak")
    }


PUBLIC = {name: thing for package in PACKAGES for name, thing in _names(package).items()}
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if not inspect.isclass(thing)}


def _members(kind: type) -> dict[str, Any]:
    """Public methods and properties that a class defines itself."""
    plain = {name: getattr(x, "__func__", x) for name, x in vars(kind).items()}
    return {
        name: x
        for name, x in plain.items()
        if not name.startswith("_") and (inspect.isfunction(x) or _getter(x) is not None)
    }


def _methods(kind: type) -> dict[str, Any]:
    """Public methods that a class defines, and no public base class before it."""
    above = {name for base in kind.__mro__[1:] if base in CLASSES.values() for name in vars(base)}
    return {name: x for name, x in _members(kind).items() if name not in above and _getter(x) is None}


def _getter(x: Any) -> Any:
    """The function of a property; None if it is none."""
    return x.fget if isinstance(x, property) else x.func if isinstance(x, cached_property) else None


METHODS = {f"{name}.{key}": (kind, x) for name, kind in CLASSES.items() for key, x in _methods(kind).items()}


def _has_example(thing: Any) -> bool:
    return bool(re.search(r"^\s*Example:\n\s+>>> ", thing.__doc__ or "", re.MULTILINE))


def _is_plain_data(kind: type) -> bool:
    data = is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    return data and not issubclass(kind, eqx.Module)


def _mentions(annotations: list[Any], kind: type) -> bool:
    return any(re.search(rf"\b{kind.__name__}\b", inspect.formatannotation(x)) for x in annotations)


def _returned() -> set[type]:
    """Plain data that a public function, method or property returns, and plain data inside of it."""
    getters = [_getter(x) or x for kind in CLASSES.values() for x in _members(kind).values()]
    annotations = [inspect.signature(x).return_annotation for x in (*FUNCTIONS.values(), *getters)]
    found: set[type] = set()
    while True:
        more = {kind for kind in CLASSES.values() if _is_plain_data(kind) and _mentions(annotations, kind)} - found
        if not more:
            return found
        found |= more
        for kind in more:
            annotations += [x.type for x in fields(kind)] if is_dataclass(kind) else [*kind.__annotations__.values()]


RETURNED = _returned()
SHOWN = [
    name for name, kind in CLASSES.items() if kind not in RETURNED and not issubclass(kind, Exception)
]  # classes that need an example


@pytest.mark.parametrize("name", [*FUNCTIONS, *SHOWN])
def test_a_public_name_has_an_example(name: str) -> None:
    assert _has_example(PUBLIC[name]), f"{name} needs an example that runs, in its docstring"


@pytest.mark.parametrize("name", METHODS)
def test_a_public_method_has_an_example(name: str) -> None:
    kind, method = METHODS[name]
    called = re.search(rf"^\s*(?:>>>|\.\.\.) .*\.{method.__name__}\(", kind.__doc__ or "", re.MULTILINE)
    assert _has_example(method) or called, f"{name} needs an example that runs: its own, or a call in that of its class"


def test_the_page_is_what_it_is_taken_for() -> None:
    """The rule sees functions, methods and classes of each kind; what is exempt is data only."""
    assert {"theory.plateau", "lab.device", "tasks.find", "measure.forecast"} <= FUNCTIONS.keys()
    assert {"tasks.Task", "models.Transformer", "training.Run", "lab.Lab", "measure.Known"} <= {*SHOWN}
    assert {"lab.Lab.query", "measure.Law.prior", "tasks.MarkovChain.truth", "tasks.Task.sample"} <= METHODS.keys()
    assert "tasks.Recall.sample" not in METHODS, "described in Task"
    assert {"Trajectory", "Guess", "Evidence", "Record"} <= {kind.__name__ for kind in RETURNED}
    assert all(_is_plain_data(kind) for kind in RETURNED)
