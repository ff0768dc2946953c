"""The toy model of paper A: attention that does not depend on its input."""

from typing import NamedTuple, final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak._check import is_plain
from daybreak.errors import RequestError
from daybreak.interface import Interface
from daybreak.models._model import Inputs, Model, Output


class ToyParameters(NamedTuple):
    """Logits of the positions, and the weights applied to the attended token."""

    a: Float[Array, " length"]
    W: Float[Array, "outputs features"]


@final
class ToyAttention(Model[ToyParameters]):
    """y = W Σ_t softmax(a)_t x_t (paper A, eq. 2); a starts at zero and W at N(0, scale²/features).

    Example:
        >>> interface = Interface(length=4, features=2, outputs=2, reads=(3,))
        >>> model = ToyAttention()
        >>> parameters = model.init(jax.random.key(0), interface)
        >>> (pattern,) = model.apply(parameters, jnp.ones((4, 2)), interface, attention=True).attention
        >>> pattern[0, 0].tolist()  # uniform at the start
        [0.25, 0.25, 0.25, 0.25]
    """

    scale: float = 0.0  # Size of the initial weights; 0 in the theory, 1 in figure 9 of paper A.

    def __check_init__(self):
        is_plain("scale", self.scale)

    def check(self, interface: Interface) -> None:
        """Inputs must be vectors, read at one position."""
        if interface.features is None or len(interface.reads) != 1:
            raise RequestError(
                "model 'toy' is not allowed with this task: it takes vectors and is read at one position."
            )

    def init(self, key: PRNGKeyArray, interface: Interface) -> ToyParameters:
        """Uniform attention and random weights."""
        assert interface.features is not None  # noqa: S101
        W = self.scale * jax.random.normal(key, (interface.outputs, interface.features)) / jnp.sqrt(interface.features)
        return ToyParameters(jnp.zeros(interface.length), W)

    def apply(
        self,
        parameters: ToyParameters,
        inputs: Inputs,
        interface: Interface,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """The attended token, mapped by W."""
        pattern = jax.nn.softmax(parameters.a)
        values = parameters.W @ (pattern @ inputs)
        return Output(values[None, :], (pattern[None, None, :],) if attention else None)
