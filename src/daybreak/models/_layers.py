"""The parts of a Transformer as pure functions: linear maps, layer norm, dropout, sinusoids, rotary positions."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.models._products import product

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


def linear(parameters: Parameters, x: Float[Array, "*sequences rows in"]) -> Float[Array, "*sequences rows out"]:
    """X W + b, as one product for all sequences."""
    y = product(x.reshape(-1, x.shape[-1]), parameters["weight"])
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


def drop(x: Float[Array, "rows width"], rate: float, key: PRNGKeyArray) -> Float[Array, "rows width"]:
    """Set a fraction of the entries to zero and scale up the rest.

    Random words are expensive, so half a word decides an entry: the fraction is the nearest multiple of 2⁻¹⁶.
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


def rotated(x: Float[Array, "*heads rows e"], positions: np.ndarray) -> Float[Array, "*heads rows e"]:
    """Rotary positions (Su et al. 2021): entries i and i + e/2 of a row are turned by the angle position / 10000^(2i/e).

    The product of a rotated query and a rotated key depends on their positions only through the difference.
    """
    half = x.shape[-1] // 2
    angle = positions[:, None] / 10000 ** (np.arange(half)[None, :] / half)
    cos, sin = (
        jnp.broadcast_to(f(angle).astype(np.float32), (*x.shape[:-1], half)).astype(x.dtype) for f in (np.cos, np.sin)
    )
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
