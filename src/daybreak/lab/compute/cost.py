"""What a run costs: arithmetic and memory, counted on the model's own program without computing anything.

The program is traced for one example and for two: what the second adds is the cost of an example. What a batch computes
once counts nothing. A product of matrices counts two operations per multiplication, everything else one per number it writes. For
the backward pass every number written may have to be kept; an evaluation needs the largest arrays at the same time.
"""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np

from daybreak.errors import RequestError
from daybreak.interface import Interface
from daybreak.models import AnyModel
from daybreak.training import Run

_BYTES = 4  # of a float32
_COPIES = 4  # of the parameters while training: themselves, their gradient, two moments of Adam
_FREE = ("reshape", "squeeze")  # the same numbers in another form
_BACKWARD = 3  # a step is about three forward passes
_LONG = 1024  # positions; what longer sequences need is at least in proportion, and is not traced in full


@final
@dataclass(frozen=True)
class Cost:
    """Of one run: operations if it uses its whole budget, bytes of its state, bytes while it computes a step."""

    operations: float
    state: int
    workspace: int


def cost(run: Run) -> Cost:
    """Estimate the cost of a run."""
    parameters, forward = _per_example(run.model, run.interface)
    sets, examples = 2, run.task.sizes.validation or run.evaluation  # a clean set, and one like the training data
    steps, evaluations = run.stop.budget, 1 + run.stop.budget / run.stop.every
    return Cost(
        operations=forward.operations * (steps * run.batch * _BACKWARD + evaluations * sets * examples),
        state=_BYTES * (_COPIES * parameters + sets * examples * run.interface.length * (run.interface.features or 1)),
        workspace=_BYTES * max(2 * run.batch * forward.written, 3 * examples * forward.largest),
    )


def step_operations(run: Run) -> float:
    """Operations of one step of a run, with its part of the evaluations.

    Example:
        >>> from daybreak.training.presets import PRESETS
        >>> f"{step_operations(PRESETS['paper-b-minimal']):.0e}"
        '5e+09'
    """
    _, forward = _per_example(run.model, run.interface)
    sets, examples = 2, run.task.sizes.validation or run.evaluation
    return forward.operations * (run.batch * _BACKWARD + sets * examples / run.stop.every)


def check_memory(runs: Iterable[Run], available: float) -> None:
    """Refuse a run that needs more memory than there is, before anything is allocated.

    Args:
        runs: to be trained.
        available: bytes that a worker may use.

    Raises:
        RequestError: with the memory that the run needs at least, and what there is.
    """
    for run in runs:
        needed = 0.0
        for part in _memory_parts(run):
            needed += part
            if needed > available:
                raise RequestError(
                    f"{type(run.model).__name__} on {type(run.task).__name__} with sequences of {run.interface.length:,} positions "
                    f"is not possible: a run needs at least {needed / 1e9:,.1f} GB of memory, and a worker has "
                    f"{available / 1e9:,.1f} GB. Make task, model, batch or evaluation smaller, or use fewer workers."
                )


def _memory_parts(run: Run) -> Iterator[float]:
    """Bytes that a run needs at least: data sets and a batch, with their relevant positions for each read one; the optimizer's
    state; what one example writes in a step.

    In this order: where one of them does not fit, the next is not even traced.
    """
    interface = run.interface
    examples = 2 * (run.task.sizes.validation or run.evaluation) + run.task.sizes.train + run.batch
    yield float(examples) * interface.length * (_BYTES * (interface.features or 1) + len(interface.reads))
    yield _BYTES * _COPIES * float(_size(_parameters(run.model, interface)))
    length = min(interface.length, _LONG)
    short = interface._replace(length=length, reads=tuple(x for x in interface.reads if x < length) or (length - 1,))
    _, forward = _per_example(run.model, short)
    yield _BYTES * 2 * float(forward.written) * interface.length / length


class _Count(NamedTuple):
    """Of a traced program: operations, numbers written, and those of its largest array."""

    operations: float
    written: int
    largest: int


@lru_cache(maxsize=4096)
def _per_example(model: AnyModel, interface: Interface) -> tuple[int, _Count]:
    """Parameters of a model, and what one more example adds to a forward pass."""
    parameters = _parameters(model, interface)
    each = (interface.length,) if interface.tokens is not None else (interface.length, interface.features)
    kind = jnp.float32 if interface.tokens is None else jnp.int32

    def count(examples: int) -> _Count:
        keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), examples))
        inputs = jax.ShapeDtypeStruct((examples, *each), kind)
        return _count(
            jax.make_jaxpr(lambda p, x, key: model.batch(p, x, interface, key))(parameters, inputs, keys).jaxpr
        )

    one, two = count(1), count(2)
    more = _Count(two.operations - one.operations, two.written - one.written, one.largest)
    return _size(parameters), more


@lru_cache(maxsize=4096)
def _parameters(model: AnyModel, interface: Interface) -> Any:
    """The shapes of a model's parameters."""
    return jax.eval_shape(lambda: model.init(jax.random.key(0), interface))


def _size(arrays: Any) -> int:
    return sum(math.prod(x.shape) for x in jax.tree.leaves(arrays))


def _count(program: Any) -> _Count:
    """Add up the lines of a traced program, and of those that it calls."""
    lines = [_Count(0.0, 0, 0)]
    for line in program.eqns:
        called = [x for x in map(_program, line.params.values()) if x is not None]
        if called:
            lines += map(_count, called)
            continue
        if line.primitive.name in _FREE:
            continue
        size = sum(math.prod(out.aval.shape) for out in line.outvars)
        operations = size
        if line.primitive.name == "dot_general":
            (contracted, _), _ = line.params["dimension_numbers"]
            operations *= 2 * math.prod(line.invars[0].aval.shape[i] for i in contracted)
        lines.append(_Count(operations, size, size))
    return _Count(sum(x.operations for x in lines), sum(x.written for x in lines), max(x.largest for x in lines))


def _program(parameter: Any) -> Any:
    inner = getattr(parameter, "jaxpr", parameter)
    return inner if hasattr(inner, "eqns") else None


def machine_speed() -> float:
    """Operations a second of this machine, all cores together, by a product of matrices."""
    x, best = np.ones((1024, 1024), np.float32), math.inf
    for _ in range(6):
        began = time.perf_counter()
        _ = x @ x
        best = min(best, time.perf_counter() - began)
    return 2 * 1024**3 / best
