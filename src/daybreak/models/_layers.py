"""The parts of a Transformer as pure functions: linear maps, layer norm, attention, dropout, sinusoids."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.models._lookup import Lookup, mass, scores

Parameters = dict[str, Any]


def linear_parameters(key: PRNGKeyArray, fan_in: int, fan_out: int, how: str, bias: bool) -> Parameters:
    """Initial weights of a linear map.

    `torch` is the default of PyTorch, weights and bias uniform in ±1/√fan_in; `xavier` is uniform in ±√(6/(in + out)),
    `orthogonal` has singular values one, `normal` variance one, all with bias zero.
    """
    shape = (fan_in, fan_out)
    first_bias = jnp.zeros(fan_out)
    match how:
        case "torch":
            drawn = jax.random.uniform(key, (fan_in + bias, fan_out), minval=-(fan_in**-0.5), maxval=fan_in**-0.5)
            weight, first_bias = drawn[:fan_in], drawn[-1]
        case "xavier":
            weight = jax.nn.initializers.xavier_uniform()(key, shape)
        case "orthogonal":
            weight = jax.nn.initializers.orthogonal()(key, shape)
        case "normal":
            weight = jax.random.normal(key, shape)
        case _:
            raise AssertionError(how)
    return {"weight": weight} | ({"bias": first_bias} if bias else {})


def linear(
    parameters: Parameters, x: Float[Array, "*sequences rows in"] | Lookup
) -> Float[Array, "*sequences rows out"]:
    """X W + b, as one product for all sequences; rows that are to be looked up are multiplied before."""
    if isinstance(x, Lookup):
        return Lookup(x.tokens @ parameters["weight"], linear(parameters, x.places), x.inputs).found()
    y = x.reshape(-1, x.shape[-1]) @ parameters["weight"]
    if "bias" in parameters:
        y += parameters["bias"][None, :]
    return y.reshape(*x.shape[:-1], -1)


def norm_parameters(width: int) -> Parameters:
    """A layer norm that only normalises, at the start."""
    return {"scale": jnp.ones(width), "shift": jnp.zeros(width)}


def layer_norm(parameters: Parameters, x: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
    """Each row to mean zero and variance one, then scaled and shifted."""
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    normal = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
    scale, shift = (jnp.broadcast_to(parameters[name], x.shape) for name in ("scale", "shift"))
    return normal * scale + shift


def at(x: Float[Array, "*sequences length width"], rows: np.ndarray) -> Float[Array, "*sequences rows width"]:
    """Some of the rows, in their order."""
    return x[..., rows, :] if rows.size < x.shape[-2] else x


def attend(
    block: Parameters,
    context: Float[Array, "*sequences length width"] | Lookup,
    rows: np.ndarray,
    heads: int,
    causal: bool,
) -> tuple[Float[Array, "*sequences rows width"], Float[Array, "*sequences heads rows length"]]:
    """Attention of some rows to every position, if causal to none after them: what they get, and the weights."""
    looked_up = isinstance(context, Lookup)
    length, inside = len(context.places) if looked_up else context.shape[-2], block["query"]["weight"].shape[1]
    mask = np.arange(length)[None, :] <= rows[:, None] if causal else None
    if looked_up and heads * (len(context.tokens) + length) <= inside:
        return _by_table(block, context, rows, heads, mask)
    query = linear(block["query"], context.rows(rows) if looked_up else at(context, rows))
    shape, query = query.shape, _by_head(query, heads) * (inside // heads) ** -0.5
    if looked_up or not _few(rows.size, length, inside, heads):
        attended, weights = _make_keys(block, query, context, mask)
    else:
        attended, weights = _bring_queries(block, query, context, mask)
    return linear(block["out"], attended.swapaxes(-3, -2).reshape(shape)), weights


def _by_table(
    block: Parameters, context: Lookup, rows: np.ndarray, heads: int, mask: np.ndarray | None
) -> tuple[Float[Array, "*sequences rows width"], Float[Array, "*sequences heads rows length"]]:
    """Where tokens and places are few: what any two make of each other is multiplied once, and what each brings to the output."""
    d = len(context.tokens)

    def by_head(part: str) -> Float[Array, "heads tokens_and_places e"]:
        vectors = context.tokens @ block[part]["weight"], linear(block[part], context.places)
        return _by_head(jnp.concatenate(vectors), heads)

    query, key, value = by_head("query"), by_head("key"), by_head("value")
    tables = jnp.einsum("hse,hae->hsa", key, query * query.shape[-1] ** -0.5)
    brings = jnp.einsum("hse,hew->hsw", value, block["out"]["weight"].reshape(*value.shape[::2], -1))

    def one(inputs: Array) -> tuple[Array, Array]:
        weights = _softmax(jnp.stack([scores(table, inputs, rows, d) for table in tables]), mask)
        return jnp.concatenate([mass(x, inputs, d) for x in weights], axis=1), weights

    masses, weights = (jax.vmap(one) if context.inputs.ndim > 1 else one)(context.inputs)
    return linear(block["out"] | {"weight": brings.reshape(-1, brings.shape[-1])}, masses), weights


def _few(rows: int, length: int, inside: int, heads: int) -> bool:
    """Whether bringing the queries to every position takes fewer operations than making its keys and values."""
    return rows * (inside + heads * length) < length * inside


def _by_head(x: Float[Array, "*sequences rows inside"], heads: int) -> Float[Array, "*sequences heads rows e"]:
    """Heads before rows, which is worth the move: XLA's batched products of other layouts take up to four times as long on a CPU."""
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2)


def _make_keys(
    block: Parameters, query: Array, context: Array | Lookup, mask: np.ndarray | None
) -> tuple[Array, Array]:
    """Keys and values of every position, then q Kᵀ and w V."""
    key, value = (_by_head(linear(block[part], context), query.shape[-3]) for part in ("key", "value"))
    weights = _softmax(jnp.einsum("...hre,...hte->...hrt", query, key), mask)
    return jnp.einsum("...hrt,...hte->...hre", weights, value), weights


def _bring_queries(block: Parameters, query: Array, context: Array, mask: np.ndarray | None) -> tuple[Array, Array]:
    """The same by (q W_Kᵀ) Xᵀ and (w X) W_V, which for few rows is far less.

    The bias of the keys shifts all scores of a row alike, so it has no effect, and is left out.
    """
    heads = query.shape[-3]
    key, value = (block[part]["weight"].reshape(context.shape[-1], heads, -1) for part in ("key", "value"))
    towards = jnp.einsum("...hre,whe->...hrw", query, key)
    weights = _softmax(jnp.einsum("...hrw,...tw->...hrt", towards, context), mask)
    mixed = jnp.einsum("...hrt,...tw->...hrw", weights, context)
    attended = jnp.einsum("...hrw,whe->...hre", mixed, value)
    if "bias" in block["value"]:
        attended += jnp.broadcast_to(block["value"]["bias"].reshape(heads, 1, -1), attended.shape)
    return attended, weights


def _softmax(scores: Float[Array, "*sequences heads rows length"], mask: np.ndarray | None) -> Array:
    if mask is not None:
        scores = jnp.where(jnp.broadcast_to(mask, scores.shape), scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=-1)


def drop(x: Float[Array, "rows width"], rate: float, key: PRNGKeyArray) -> Float[Array, "rows width"]:
    """Set a share of the entries to zero and scale up the rest.

    Half a random word decides an entry, because words are dear: the share is the nearest multiple of 2⁻¹⁶.
    """
    dropped = min(round(rate * 2**16), 2**16 - 1)
    words = jax.random.bits(key, (-(-x.size // 2),))
    kept = jax.lax.bitcast_convert_type(words, jnp.uint16).ravel()[: x.size].reshape(x.shape) >= dropped
    return jnp.where(kept, x / (1 - dropped / 2**16), 0.0)


def sinusoids(length: int, width: int) -> Float[np.ndarray, "length width"]:
    """Sines and cosines of the position at geometric wavelengths from 2π to 20 000π (Vaswani et al. 2017, §3.5)."""
    pair = np.arange((width + 1) // 2)
    angle = np.arange(length)[:, None] / 10000 ** (2 * pair[None, :] / width)
    return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(length, -1)[:, :width].astype(np.float32)
