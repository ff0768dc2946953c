"""What every model must do: compute what is read, whatever else is read, in batches too, and refuse bad settings clearly."""

import dataclasses
import json
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.models import MODELS, AnyModel, Interface, MinimalAttention, Output, ToyAttention, Transformer, check

VECTORS = Interface(length=7, features=5, tokens=None, outputs=3, reads=(6,))
TOKENS = Interface(length=7, features=None, tokens=11, outputs=11, reads=(4, 5, 6))


def _small(**settings: Any) -> Transformer:
    sizes: dict[str, Any] = {"heads": 2, "width": 8, "head_width": 3, "mlp": 10}
    return Transformer(**sizes | settings)


CASES: list[tuple[AnyModel, Interface]] = [
    (ToyAttention(scale=1.0), VECTORS),
    (MinimalAttention(heads=2, epsilon=1.0), TOKENS),
    (_small(), VECTORS),
    (_small(layers=1), VECTORS),
    (_small(norm="pre", causal=True), TOKENS),
    (_small(norm="post", positions="learned", weights="xavier", ends="orthogonal", bias=False), TOKENS),
    (_small(positions="one-hot", residual=False, activation="gelu"), TOKENS),
    (_small(mlp=0, positions="none", layers=3), VECTORS),
    (_small(mlp=0, positions="rotary", head_width=4, norm="pre", causal=True), TOKENS),
    (_small(positions="rotary", head_width=2), VECTORS),
    (_small(norm="pre", causal=True, first_attention="previous"), TOKENS),
    (_small(layers=1, first_attention="previous"), VECTORS),
    (_small(causal=True, window=2), TOKENS),
]
each_case = pytest.mark.parametrize(("model", "interface"), CASES)


def _apply(model: AnyModel, *given: Any, **settings: Any) -> Output:
    """Compiled as a whole, which is far quicker than operation by operation."""
    return eqx.filter_jit(model.apply)(*given, **settings)


def _inputs(interface: Interface, seed: int = 0, count: int = 4) -> jax.Array:
    key = jax.random.key(seed)
    if interface.tokens is not None:
        return jax.random.randint(key, (count, interface.length), 0, interface.tokens)
    assert interface.features is not None
    return jax.random.normal(key, (count, interface.length, interface.features))


def _warm(model: AnyModel, interface: Interface, seed: int = 1):
    """Parameters with every entry at work: those that start at zero are moved."""
    leaves, tree = jax.tree.flatten(eqx.filter_jit(model.init)(jax.random.key(seed), interface))
    keys = jax.random.split(jax.random.key(seed + 1), len(leaves))
    moved = [x + 0.3 * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
    return jax.tree.unflatten(tree, moved)


@each_case
def test_shapes_and_attention(model: AnyModel, interface: Interface) -> None:
    check(model, interface)
    parameters = _warm(model, interface)
    output = _apply(model, parameters, _inputs(interface)[0], interface, attention=True)
    assert output.attention is not None
    for pattern in output.attention:
        np.testing.assert_allclose(pattern.sum(axis=2), 1, rtol=1e-5)


@each_case
def test_reading_less_changes_nothing_that_is_read(model: AnyModel, interface: Interface) -> None:
    """The shortcut of the last block equals the computation at every position."""
    if isinstance(model, ToyAttention):
        return  # is read at one position by definition
    parameters, inputs, reads = _warm(model, interface), _inputs(interface)[0], np.array(interface.reads)
    everywhere = _apply(
        model, parameters, inputs, interface._replace(reads=tuple(range(interface.length))), attention=True
    )
    some = _apply(model, parameters, inputs, interface, attention=True)
    np.testing.assert_allclose(some.values, everywhere.values[reads], rtol=1e-4, atol=1e-5)
    assert some.attention is not None
    assert everywhere.attention is not None
    np.testing.assert_allclose(some.attention[-1], everywhere.attention[-1][:, reads], atol=1e-5)


@each_case
def test_batches_of_sequences_and_of_members_equal_single_calls(model: AnyModel, interface: Interface) -> None:
    inputs = _inputs(interface)
    members = [_warm(model, interface, seed) for seed in (1, 5)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *members)
    over_sequences = jax.vmap(lambda p, x: model.apply(p, x, interface).values, (None, 0))
    many = jax.jit(jax.vmap(over_sequences, (0, None)))(stacked, inputs)
    for i, member in enumerate(members):
        for j, sequence in enumerate(inputs):
            np.testing.assert_allclose(
                many[i, j], _apply(model, member, sequence, interface).values, rtol=1e-4, atol=1e-5
            )


@pytest.mark.parametrize(("model", "interface"), [*CASES, (_small(dropout=0.5), VECTORS)])
def test_a_batch_equals_its_sequences(model: AnyModel, interface: Interface) -> None:
    """What is dropped follows from a sequence's own key."""
    parameters, inputs, keys = _warm(model, interface), _inputs(interface), jax.random.split(jax.random.key(8), 4)
    many = eqx.filter_jit(model.batch)(parameters, inputs, interface, keys)
    for values, sequence, key in zip(many, inputs, keys, strict=True):
        np.testing.assert_allclose(
            values, _apply(model, parameters, sequence, interface, key=key).values, rtol=1e-4, atol=1e-5
        )


@each_case
def test_every_parameter_matters(model: AnyModel, interface: Interface) -> None:
    """No parameter is drawn that no output depends on."""
    inputs = _inputs(interface, count=64)

    def loss(parameters):
        return jnp.sum(jnp.sin(jax.vmap(lambda x: model.apply(parameters, x, interface).values)(inputs)))

    for path, leaf in jax.tree_util.tree_leaves_with_path(jax.jit(jax.grad(loss))(_warm(model, interface))):
        name = jax.tree_util.keystr(path)
        assert np.all(np.isfinite(leaf)), name
        if not name.endswith("['key']['bias']"):  # adds the same to all scores of a row, which softmax does not see
            assert np.any(np.abs(leaf) > 1e-7), name


@each_case
def test_initial_parameters_follow_the_key_only(model: AnyModel, interface: Interface) -> None:
    first, again, other = (jax.tree.leaves(eqx.filter_jit(model.init)(jax.random.key(s), interface)) for s in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    drawn = [(a, b) for a, b in zip(first, other, strict=True) if np.ptp(a) > 0]
    assert drawn
    assert not any(np.array_equal(a, b) for a, b in drawn)


@each_case
def test_fields_are_plain_values(model: AnyModel, interface: Interface) -> None:
    fields = json.loads(json.dumps(dataclasses.asdict(model)))  # pyright: ignore[reportArgumentType]
    assert type(model)(**fields) == model
    assert type(model) in MODELS.values()


NAN = float("nan")
REFUSED: list[tuple[type[AnyModel], dict[str, Any], str]] = [
    (Transformer, {"heads": 0}, "heads = 0 is not allowed: it must be at least 1."),
    (Transformer, {"layers": -1}, "layers = -1 is not allowed: it must be at least 1."),
    (Transformer, {"layers": 1.5}, "layers = 1.5 is not allowed: it must be a whole number."),
    (Transformer, {"width": 8.0}, "width = 8 is not allowed: it must be a whole number."),
    (Transformer, {"head_width": "4"}, "head_width = '4' is not allowed: it must be a whole number."),
    (Transformer, {"heads": NAN}, "heads = nan is not allowed: it must be a whole number."),
    (Transformer, {"mlp": -4}, "mlp = -4 is not allowed: it must be at least 0."),
    (Transformer, {"mlp": True}, "mlp = True is not allowed: it must be a whole number."),
    (Transformer, {"causal": 1}, "causal = 1 is not allowed: it must be true or false."),
    (Transformer, {"dropout": 1.0}, "dropout = 1 is not allowed: it must lie in [0, 1)."),
    (Transformer, {"dropout": NAN}, "dropout = nan is not allowed: it must be finite."),
    (Transformer, {"dropout": "half"}, "dropout = 'half' is not allowed: it must be a number."),
    (Transformer, {"embedding_scale": NAN}, "embedding_scale = nan is not allowed: it must be finite."),
    (Transformer, {"position_scale": -np.inf}, "position_scale = -inf is not allowed: it must be finite."),
    (Transformer, {"readout_scale": None}, "readout_scale = None is not allowed: it must be a number."),
    (
        Transformer,
        {"window": 2},
        "window = 2 is not allowed: the newest positions are those before a position, so only a causal model has a window.",
    ),
    (
        Transformer,
        {"causal": True, "window": -1},
        "window = -1 is not allowed: the window (0: all positions) must be at least 0.",
    ),
    (
        Transformer,
        {"positions": "rotary", "head_width": 3},
        "head_width = 3 is not allowed: rotary positions turn pairs of entries, so it must be even.",
    ),
    (Transformer, {"norm": "batch"}, "norm = 'batch' is not allowed: choose 'none', 'pre' or 'post'."),
    (MinimalAttention, {"heads": 0}, "heads = 0 is not allowed: it must be at least 1."),
    (MinimalAttention, {"heads": 2.5}, "heads = 2.5 is not allowed: it must be a whole number."),
    (MinimalAttention, {"window": -1}, "window = -1 is not allowed: the window (0: all positions) must be at least 0."),
    (MinimalAttention, {"epsilon": -1.0}, "epsilon = -1 is not allowed: it must be at least 0."),
    (MinimalAttention, {"epsilon": NAN}, "epsilon = nan is not allowed: it must be finite."),
    (MinimalAttention, {"epsilon": True}, "epsilon = True is not allowed: it must be a number."),
    (ToyAttention, {"scale": NAN}, "scale = nan is not allowed: it must be finite."),
    (ToyAttention, {"scale": "one"}, "scale = 'one' is not allowed: it must be a number."),
]


@pytest.mark.parametrize(("model", "settings", "sentence"), REFUSED)
def test_bad_settings_are_refused(model: type[AnyModel], settings: dict[str, Any], sentence: str, as_a_user) -> None:
    with pytest.raises(RequestError) as caught:
        model(**settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("model", "interface", "sentence"),
    [(MinimalAttention(), VECTORS, "takes tokens"), (ToyAttention(), TOKENS, "takes vectors")],
)
def test_a_task_of_the_wrong_kind_is_refused(model: AnyModel, interface: Interface, sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        model.check(interface)


@pytest.mark.parametrize(
    ("model", "name"),
    [(Transformer(), "embedding_scale"), (MinimalAttention(), "epsilon"), (ToyAttention(), "scale")],
)
def test_arrays_and_tracers_of_a_cohort_pass(model: AnyModel, name: str, as_a_user) -> None:
    members = dataclasses.replace(model, **{name: jnp.array([0.5, 2.0])})  # pyright: ignore[reportArgumentType]
    assert np.shape(getattr(members, name)) == (2,)
    traced = jax.jit(lambda x: getattr(dataclasses.replace(model, **{name: x}), name))  # pyright: ignore[reportArgumentType]
    assert traced(0.5) == 0.5


def test_integers_keep_their_form_in_json_and_those_of_numpy_become_plain(as_a_user) -> None:
    """A run is named by its JSON, in which 1 and 1.0 differ: a model's scalars stay as they were given."""
    assert type(ToyAttention(scale=1).scale) is int
    assert type(MinimalAttention(heads=np.int64(2)).heads) is int
