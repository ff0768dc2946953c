"""The minimal attention model of paper B: full-rank attention on one-hot tokens and positions, nothing else."""

import math
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daybreak.errors import RequestError
from daybreak.models._model import Ends, Inputs, Model, Output


class MinimalParameters(NamedTuple):
    """For each head, the attention form W and the read-out V, of which only the first `outputs` rows are ever read."""

    W: Float[Array, "heads D D"]
    V: Float[Array, "heads outputs D"]


@final
class MinimalAttention(Model[MinimalParameters]):
    """Logits Σ_h V_h Σ_j softmax_j(u_tᵀ W_hᵀ u_j / √D) u_j with u = [token; position], both one-hot (paper B, §2).

    Causal. Each head is a computation of its own, the same for all: heads that start alike stay alike to the last bit, and
    nothing but the noise ε sets them apart. In one product for all heads rounding would, and Adam makes the most of it.
    """

    heads: int = eqx.field(static=True, default=3)  # Attention heads.
    epsilon: float = 1e-9  # Initial attention weights are uniform in ±ε; V starts at zero.
    window: int = eqx.field(static=True, default=0)  # Newest positions that may be attended to; 0 for all.

    def __check_init__(self):
        if self.heads < 1:
            raise RequestError(f"heads = {self.heads} is not allowed: there must be at least 1.")
        if self.window < 0:
            raise RequestError(f"window = {self.window} is not allowed: it must be at least 1, or 0 for all positions.")
        if isinstance(self.epsilon, int | float) and not 0 <= self.epsilon < math.inf:
            raise RequestError(f"epsilon = {self.epsilon} is not allowed: it must be a finite number of at least 0.")

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
        reads = np.array(ends.reads)
        back = reads[:, None] - np.arange(ends.length)[None, :]
        seen = (back >= 0) & (back < (self.window or ends.length))
        weights = [_attend(W, inputs, reads, ends.tokens, seen) for W in parameters.W]
        values = sum(_read(V, w, inputs, ends.tokens) for V, w in zip(parameters.V, weights, strict=True))
        return Output(jnp.asarray(values), (jnp.stack(weights),) if attention else None)


def _attend(
    W: Float[Array, "D D"], inputs: Int[Array, " length"], reads: np.ndarray, d: int, seen: np.ndarray
) -> Float[Array, "reads length"]:
    """Attention from each read t to each j it sees.

    A one-hot vector never meets a product: a score is four entries of W, (token or position of j) × (token or position of t).
    """
    asking, places = inputs[reads], d + reads
    scores = (W[:d, places][inputs] + W[d:, :d][:, asking] + W[d:, places]).T + W[inputs[None, :], asking[:, None]]
    return jax.nn.softmax(jnp.where(seen, scores / len(W) ** 0.5, -jnp.inf), axis=-1)


def _read(
    V: Float[Array, "outputs D"], weights: Float[Array, "reads length"], inputs: Int[Array, " length"], d: int
) -> Float[Array, "reads outputs"]:
    """What is read there: attention is added up by token first, so that V meets one large product for a whole batch."""
    by_token_and_position = jnp.pad(weights, ((0, 0), (d, 0))).at[:, inputs].add(weights)
    return by_token_and_position @ V.T
