"""The minimal attention model of paper B: full-rank attention on one-hot tokens and positions, nothing else."""

from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.errors import RequestError
from daybreak.models._model import Ends, Inputs, Model, Output


class MinimalParameters(NamedTuple):
    """For each head, the attention form W and the read-out V, of which only the first `outputs` rows are ever read."""

    W: Float[Array, "heads D D"]
    V: Float[Array, "heads outputs D"]


@final
class MinimalAttention(Model[MinimalParameters]):
    """Logits Σ_h V_h Σ_j softmax_j(u_tᵀ W_hᵀ u_j / √D) u_j with u = [token; position], both one-hot (paper B, §2).

    Causal. A one-hot vector never meets a matrix product: rows and columns of W and V are gathered. The scores need, for
    each read t and each j, four entries of W: (token or position of j) × (token or position of t).
    """

    heads: int = eqx.field(static=True, default=3)  # Attention heads.
    epsilon: float = 1e-9  # Initial attention weights are uniform in ±ε; V starts at zero.

    def __check_init__(self):
        if self.heads < 1:
            raise RequestError(f"heads = {self.heads} is not allowed: there must be at least 1.")

    def init(self, key: PRNGKeyArray, ends: Ends) -> MinimalParameters:
        """Small attention weights, no read-out."""
        if ends.tokens is None:
            raise RequestError("the minimal model is not allowed here: it takes tokens, and the inputs are vectors.")
        D = ends.tokens + ends.length
        W = self.epsilon * jax.random.uniform(key, (self.heads, D, D), minval=-1.0, maxval=1.0)
        return MinimalParameters(W, jnp.zeros((self.heads, ends.outputs, D)))

    def apply(
        self,
        parameters: MinimalParameters,
        inputs: Inputs,
        ends: Ends,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """Attend from each read position to its past, and add up what the heads read there."""
        assert ends.tokens is not None  # noqa: S101
        D = ends.tokens + ends.length
        reads = np.array(ends.reads)
        token, place = inputs, ends.tokens + np.arange(ends.length)
        by_token = parameters.W[:, token, :]  # rows of W by the attended token and position
        scores_of = jax.vmap(lambda rows: rows[:, inputs[reads]] + rows[:, place[reads]], in_axes=0)
        scores = scores_of(by_token + parameters.W[:, place, :])
        scores = jnp.swapaxes(scores, 1, 2) / jnp.sqrt(D)
        past = np.arange(ends.length)[None, :] <= reads[:, None]
        weights = jax.nn.softmax(jnp.where(past[None], scores, -jnp.inf), axis=-1)
        read_out = parameters.V[:, :, token] + parameters.V[:, :, place]
        values = jnp.einsum("hrt,hot->ro", weights, read_out)
        return Output(values, (weights,) if attention else None)
