"""The parts of a Transformer as pure functions: linear maps, layer norm, attention, dropout, sinusoids."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

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


def linear(parameters: Parameters, x: Float[Array, "rows in"]) -> Float[Array, "rows out"]:
    """X W + b."""
    y = x @ parameters["weight"]
    return y + parameters["bias"][None, :] if "bias" in parameters else y


def norm_parameters(width: int) -> Parameters:
    """A layer norm that only normalises, at the start."""
    return {"scale": jnp.ones(width), "shift": jnp.zeros(width)}


def layer_norm(parameters: Parameters, x: Float[Array, "rows width"]) -> Float[Array, "rows width"]:
    """Each row to mean zero and variance one, then scaled and shifted."""
    centred = x - jnp.mean(x, axis=1, keepdims=True)
    normal = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=1, keepdims=True) + 1e-5)
    return normal * parameters["scale"][None, :] + parameters["shift"][None, :]


def attend(
    block: Parameters,
    asking: Float[Array, "rows width"],
    context: Float[Array, "length width"],
    heads: int,
    mask: np.ndarray | None,
) -> tuple[Float[Array, "rows width"], Float[Array, "heads rows length"]]:
    """Attention of some rows to every position: what they get, and the weights."""
    query = linear(block["query"], asking)
    (rows, inside), length = query.shape, context.shape[0]
    query = query.reshape(rows, heads, -1) * (inside // heads) ** -0.5
    few = rows * (inside + heads * length) < length * inside  # which of the two takes fewer operations
    attended, weights = (_bring_queries if few else _make_keys)(block, query, context, mask)
    return linear(block["out"], attended.reshape(rows, inside)), weights


def _make_keys(block: Parameters, query: Float[Array, "rows heads e"], context: Float[Array, "length width"], mask):
    """Keys and values of every position, then q Kᵀ and w V."""
    heads = query.shape[1]
    key, value = (linear(block[part], context).reshape(context.shape[0], heads, -1) for part in ("key", "value"))
    weights = _softmax(jnp.einsum("rhe,the->hrt", query, key), mask)
    return jnp.einsum("hrt,the->rhe", weights, value), weights


def _bring_queries(block: Parameters, query: Float[Array, "rows heads e"], context: Float[Array, "length width"], mask):
    """The same by (q W_Kᵀ) Xᵀ and (w X) W_V, which for few rows is far less.

    The bias of the keys shifts all scores of a row alike, so it has no effect, and is left out.
    """
    by_head = (context.shape[1], query.shape[1], -1)
    key, value = (block[part]["weight"].reshape(by_head) for part in ("key", "value"))
    towards = jnp.einsum("rhe,whe->rhw", query, key)
    weights = _softmax(jnp.einsum("rhw,tw->hrt", towards, context), mask)
    mixed = jnp.einsum("hrt,tw->rhw", weights, context)
    attended = jnp.einsum("rhw,whe->rhe", mixed, value)
    if "bias" in block["value"]:
        attended += block["value"]["bias"].reshape(1, *attended.shape[1:])
    return attended, weights


def _softmax(scores: Float[Array, "heads rows length"], mask: np.ndarray | None) -> Float[Array, "heads rows length"]:
    return jax.nn.softmax(scores if mask is None else jnp.where(mask[None], scores, -jnp.inf), axis=-1)


def drop(x: Float[Array, "rows width"], rate: float, key: PRNGKeyArray | None) -> Float[Array, "rows width"]:
    """Set a share of the entries to zero and scale up the rest; nothing without a key."""
    if key is None or rate == 0:
        return x
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0.0)


def sinusoids(length: int, width: int) -> Float[np.ndarray, "length width"]:
    """Sines and cosines of the position at geometric wavelengths from 2π to 20 000π (Vaswani et al. 2017, §3.5)."""
    pair = np.arange((width + 1) // 2)
    angle = np.arange(length)[:, None] / 10000 ** (2 * pair[None, :] / width)
    return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(length, -1)[:, :width].astype(np.float32)
