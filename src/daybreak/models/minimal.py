"""The minimal attention model of paper B: full-rank attention on one-hot tokens and positions, nothing else."""

from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak._check import as_int, check_whole, is_plain
from daybreak.errors import RequestError, refuse
from daybreak.interface import Interface
from daybreak.models._attention import mass, softmax, table_scores
from daybreak.models._model import Inputs, Model, Output

_MOST_HEADS = 1000  # each is traced and compiled on its own


class MinimalParameters(NamedTuple):
    """For each head, the attention form W and the read-out V, without the rows of V that are never read."""

    W: Float[Array, "heads D D"]
    V: Float[Array, "heads outputs D"]


@final
class MinimalAttention(Model[MinimalParameters]):
    """Logits Σ_h V_h Σ_j softmax_j(u_tᵀ W_hᵀ u_j / √D) u_j with u = [token; position], both one-hot (paper B, §2).

    Causal. One-hot vectors are never multiplied: W is a table, in which scores are looked up. Each head is computed
    separately, by the same operations. So heads that start equal stay equal to the last bit, and only the noise ε
    makes them differ. In one product for all heads rounding would make them differ, and Adam would amplify it.

    Example:
        >>> interface = Interface(length=6, tokens=4, outputs=4, reads=(4, 5))
        >>> model = MinimalAttention(heads=3, window=2)
        >>> parameters = model.init(jax.random.key(0), interface)
        >>> (pattern,) = model.apply(parameters, jnp.array([0, 1, 2, 3, 0, 1]), interface, attention=True).attention
        >>> pattern.shape, pattern[0, 0].round(2).tolist()  # uniform over the window at the start
        ((3, 2, 6), [0.0, 0.0, 0.0, 0.5, 0.5, 0.0])
    """

    heads: int = eqx.field(static=True, converter=as_int, default=3)  # Attention heads.
    epsilon: float = 1e-9  # Initial attention weights are uniform in ±ε; V starts at zero.
    # Newest positions that may be attended to; 0 for all.
    window: int = eqx.field(static=True, converter=as_int, default=0)

    def __check_init__(self):
        check_whole("heads", self.heads, 1, "it", _MOST_HEADS)
        check_whole("window", self.window, 0, "the window (0: all positions)")
        if is_plain("epsilon", self.epsilon):
            refuse("epsilon", self.epsilon, self.epsilon < 0, "it must be at least 0")

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
        """Attend from each read position to its past, and sum what the heads read there."""
        assert interface.tokens is not None  # noqa: S101
        reads = np.array(interface.reads)
        back = reads[:, None] - np.arange(interface.length)[None, :]
        mask = (back >= 0) & (back < (self.window or interface.length))
        scores = [table_scores(W, inputs, reads, interface.tokens) / len(W) ** 0.5 for W in parameters.W]
        patterns = [softmax(x, mask) for x in scores]
        masses = [mass(x, inputs, interface.tokens) for x in patterns]
        values = sum(x @ V.T for x, V in zip(masses, parameters.V, strict=True))
        return Output(jnp.asarray(values), (jnp.stack(patterns),) if attention else None)
