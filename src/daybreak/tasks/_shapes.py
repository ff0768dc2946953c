"""Whether a task does what its interface states: shapes and types of all that it returns. Nothing is computed."""

import re
from typing import Any

import jax
import jax.numpy as jnp

from daybreak.errors import RequestError
from daybreak.tasks._task import Guess, Task

_CURVE = re.compile(r"[a-z]+(_[a-z]+)*")


def check(task: Task[Any]) -> None:
    """Refuse a task whose examples, loss or accuracy do not have the shapes and types that its interface states.

    Example:
        >>> from daybreak.tasks import SingleLocation
        >>> check(SingleLocation(T=8, d=4))

    Raises:
        RequestError: one sentence that says which result of the task is wrong, what it is, and what it must be.
    """
    interface, name = task.interface, type(task).__name__
    length, reads = interface.length, len(interface.reads)
    if (interface.features is None) == (interface.tokens is None):
        raise RequestError(f"the interface of {name} must have either features (of vectors) or tokens, not both.")
    if list(interface.reads) != sorted({*interface.reads}) or not {*interface.reads} <= {*range(length)} or not reads:
        raise RequestError(f"the interface of {name} reads at {interface.reads}: increasing positions below {length}.")
    key = jax.eval_shape(lambda: jax.random.key(0))
    world = jax.eval_shape(task.world, key)
    example = jax.eval_shape(task.sample, key, world)
    tokens = interface.tokens is not None
    expected = {
        "inputs": ((length,), jnp.int32) if tokens else ((length, interface.features), jnp.float32),
        "target": ((reads,), jnp.int32) if tokens else ((interface.outputs,), jnp.float32),
        "relevant": ((reads, length), jnp.bool_),
    }
    for part, (shape, kind) in expected.items():
        _check_array(f"sample of {name} gives {part}", getattr(example, part, None), shape, kind)
    outputs = jax.ShapeDtypeStruct((reads, interface.outputs), jnp.float32)
    _check_array(f"loss of {name} gives", jax.eval_shape(task.loss, outputs, example), (), jnp.float32)
    accuracy = jax.eval_shape(task.accuracy, outputs, example)
    if accuracy is not None:
        _check_array(f"accuracy of {name} gives", accuracy, (), jnp.float32)
    if not isinstance(guess := task.guess(), Guess) or (guess.accuracy is None) != (accuracy is None):
        raise RequestError(f"guess of {name} must be a Guess, with an accuracy if and only if the task has one.")
    if type(task.clean()) is not type(task) or task.clean().interface != interface:
        raise RequestError(f"clean of {name} must give a {name} with the same interface.")
    for curve in (*jax.eval_shape(task.scores, world, outputs, example), *task.circuits()):
        if not _CURVE.fullmatch(curve):
            raise RequestError(
                f"a curve of {name} cannot be called {curve!r}: use lower-case words with _ between them."
            )


def _check_array(what: str, given: Any, shape: tuple[int | None, ...], kind: Any) -> None:
    """Refuse what is not an array of this shape and type."""
    if not hasattr(given, "shape") or not hasattr(given, "dtype"):
        raise RequestError(f"{what} {given!r}: it must be an array of shape {shape}.")
    if given.shape != shape or given.dtype != kind:
        wanted = jnp.dtype(kind).name
        raise RequestError(f"{what} of shape {given.shape} and type {given.dtype}: they must be {shape} and {wanted}.")
