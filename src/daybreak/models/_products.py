"""Products of matrices in the precision that a run asks for: factors in bfloat16, sums in float32.

The precision is set around a model while its program is traced. So a model names no precision: it calls `product`, and
what it does not compute by `product` (attention, norms, its loss) stays in float32.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

Precision = Literal["float32", "bfloat16"]

_ROWS = 1024  # that one product of a weight's gradient sums over on a CPU, at most
_precision: ContextVar[Precision] = ContextVar("precision", default="float32")
_in_parts: ContextVar[bool] = ContextVar("in_parts", default=False)


@contextmanager
def products_in(precision: Precision, in_parts: bool = False) -> Iterator[None]:
    """Trace what follows with this precision.

    Args:
        precision: of the factors of products.
        in_parts: whether gradients of several parts of a batch are added up; it decides how they are computed.

    Example:
        >>> x, W = jnp.full((2, 3), 1 / 3), jnp.ones((3, 4))
        >>> with products_in("bfloat16"):
        ...     y = product(x, W)
        >>> y.dtype, bool(y[0, 0] == 1), round(float(y[0, 0]), 4)  # sums are not rounded to bfloat16, factors are
        (dtype('float32'), False, 1.002)
    """
    before = _precision.set(precision), _in_parts.set(in_parts)
    try:
        yield
    finally:
        _precision.reset(before[0])
        _in_parts.reset(before[1])


def product(x: Float[Array, "rows in"], weight: Float[Array, "in out"]) -> Float[Array, "rows out"]:
    """X W, in the precision of `products_in`; the same for its gradients.

    Example:
        >>> product(jnp.ones((1, 2)), jnp.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[4.0, 6.0]]
    """
    return _rounded(x, weight, _in_parts.get()) if _precision.get() == "bfloat16" else x @ weight


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _rounded(x: Float[Array, "rows in"], weight: Float[Array, "in out"], in_parts: bool) -> Float[Array, "rows out"]:
    return _forward(x, weight, in_parts)[0]


def _forward(x: Array, weight: Array, in_parts: bool) -> tuple[Array, tuple[Array, Array]]:
    factors = x.astype(jnp.bfloat16), weight.astype(jnp.bfloat16)
    return _sums(*factors, over=(1, 0)), factors


def _backward(in_parts: bool, factors: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    x, weight = factors
    gradient = gradient.astype(jnp.bfloat16)
    return _sums(gradient, weight, over=(1, 1)), _over_rows(x, gradient, in_parts)


_rounded.defvjp(_forward, _backward)


def _over_rows(x: Array, gradient: Array, in_parts: bool) -> Float[Array, "in out"]:
    """Xᵀ G.

    On a CPU, XLA converts the factors of this product back to float32, unless X is transposed before it. XLA would move that
    transposition into the product again, but not through slices: so the sum is taken in two parts or more. If gradients of parts
    of a batch are added up, the narrower factor is transposed, and their sum once: 0.93 of a step at T = 64. A gradient that the
    optimizer reads at once would be transposed for each of its moments: 1.15 of a step at T = 32, 1.09 in recall of 16 pairs.
    """
    if jax.default_backend() != "cpu":
        return _sums(x, gradient, over=(0, 0))
    if in_parts and x.shape[1] > gradient.shape[1]:
        return _over_rows(gradient, x, in_parts).T
    rows = min(-(-len(x) // 2), _ROWS)
    first, *others = [
        _sums(x.T[:, i : i + rows], gradient[i : i + rows], over=(1, 0)) for i in range(0, len(x), max(rows, 1))
    ]
    return sum(others, first)


def _sums(a: Array, b: Array, over: tuple[int, int]) -> Array:
    """A product summed in float32 over one axis of each factor."""
    axes = (((over[0],), (over[1],)), ((), ()))
    return lax.dot_general(a, b, axes, preferred_element_type=jnp.float32)
