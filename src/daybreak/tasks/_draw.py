"""Random numbers from one draw of bits. Separate draws would each be compiled, and each be executed."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32


def uniform(bits: UInt32[Array, " n"]) -> Float[Array, " n"]:
    """Uniform in [0, 1), on a grid of 2⁻²⁴."""
    return (bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)


def below(bits: UInt32[Array, " n"], bound: Int[Array, " n"] | int) -> Int[Array, " n"]:
    """Whole numbers from 0 to bound − 1, each of probability 1/bound up to 2⁻³²."""
    return (bits % jnp.asarray(bound, jnp.uint32)).astype(jnp.int32)


def permutation(bits: UInt32[Array, " n"]) -> Int[Array, " n"]:
    """A random order of n things."""
    return jnp.argsort(bits)
