"""Whether a model gives what an interface asks for: shapes of outputs and attention. Nothing is computed."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from daybreak.errors import RequestError
from daybreak.interface import Interface
from daybreak.models._model import Model, Output


def check(model: Model[Any], interface: Interface) -> None:
    """Refuse a model whose outputs or attention do not have the shapes that an interface asks for.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> check(ToyAttention(), Interface(length=8, features=5, outputs=4, reads=(7,)))

    Raises:
        RequestError: one sentence that says which result of the model is wrong, what it is, and what it must be.
    """
    model.check(interface)
    name, reads, length = type(model).__name__, len(interface.reads), interface.length
    key = jax.eval_shape(lambda: jax.random.key(0))
    parameters = jax.eval_shape(partial(model.init, interface=interface), key)
    tokens = interface.tokens is not None
    inputs = jax.ShapeDtypeStruct(
        (length,) if tokens else (length, interface.features), jnp.int32 if tokens else jnp.float32
    )

    def outputs(attention: bool) -> Any:
        return jax.eval_shape(lambda p, x: model.apply(p, x, interface, attention=attention), parameters, inputs)

    output = outputs(attention=True)
    if not isinstance(output, Output):
        raise RequestError(f"apply of {name} must return an Output, and returns {type(output).__name__}.")
    if output.values.shape != (reads, interface.outputs):
        raise RequestError(
            f"apply of {name} gives values of shape {output.values.shape}: it must be (reads, outputs) = {(reads, interface.outputs)}."
        )
    shapes = [x.shape for x in output.attention or ()]
    if not shapes or any(len(x) != 3 or x[1] not in (reads, length) or x[2] != length for x in shapes):
        raise RequestError(
            f"apply of {name} gives attention of shapes {shapes}: one of (heads, {reads} or {length} rows, {length}) a layer."
        )
    if outputs(attention=False).attention is not None:
        raise RequestError(f"apply of {name} must give no attention (None) unless it is asked for.")
