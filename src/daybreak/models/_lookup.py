"""Attention among vectors that are a token's plus a place's: few of each, so that all they do to each other fits a table.

A table has an entry for each two of the `d` tokens and the places: tokens first, then places, on either side.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int


class Lookup(NamedTuple):
    """Rows that are a token's vector plus a position's, not yet looked up: a linear map of them is one of few vectors."""

    tokens: Float[Array, "tokens width"]
    places: Float[Array, "rows width"]
    inputs: Int[Array, "*sequences rows"]

    def rows(self, chosen: np.ndarray) -> "Lookup":
        """Some of the rows."""
        return Lookup(self.tokens, self.places[chosen], self.inputs[..., chosen])

    def found(self) -> Float[Array, "*sequences rows width"]:
        """The rows themselves."""
        rows = self.tokens[self.inputs]
        return rows + jnp.broadcast_to(self.places, rows.shape)


def scores(
    table: Float[Array, "seen asking"], inputs: Int[Array, " length"], rows: np.ndarray, d: int
) -> Float[Array, "rows length"]:
    """What each row t makes of each position j: four entries of the table, (token or place of j) × (token or place of t)."""
    asking, places = inputs[rows], d + rows
    beside = (table[:d, places][inputs] + table[d:, :d][:, asking] + table[d:, places]).T
    return beside + table[inputs[None, :], asking[:, None]]


def mass(
    weights: Float[Array, "rows length"], inputs: Int[Array, " length"], d: int
) -> Float[Array, "rows tokens_and_places"]:
    """Attention added up by token, and beside it by place, so that values meet one large product for a whole batch."""
    return jnp.pad(weights, ((0, 0), (d, 0))).at[:, inputs].add(weights)
