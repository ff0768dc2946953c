"""The minimal attention model of paper B: full-rank attention on one-hot tokens and positions, nothing else."""

import math
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.errors import RequestError
from daybreak.interface import Interface
from daybreak.models import _lookup
from daybreak.models._model import Inputs, Model, Output


class MinimalParameters(NamedTuple):
    """For each head, the attention form W and the read-out V, of which only the first `outputs` rows are ever read."""

    W: Float[Array, "heads D D"]
    V: Float[Array, "heads outputs D"]


@final
class MinimalAttention(Model[MinimalParameters]):
    """Logits Σ_h V_h Σ_j softmax_j(u_tᵀ W_hᵀ u_j / √D) u_j with u = [token; position], both one-hot (paper B, §2).

    Causal. A one-hot vector never meets a product: W is a table. Each head is a computation of its own, the same for
    all: heads that start alike stay alike to the last bit, and nothing but the noise ε sets them apart. In one product
    for all heads rounding would, and Adam makes the most of it.
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

    def check(self, interface: Interface) -> None:
        """Inputs must be tokens."""
        if interface.tokens is None:
            raise RequestError(
                "model 'minimal' is not allowed with this task: it takes tokens, and the inputs are vectors."
            )

    def init(self, key: PRNGKeyArray, interface: Interface) -> MinimalParameters:
        """Small attention weights, no read-out."""
        assert interface.tokens is not None  # noqa: S101
        D = interface.tokens + interface.length
        W = self.epsilon * jax.random.uniform(key, (self.heads, D, D), minval=-1.0, maxval=1.0)
        return MinimalParameters(W, jnp.zeros((self.heads, interface.outputs, D)))

    def apply(
        self,
        parameters: MinimalParameters,
        inputs: Inputs,
        interface: Interface,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """Attend from each read position to its past, and add up what the heads read there."""
        assert interface.tokens is not None  # noqa: S101
        reads = np.array(interface.reads)
        back = reads[:, None] - np.arange(interface.length)[None, :]
        seen = (back >= 0) & (back < (self.window or interface.length))
        scores = [_lookup.scores(W, inputs, reads, interface.tokens) / len(W) ** 0.5 for W in parameters.W]
        weights = [jax.nn.softmax(jnp.where(seen, x, -jnp.inf), axis=-1) for x in scores]
        masses = [_lookup.mass(x, inputs, interface.tokens) for x in weights]
        values = sum(x @ V.T for x, V in zip(masses, parameters.V, strict=True))
        return Output(jnp.asarray(values), (jnp.stack(weights),) if attention else None)
