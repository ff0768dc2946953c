"""What every model is: parameters drawn from a key, and outputs at the positions that are read.

A model is a frozen description; its parameters are a separate pytree, so that one compiled program trains many members
of a cohort. A model gets the interface of a task, never the task.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from daybreak.interface import Interface
from daybreak.models._products import Precision

Parameters = TypeVar("Parameters")
Inputs = Float[Array, "*sequences length features"] | Int[Array, "*sequences length"]


class Output(NamedTuple):
    """Outputs at the read positions and, on request, the attention patterns of the layers, first layer first.

    The last layer is only computed where it is read: its pattern has one row per read position, the others one per
    position.
    """

    values: Float[Array, "*sequences reads outputs"]
    attention: tuple[Float[Array, "*sequences heads rows length"], ...] | None


class Model(eqx.Module, Generic[Parameters]):
    """How inputs become outputs. Subclasses are final.

    Example:
        >>> import jax.numpy as jnp
        >>> from daybreak.models import ToyAttention
        >>> interface = Interface(length=4, features=2, outputs=2, reads=(3,))
        >>> model = ToyAttention()
        >>> parameters = model.init(jax.random.key(0), interface)
        >>> output = model.apply(parameters, jnp.ones((4, 2)), interface, attention=True)
        >>> output.values.shape, [x.shape for x in output.attention]  # (reads, outputs); (heads, rows, length) of each layer
        ((1, 2), [(1, 1, 4)])
        >>> keys = jax.random.split(jax.random.key(1), 3)
        >>> model.batch(parameters, jnp.ones((3, 4, 2)), interface, keys).shape  # three sequences
        (3, 1, 2)
    """

    # That its products can have: those of `models.product` have both.
    precisions: ClassVar[tuple[Precision, ...]] = ("float32",)
    rows_at_once: ClassVar[int] = 1 << 13  # positions that a CPU computes together: limits memory, and fits the cache

    def check(self, interface: Interface) -> None:
        """Refuse a task that this model cannot be built for, by a `RequestError` that states what it takes.

        Example:
            >>> from daybreak.models import ToyAttention
            >>> ToyAttention().check(Interface(length=8, tokens=16, outputs=16, reads=(7,)))
            Traceback (most recent call last):
            daybreak.errors.RequestError: model 'toy' is not allowed with this task: it takes vectors and is read at one position.
        """

    @abstractmethod
    def init(self, key: PRNGKeyArray, interface: Interface) -> Parameters:
        """Draw the parameters: a pytree of arrays."""

    @abstractmethod
    def apply(
        self,
        parameters: Parameters,
        inputs: Inputs,
        interface: Interface,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """Outputs at the read positions of one sequence.

        Args:
            parameters: as drawn by `init`.
            inputs: one sequence.
            interface: as given to `init`.
            key: for dropout; without it nothing is dropped.
            attention: whether to return attention patterns.

        Returns:
            An output of size `interface.outputs` at each of `interface.reads`, and the patterns or None.
        """

    def batch(
        self, parameters: Parameters, inputs: Inputs, interface: Interface, keys: Key[Array, " sequences"]
    ) -> Float[Array, "sequences reads outputs"]:
        """Outputs for many sequences, each with its key."""
        return jax.vmap(lambda x, key: self.apply(parameters, x, interface, key=key).values)(inputs, keys)


AnyModel = Model[Any]
