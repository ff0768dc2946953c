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
    both = [linear(block[part], context) for part in ("key", "value")]
    query, key, value = (x.reshape(x.shape[0], heads, -1) for x in (query, *both))
    scores = jnp.einsum("rhe,the->hrt", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = jnp.where(mask[None], scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1)
    attended = jnp.einsum("hrt,the->rhe", weights, value).reshape(asking.shape[0], -1)
    return linear(block["out"], attended), weights


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
