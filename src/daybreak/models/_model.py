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
    """How inputs become outputs. Subclasses are final."""

    rows_at_once: ClassVar[int] = 1 << 13  # positions that a CPU computes together: limits memory, and fits the cache

    def check(self, interface: Interface) -> None:
        """Refuse a task that this model cannot be built for, by a `RequestError` that states what it takes."""

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
