"""What `help()` prints: short names, not the unions that NumPy writes for an array."""

import inspect
from collections.abc import Callable

import pytest

from daybreak import measure, theory

FUNCTIONS = [x for package in (theory, measure) for x in vars(package).values() if inspect.isfunction(x)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_a_signature_is_readable(function: Callable) -> None:
    signature = inspect.signature(function)
    assert "Sequence[Sequence" not in str(signature)
    assert "NestedSequence" not in str(signature)
    assert max(len(str(parameter)) for parameter in signature.parameters.values()) <= 60
    assert len(str(signature)) <= 380, "the longest has nine parameters"


def test_arrays_are_printed_by_name() -> None:
    assert str(inspect.signature(theory.plateau)).startswith("(T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ")
    assert str(inspect.signature(measure.plateau)).startswith("(steps: ArrayLike, values: ArrayLike, level: float, ")
