"""Attention: three algorithms with one result, and the function that chooses among them.

The table counts multiplications for r rows that attend, T positions, width w, h heads of width e, and V tokens. What
does not depend on the sequences is computed once per batch. Softmax, scaling and biases are left out.

| algorithm | context | per sequence | once per batch | chosen if |
|---|---|---|---|---|
| `plain` | vectors | 2(r + T)whe + 2rThe | – | otherwise |
| `plain` | tokens | rwhe + 2rThe | (3V + 2T + r)whe | otherwise |
| `by_query` | vectors | 4rwhe + 2rThw | – | r(e + T) < Te |
| `by_table` | tokens | r(V + T)hw | 4(V + T)whe + (V + T)²he | V + T ≤ e |

The conditions compare only products with w. `by_query` replaces the keys and values of every position, 2Twhe, by
2rwhe + 2rThw. The one product of `by_table` replaces the output map, rwhe, and is not larger.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from daybreak.models._layers import Parameters, linear, rotated

# The largest V for which `Tokens` is used. It equals the Transformer's `rows_at_once`: with more tokens, there are more
# token vectors to multiply than positions in the sequences that are computed together.
MOST_TOKENS = 1 << 10
LONG = 256  # positions from which on causal attention of all rows is computed in pieces


class Tokens(NamedTuple):
    """A context whose row t is `tokens[inputs[t]] + places[t]`: linear maps multiply the V + T vectors, not every row."""

    tokens: Float[Array, "tokens width"]
    places: Float[Array, "length width"]
    inputs: Int[Array, "*sequences length"]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the vectors."""
        return *self.inputs.shape, self.tokens.shape[-1]

    def rows(self, chosen: np.ndarray) -> "Tokens":
        """Some of the rows."""
        return Tokens(self.tokens, self.places[chosen], self.inputs[..., chosen])

    def linear(self, parameters: Parameters) -> Float[Array, "*sequences length out"]:
        """X W + b: multiplied first, then looked up."""
        return Tokens(self.tokens @ parameters["weight"], linear(parameters, self.places), self.inputs).vectors()

    def vectors(self) -> Float[Array, "*sequences length width"]:
        """The rows as an array."""
        rows = self.tokens[self.inputs]
        return rows + jnp.broadcast_to(self.places, rows.shape)


Vectors = Float[Array, "*sequences length width"]
Mask = Bool[np.ndarray, "rows length"] | None  # True where a row may attend; None for everywhere
Attended = tuple[Float[Array, "*sequences rows width"], Float[Array, "*sequences heads rows length"]]


def attend(
    block: Parameters,
    context: Vectors | Tokens,
    rows: np.ndarray,
    heads: int,
    causal: bool,
    rotary: bool = False,
    window: int = 0,
) -> Attended:
    """Attention of some rows to every position, if causal to none after them: the output, and the pattern.

    If there is a window, a row attends to that many positions, itself and those just before it.
    With rotary positions keys differ from place to place, so that only `plain`, which computes them, is possible.
    """
    length, head_width = context.shape[-2], block["query"]["weight"].shape[1] // heads
    back = rows[:, None] - np.arange(length)[None, :]
    mask = (back >= 0) & (back < (window or length)) if causal else None
    if rotary:
        return plain(block, context, rows, heads, mask, rotary=True)
    return choose(context, rows.size, head_width)(block, context, rows, heads, mask)


def previous(block: Parameters, context: Vectors | Tokens, rows: np.ndarray, heads: int) -> Attended:
    """Attention of each row to the position before it, of the first to itself; queries and keys are not used."""
    before = np.maximum(rows - 1, 0)
    vectors = context.vectors() if isinstance(context, Tokens) else context
    attended = linear(block["out"], linear(block["value"], vectors[..., before, :]))
    pattern = jnp.eye(vectors.shape[-2], dtype=attended.dtype)[before]
    return attended, jnp.broadcast_to(pattern, (*vectors.shape[:-2], heads, *pattern.shape))


def choose(context: Vectors | Tokens, rows: int, head_width: int) -> Callable[..., Attended]:
    """The algorithm for this context, by the conditions in the table at the head of this module."""
    length = context.shape[-2]
    if isinstance(context, Tokens):
        return by_table if len(context.tokens) + length <= head_width else plain
    return by_query if rows * (head_width + length) < length * head_width else plain


def plain(
    block: Parameters, context: Vectors | Tokens, rows: np.ndarray, heads: int, mask: Mask, rotary: bool = False
) -> Attended:
    """Queries of the rows, keys and values of every position: softmax(Q Kᵀ / √e) V."""
    query = _scaled(_split(_project(block["query"], context, rows), heads))
    key, value = (_split(_project(block[part], context), heads) for part in ("key", "value"))
    if rotary:
        query, key = rotated(query, rows), rotated(key, np.arange(context.shape[-2]))
    if mask is not None and rows.size == mask.shape[1] >= LONG:
        attended, pattern = _piecewise(query, key, value, mask)
    else:
        pattern = softmax(jnp.einsum("...hre,...hte->...hrt", query, key), mask)
        attended = jnp.einsum("...hrt,...hte->...hre", pattern, value)
    return linear(block["out"], _join(attended)), pattern


def _piecewise(query: Array, key: Array, value: Array, mask: Bool[np.ndarray, "rows length"]) -> tuple[Array, Array]:
    """Causal attention of all rows, a quarter at a time: each attends only to what is not after it, 5/8 of all scores.

    On a CPU scores, softmax and gradients of 256 positions took 0.4 of the time, as the smaller arrays fit the cache.
    """
    attended, patterns, length = [], [], mask.shape[1]
    for start in range(0, length, -(-length // 4)):
        end = min(start + -(-length // 4), length)
        rows, upto = np.s_[..., start:end, :], np.s_[..., :end, :]
        scores = jnp.einsum("...hre,...hte->...hrt", query[rows], key[upto])
        pattern = softmax(scores, mask[start:end, :end])
        attended.append(jnp.einsum("...hrt,...hte->...hre", pattern, value[upto]))
        patterns.append(jnp.pad(pattern, [(0, 0)] * (pattern.ndim - 1) + [(0, length - end)]))
    return jnp.concatenate(attended, axis=-2), jnp.concatenate(patterns, axis=-2)


def by_query(block: Parameters, context: Vectors, rows: np.ndarray, heads: int, mask: Mask) -> Attended:
    """The same without keys and values, for few rows: (Q W_Kᵀ) Xᵀ for the scores, and (pattern X) W_V.

    The bias of the keys adds the same to all scores of a row. Softmax does not depend on it, so it is left out.
    """
    query = _scaled(_split(_project(block["query"], context, rows), heads))
    key, value = (block[part]["weight"].reshape(context.shape[-1], heads, -1) for part in ("key", "value"))
    towards = jnp.einsum("...hre,whe->...hrw", query, key)
    pattern = softmax(jnp.einsum("...hrw,...tw->...hrt", towards, context), mask)
    mixed = jnp.einsum("...hrt,...tw->...hrw", pattern, context)
    attended = jnp.einsum("...hrw,whe->...hre", mixed, value)
    if "bias" in block["value"]:
        attended += jnp.broadcast_to(block["value"]["bias"].reshape(heads, 1, -1), attended.shape)
    return linear(block["out"], _join(attended)), pattern


def by_table(block: Parameters, context: Tokens, rows: np.ndarray, heads: int, mask: Mask) -> Attended:
    """The same for few tokens and places: scores are looked up in a table, and so is what each adds to the output."""
    V = len(context.tokens)

    def by_head(part: str) -> Float[Array, "heads tokens_and_places e"]:
        vectors = context.tokens @ block[part]["weight"], linear(block[part], context.places)
        return _split(jnp.concatenate(vectors), heads)

    query, key, value = by_head("query"), by_head("key"), by_head("value")
    tables = jnp.einsum("hse,hae->hsa", key, _scaled(query))
    outputs = jnp.einsum("hse,hew->hsw", value, block["out"]["weight"].reshape(*value.shape[::2], -1))

    def one(inputs: Array) -> tuple[Array, Array]:
        pattern = softmax(jnp.stack([table_scores(table, inputs, rows, V) for table in tables]), mask)
        return jnp.concatenate([mass(x, inputs, V) for x in pattern], axis=1), pattern

    masses, pattern = (jax.vmap(one) if context.inputs.ndim > 1 else one)(context.inputs)
    return linear(block["out"] | {"weight": outputs.reshape(-1, outputs.shape[-1])}, masses), pattern


def table_scores(
    table: Float[Array, "attended attending"], inputs: Int[Array, " length"], rows: np.ndarray, V: int
) -> Float[Array, "rows length"]:
    """Score of each position for each row: the sum of four entries, (token or place) × (token or place).

    Both axes of the table have the V tokens first, then the places.
    """
    tokens, places = inputs[rows], V + rows
    with_a_place = (table[:V, places][inputs] + table[V:, :V][:, tokens] + table[V:, places]).T
    return with_a_place + table[inputs[None, :], tokens[:, None]]


def mass(
    pattern: Float[Array, "rows length"], inputs: Int[Array, " length"], V: int
) -> Float[Array, "rows tokens_and_places"]:
    """Attention summed by token, then by place: one product with what each adds to the output serves a whole batch."""
    return jnp.pad(pattern, ((0, 0), (V, 0))).at[:, inputs].add(pattern)


def softmax(scores: Float[Array, "*heads rows length"], mask: Mask) -> Float[Array, "*heads rows length"]:
    """Attention pattern: softmax over the positions that the mask allows."""
    if mask is not None:
        scores = jnp.where(jnp.broadcast_to(mask, scores.shape), scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=-1)


def at(context: Vectors | Tokens, rows: np.ndarray) -> Float[Array, "*sequences rows width"]:
    """Vectors of some of the rows, in their order."""
    if isinstance(context, Tokens):
        return context.rows(rows).vectors()
    return context[..., rows, :] if rows.size < context.shape[-2] else context


def _project(
    parameters: Parameters, context: Vectors | Tokens, rows: np.ndarray | None = None
) -> Float[Array, "*sequences rows out"]:
    """A linear map of the context, at every position or at some rows."""
    if isinstance(context, Tokens):
        return (context if rows is None else context.rows(rows)).linear(parameters)
    return linear(parameters, context if rows is None else at(context, rows))


def _scaled(query: Float[Array, "*heads rows e"]) -> Float[Array, "*heads rows e"]:
    return query * query.shape[-1] ** -0.5


def _split(x: Float[Array, "*sequences rows heads_e"], heads: int) -> Float[Array, "*sequences heads rows e"]:
    """Heads before rows: on a CPU, XLA's batched products of other layouts take up to four times as long."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2)


def _join(x: Float[Array, "*sequences heads rows e"]) -> Float[Array, "*sequences rows heads_e"]:
    x = x.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1)
