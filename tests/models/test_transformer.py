"""The Transformer against what its settings say."""

import dataclasses
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.models import Interface, Transformer, _attention, _layers

TOKENS = Interface(length=6, features=None, tokens=9, outputs=9, reads=(2, 5))


def _small(**settings: Any) -> Transformer:
    sizes: dict[str, Any] = {"heads": 2, "width": 8, "head_width": 4, "mlp": 16}
    return Transformer(**sizes | settings)


@pytest.mark.parametrize("causal", [True, False])
def test_a_causal_model_does_not_see_the_future(causal: bool) -> None:
    model = _small(causal=causal)
    parameters = model.init(jax.random.key(0), TOKENS)
    tokens = jnp.array([1, 2, 3, 4, 5, 6])
    first, second = (model.apply(parameters, x, TOKENS).values for x in (tokens, tokens.at[4].set(8)))
    assert np.array_equal(first[0], second[0]) == causal
    assert not np.allclose(first[1], second[1])


@pytest.mark.parametrize("norm", ["none", "pre"])
@pytest.mark.parametrize("reads", [(2, 5), (0, 1, 2, 3, 4, 5)])
def test_attention_that_is_given_equals_attention_that_was_learned(reads: tuple[int, ...], norm: Any) -> None:
    """One-hot positions, and scores so large that the softmax of the first block attends to the previous position alone."""
    interface = TOKENS._replace(reads=reads)
    learned = _small(layers=2, heads=1, width=9, head_width=6, mlp=0, positions="one-hot", bias=False, norm=norm)
    parameters = learned.init(jax.random.key(0), interface)
    to_previous = jnp.zeros((6, 6)).at[jnp.arange(6), jnp.maximum(jnp.arange(6) - 1, 0)].set(1e3)
    scores = {"query": jnp.pad(to_previous, ((9, 0), (0, 0))), "key": jnp.pad(jnp.eye(6), ((9, 0), (0, 0)))}
    planted = parameters | {"block0": parameters["block0"] | {name: {"weight": x} for name, x in scores.items()}}
    given = replace(learned, first_attention="previous")
    tokens = jnp.array([[1, 8, 3, 0, 5, 6], [1, 1, 1, 8, 8, 1]])
    want = learned.apply(planted, tokens, interface, attention=True)
    without = given.init(jax.random.key(0), interface)
    assert parameters["block0"].keys() - without["block0"].keys() == {"query", "key"}
    made = given.apply(without, tokens, interface, attention=True)
    np.testing.assert_allclose(made.values, want.values, rtol=1e-4, atol=1e-5)
    assert made.attention is not None and want.attention is not None
    for x, y in zip(made.attention, want.attention, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


@pytest.mark.parametrize("norm", ["none", "post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "one-hot", "none", "rotary"])
@pytest.mark.parametrize("head_width", [4, 16])
def test_tokens_that_are_looked_up_equal_one_hot_products(head_width: int, positions: Any, norm: Any) -> None:
    """Outputs and gradients, of all sequences at once; heads as wide as there are tokens and places attend by table."""
    model = _small(bias=False, positions=positions, norm=norm, embedding_scale=2.0, head_width=head_width, causal=True)
    vectors = TOKENS._replace(features=9, tokens=None)
    parameters = model.init(jax.random.key(0), TOKENS)
    tokens = jnp.array([[1, 8, 3, 0, 5, 6], [1, 1, 1, 8, 8, 1]])
    towards = jax.random.normal(jax.random.key(1), (2, 2, 9))

    def gradient(inputs, interface: Interface):
        return jax.grad(lambda p: jnp.sum(towards * model.apply(p, inputs, interface).values))(parameters)

    made = [model.apply(parameters, tokens, TOKENS).values, gradient(tokens, TOKENS)]
    hot = jax.nn.one_hot(tokens, 9)
    multiplied = [model.apply(parameters, hot, vectors).values, gradient(hot, vectors)]
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5), made, multiplied)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_by_table_equals_attention(causal: bool) -> None:
    """Of some rows, with biases, for many sequences and for one."""
    keys = jax.random.split(jax.random.key(2), 7)
    names = ("query", "key", "value")
    block = {n: _layers.linear_parameters(k, 8, 30, "torch", True) for n, k in zip(names, keys, strict=False)}
    block["out"] = _layers.linear_parameters(keys[3], 30, 8, "torch", True)
    inputs = jax.random.randint(keys[6], (3, 6), 0, 9)
    many = _attention.Tokens(jax.random.normal(keys[4], (9, 8)), jax.random.normal(keys[5], (6, 8)), inputs)
    for rows in (np.arange(6), np.array([2, 5])):
        made = _attention.attend(block, many, rows, 2, causal)
        want = _attention.attend(block, many.vectors(), rows, 2, causal)
        one = _attention.attend(block, many._replace(inputs=inputs[1]), rows, 2, causal)
        for x, y, z in zip(made, want, one, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(x[1], z, rtol=1e-4, atol=1e-5)


def test_the_algorithm_is_chosen_by_operation_counts() -> None:
    """At the border of each condition: r(e + T) < Te for vectors, V + T ≤ e for tokens."""
    vectors = jnp.zeros((64, 8))
    assert _attention.choose(vectors, rows=12, head_width=16) is _attention.by_query  # 12 · 80 < 1024
    assert _attention.choose(vectors, rows=13, head_width=16) is _attention.plain
    tokens = _attention.Tokens(jnp.zeros((9, 8)), jnp.zeros((6, 8)), jnp.zeros(6, int))
    assert _attention.choose(tokens, rows=1, head_width=15) is _attention.by_table
    assert _attention.choose(tokens, rows=1, head_width=14) is _attention.plain


def test_attention_equals_that_of_jax() -> None:
    """Heads, scaling and mask, against `jax.nn.dot_product_attention`."""
    keys = jax.random.split(jax.random.key(2), 5)
    names = ("query", "key", "value", "out")
    block = {n: _layers.linear_parameters(k, 8, 8, "torch", True) for n, k in zip(names, keys, strict=False)}
    x = jax.random.normal(keys[4], (6, 8))
    mask = np.tril(np.ones((6, 6), bool))
    ours, _ = _attention.attend(block, x, np.arange(6), 2, True)
    q, k, v = (_layers.linear(block[name], x).reshape(6, 2, 4) for name in names[:3])
    theirs = jax.nn.dot_product_attention(q, k, v, mask=jnp.asarray(mask)[None])
    np.testing.assert_allclose(ours, _layers.linear(block["out"], theirs.reshape(6, 8)), rtol=1e-4, atol=1e-5)


def _block(width: int, inside: int) -> dict[str, Any]:
    shapes = {"query": (width, inside), "key": (width, inside), "value": (width, inside), "out": (inside, width)}
    keys = jax.random.split(jax.random.key(7), 4)
    return {n: _layers.linear_parameters(k, *shapes[n], "torch", True) for n, k in zip(shapes, keys, strict=True)}


def test_rotary_attention_equals_a_derivation_by_complex_numbers() -> None:
    """Entries i and i + e/2 are one complex number, and a position is a phase; every head by itself, in double precision."""
    block, x, heads, e, length = _block(8, 12), jax.random.normal(jax.random.key(3), (9, 8)), 2, 6, 9
    plain: Any = jax.tree.map(lambda a: np.asarray(a, np.float64), (block, x))
    q, k, v = (plain[1] @ plain[0][n]["weight"] + plain[0][n]["bias"] for n in ("query", "key", "value"))
    phases = np.exp(1j * np.arange(length)[:, None] * 10000.0 ** (-2 * np.arange(e // 2) / e))
    outputs, patterns = [], []
    for head in range(heads):
        part = slice(head * e, head * e + e)
        a, b = ((y[:, part][:, : e // 2] + 1j * y[:, part][:, e // 2 :]) * phases for y in (q, k))
        scores = (a @ b.conj().T).real / np.sqrt(e)
        scores[np.triu_indices(length, 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        patterns.append(weights / weights.sum(axis=1, keepdims=True))
        outputs.append(patterns[-1] @ v[:, part])
    expected = np.concatenate(outputs, axis=1) @ plain[0]["out"]["weight"] + plain[0]["out"]["bias"]
    for rows in (np.arange(length), np.array([2, 8])):
        made, pattern = _attention.attend(block, x, rows, heads, True, rotary=True)
        np.testing.assert_allclose(made, expected[rows], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(pattern, np.stack(patterns)[:, rows], rtol=1e-4, atol=1e-5)


def test_rotary_scores_depend_on_the_distance_only() -> None:
    q, k = jax.random.normal(jax.random.key(0), (2, 1, 8))
    score = {
        (i, j): (_layers.rotated(q, np.array([i])) @ _layers.rotated(k, np.array([j])).T).item()
        for i in (0, 5, 100)
        for j in (0, 5, 95, 100)
    }
    assert score[5, 0] == pytest.approx(score[100, 95], abs=1e-4)
    assert score[0, 0] == pytest.approx(score[100, 100], abs=1e-4) == pytest.approx((q @ k.T).item(), abs=1e-4)
    assert score[5, 0] != pytest.approx(score[0, 5], abs=1e-2)
    assert score[5, 0] != pytest.approx(score[100, 0], abs=1e-2)


@pytest.mark.parametrize("settings", [{}, {"norm": "pre"}, {"positions": "rotary"}, {"head_width": 40}])
def test_a_window_hides_what_is_older_and_nothing_else(settings: dict[str, Any]) -> None:
    """One block, by all algorithms of attention: a read position gives the same for other older tokens, and attends to none."""
    interface = Interface(length=9, tokens=6, outputs=4, reads=(5, 8))
    sizes: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "head_width": 4, "mlp": 6, "causal": True}
    model = Transformer(**sizes | settings, window=3)
    parameters = model.init(jax.random.key(0), interface)
    tokens = jax.random.randint(jax.random.key(1), (9,), 0, 6)

    def outputs(model: Transformer, tokens: jax.Array):
        return model.apply(parameters, tokens, interface, attention=True)

    made = outputs(model, tokens)
    (pattern,) = (np.asarray(x) for x in made.attention or ())
    expected = np.array([[0, 0, 0, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 1]], bool)
    assert np.array_equal(pattern > 0, np.broadcast_to(expected, pattern.shape))
    np.testing.assert_allclose(pattern.sum(axis=2), 1, rtol=1e-5)
    older = outputs(model, tokens.at[:6].set((tokens[:6] + 1) % 6))
    np.testing.assert_allclose(made.values[1], older.values[1], atol=1e-6)
    assert np.abs(made.values[0] - older.values[0]).max() > 1e-3
    wide = dataclasses.replace(model, window=9)
    np.testing.assert_array_equal(
        outputs(wide, tokens).values, outputs(dataclasses.replace(model, window=0), tokens).values
    )


@pytest.mark.parametrize(("length", "rotary"), [(256, False), (259, True)])
def test_long_causal_attention_in_pieces_equals_attention(length: int, rotary: bool) -> None:
    """Output, pattern and gradient of all rows, against those of all rows but the first, which are not cut."""
    block, x = _block(4, 4), jax.random.normal(jax.random.key(3), (2, length, 4))

    def loss(block, rows):
        attended, pattern = (
            y[..., -length + 1 :, :] for y in _attention.attend(block, x, rows, 2, True, rotary=rotary)
        )
        return jnp.sum(jnp.sin(attended)), (attended, pattern)

    made = [
        jax.jit(lambda b, r=r: jax.grad(loss, has_aux=True)(b, r))(block)
        for r in (np.arange(length), np.arange(1, length))
    ]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4), *made)


def test_initial_weights_are_as_named() -> None:
    key = jax.random.key(0)
    torch = _layers.linear_parameters(key, 100, 50, "torch", True)
    assert 0.095 < np.abs(torch["weight"]).max() <= 0.1
    assert 0 < np.abs(torch["bias"]).max() <= 0.1
    xavier = _layers.linear_parameters(key, 100, 50, "xavier", True)
    assert 0.19 < np.abs(xavier["weight"]).max() <= 0.2
    assert not np.any(xavier["bias"])
    orthogonal = _layers.linear_parameters(key, 100, 50, "orthogonal", False)
    np.testing.assert_allclose(orthogonal["weight"].T @ orthogonal["weight"], np.eye(50), atol=1e-5)
    assert "bias" not in orthogonal


def test_scales_multiply_what_they_name() -> None:
    plain, scaled = _small(), _small(readout_scale=0.5, embedding_scale=2.0)
    a, b = (model.init(jax.random.key(0), TOKENS) for model in (plain, scaled))
    np.testing.assert_allclose(b["readout"]["weight"], 0.5 * a["readout"]["weight"])
    np.testing.assert_allclose(b["embed"]["weight"], 2 * a["embed"]["weight"])
    np.testing.assert_array_equal(b["block0"]["query"]["weight"], a["block0"]["query"]["weight"])


def test_layer_norm_normalises() -> None:
    x = 5 + 3 * jax.random.normal(jax.random.key(0), (4, 64))
    y = _layers.layer_norm(_layers.norm_parameters(64), x)
    np.testing.assert_allclose(y.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(y.var(axis=1), 1, rtol=1e-3)


def test_dropout_only_with_a_key_and_unbiased() -> None:
    model = _small(dropout=0.5)
    parameters = model.init(jax.random.key(0), TOKENS)
    tokens = jnp.array([1, 2, 3, 4, 5, 6])
    still = model.apply(parameters, tokens, TOKENS).values
    np.testing.assert_array_equal(still, model.apply(parameters, tokens, TOKENS).values)
    assert not np.allclose(still, model.apply(parameters, tokens, TOKENS, key=jax.random.key(1)).values)
    kept = _layers.drop(jnp.ones((199, 201)), 0.25, jax.random.key(3))
    assert float(kept.mean()) == pytest.approx(1, abs=0.02)
    assert float((kept == 0).mean()) == pytest.approx(0.25, abs=0.02)


def test_sinusoids() -> None:
    made = _layers.sinusoids(10, 6)
    angle = 7 / 10000 ** (2 * 1 / 6)
    assert made[7, 2] == pytest.approx(np.sin(angle), rel=1e-6)
    assert made[7, 3] == pytest.approx(np.cos(angle), rel=1e-6)
    assert _layers.sinusoids(4, 255).shape == (4, 255)
