"""The toy model of paper A: attention that does not look at its input."""

from typing import NamedTuple, final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.errors import RequestError
from daybreak.models._model import Ends, Inputs, Model, Output


class ToyParameters(NamedTuple):
    """Logits of the positions, and the weights applied to what they attend to."""

    a: Float[Array, " length"]
    W: Float[Array, "outputs features"]


@final
class ToyAttention(Model[ToyParameters]):
    """y = W Σ_t softmax(a)_t x_t (paper A, eq. 2); a starts at zero and W at N(0, scale²/features)."""

    scale: float = 0.0  # Size of the initial weights; 0 in the theory, 1 in figure 9 of paper A.

    def init(self, key: PRNGKeyArray, ends: Ends) -> ToyParameters:
        """Uniform attention and random weights."""
        if ends.features is None or len(ends.reads) != 1:
            raise RequestError("the toy model is not allowed here: it takes vectors and is read at one position.")
        W = self.scale * jax.random.normal(key, (ends.outputs, ends.features)) / jnp.sqrt(ends.features)
        return ToyParameters(jnp.zeros(ends.length), W)

    def apply(
        self,
        parameters: ToyParameters,
        inputs: Inputs,
        ends: Ends,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """The attended token, mapped by W."""
        weights = jax.nn.softmax(parameters.a)
        values = parameters.W @ (weights @ inputs)
        return Output(values[None, :], (weights[None, None, :],) if attention else None)
