"""Products in bfloat16: factors are rounded, sums are not, and the hardware's own instructions are used."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.models import product, products_in
from daybreak.training.hardware import has_bfloat16


def _rounded(x: jax.Array) -> np.ndarray:
    return np.asarray(x.astype(jnp.bfloat16), np.float64)


def _drawn(rows: int, inside: int, outside: int) -> list[jax.Array]:
    keys = jax.random.split(jax.random.key(rows), 3)
    return [
        jax.random.normal(key, x)
        for key, x in zip(keys, ((rows, inside), (inside, outside), (rows, outside)), strict=True)
    ]


@settings(max_examples=12, deadline=None)
@given(
    rows=st.sampled_from([1, 2, 3, 63, 1025, 2050]),
    inside=st.sampled_from([1, 3, 16]),
    outside=st.integers(1, 20),
    in_parts=st.booleans(),
)
def test_product_and_gradients_are_those_of_rounded_factors(
    rows: int, inside: int, outside: int, in_parts: bool
) -> None:
    x, weight, gradient = _drawn(rows, inside, outside)
    with products_in("bfloat16", in_parts):
        y, back = jax.vjp(product, x, weight)
        of_x, of_weight = back(gradient)
    a, b, g = map(_rounded, (x, weight, gradient))
    for ours, exact, terms in ((y, a @ b, inside), (of_x, g @ b.T, outside), (of_weight, a.T @ g, rows)):
        assert ours.dtype == jnp.float32
        np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-5 * np.sqrt(terms) * 4)


def test_float32_is_the_default_and_comes_back_after_an_error() -> None:
    x, weight, _ = _drawn(4, 8, 8)
    with pytest.raises(ZeroDivisionError), products_in("bfloat16"):
        raise ZeroDivisionError
    assert (product(x, weight) == x @ weight).all()
    with products_in("bfloat16"):
        assert (product(x, weight) != x @ weight).any()


@pytest.mark.skipif(jax.default_backend() != "cpu" or not has_bfloat16(), reason="the processor has no bfloat16")
@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(
    ("rows", "inside", "outside"), [(1024, 256, 1024), (1024, 1024, 256), (528, 256, 256), (4096, 128, 512)]
)
def test_no_product_of_a_step_is_converted_back_to_float32(
    rows: int, inside: int, outside: int, in_parts: bool
) -> None:
    """XLA does that where it has no bfloat16 for the form of a product: then nothing is gained."""

    def gradients(x: jax.Array, weight: jax.Array) -> tuple[jax.Array, jax.Array]:
        with products_in("bfloat16", in_parts):
            return jax.grad(lambda *parts: jnp.sum(product(*parts) ** 2), (0, 1))(x, weight)

    x, weight, _ = _drawn(rows, inside, outside)
    text = jax.jit(gradients).lower(x, weight).compile().as_text() or ""
    types = dict(re.findall(r"%([\w.-]+) = (\w+)\[", text))
    products = re.findall(r" dot\((?:\w+\[[\d,]*\]\S* )?%([\w.-]+), (?:\w+\[[\d,]*\]\S* )?%([\w.-]+)\)", text)
    assert len(products) >= 4, "one forward, one for x, two or more for the weight"
    assert {types[name] for pair in products for name in pair} == {"bf16"}
