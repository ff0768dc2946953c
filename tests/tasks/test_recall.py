"""Associative recall has the distribution the paper gives it. Every test is at significance 1e-4."""

from functools import partial
from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from daybreak.tasks import Recall
from daybreak.tasks.recall import at_least_one, distinct

LEVEL = 1e-4
jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # compiling is most of the time here


def agrees(counts, expected):
    """Whether counts agree with expected ones by a chi-square test; impossible cells must be empty."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    possible = expected > 0
    assert (counts[~possible] == 0).all()
    expected = expected[possible] * counts.sum() / expected.sum()
    return possible.sum() == 1 or stats.chisquare(counts[possible], expected).pvalue > LEVEL


def columns(examples):
    """Keys, values and query of each sequence."""
    return examples.inputs[:, :-1:2], examples.inputs[:, 1::2], examples.inputs[:, -1]


@pytest.mark.parametrize("B", [0.5, 1.5, 3.0, 4.0])
@pytest.mark.parametrize("placement", ["at-least-one", "bernoulli"])
def test_slots_are_independent_up_to_the_condition(draw, placement, B):
    """The joint law of which of the 4 slots hold the query, over all 16 patterns."""
    _, examples = draw(Recall(N=4, V=6, B=B, placement=placement), 10_000)
    keys, _, query = columns(examples)
    placed = keys == query[:, None]
    counts = np.bincount(placed @ (1 << np.arange(4)), minlength=16)
    size = np.array([pattern.bit_count() for pattern in range(16)])
    expected = (B / 4) ** size * (1 - B / 4) ** (4 - size)
    if placement == "at-least-one":
        expected[0] = 0
    assert agrees(counts, expected)


@pytest.mark.parametrize("B", [1.0, 1.5, 3.0, 4.0])
def test_one_plus_is_one_slot_and_chance_in_the_others(draw, B):
    """The law of which slots hold the query: a first one at random, each other one with probability (B − 1)/(N − 1)."""
    _, examples = draw(Recall(N=4, V=6, B=B), 10_000)
    keys, _, query = columns(examples)
    placed = keys == query[:, None]
    counts = np.bincount(placed @ (1 << np.arange(4)), minlength=16)
    size = np.array([pattern.bit_count() for pattern in range(16)])
    rate = (B - 1) / 3
    expected = size / 4 * np.where(size > 0, rate ** np.maximum(size - 1, 0) * (1 - rate) ** (4 - size), 0)
    np.testing.assert_allclose([expected.sum(), expected @ size], [1, B])  # B occurrences on average
    assert agrees(counts, expected)


@pytest.mark.parametrize("task", [Recall(N=12, V=64), Recall(N=12, V=64, p=0.5), Recall(N=1, V=2)])
def test_without_repetition_there_is_exactly_one_copy(draw, task):
    _, examples = draw(task, 5_000)
    keys, _, query = columns(examples)
    assert ((keys == query[:, None]).sum(axis=1) == 1).all()


@pytest.mark.parametrize("B", [1, 2, 6])
def test_exactly_means_exactly_at_uniform_slots(draw, B):
    _, examples = draw(Recall(N=6, V=8, B=B, placement="exactly"), 10_000)
    keys, _, query = columns(examples)
    placed = keys == query[:, None]
    assert (placed.sum(axis=1) == B).all()
    assert agrees(placed.sum(axis=0), np.ones(6))


@pytest.mark.parametrize("B", [1.0, 3.0])
def test_occurrences_at_the_published_size_are_truncated_binomial(draw, B):
    _, examples = draw(Recall(B=B, placement="at-least-one"), 10_000)
    counts = np.bincount(examples.relevant.sum(axis=(1, 2)), minlength=9)
    counts = np.append(counts[:8], counts[8:].sum())
    expected = stats.binom.pmf(np.arange(9), 32, B / 32)
    expected[[0, 8]] = 0, stats.binom.sf(7, 32, B / 32)
    assert agrees(counts, expected)


@pytest.mark.parametrize("task", [Recall(N=6, V=6, B=1.5), Recall(N=6, V=7, B=1, placement="bernoulli")])
def test_one_permutation_maps_keys_to_values_and_keys_are_not_replaced(draw, task):
    _, examples = draw(task, 10_000)
    keys, values, query = columns(examples)
    placed = keys == query[:, None]
    np.testing.assert_array_equal(examples.relevant[:, 0, 1::2], placed)
    assert not examples.relevant[:, 0, ::2].any()
    same_key, same_value = keys[:, :, None] == keys[:, None, :], values[:, :, None] == values[:, None, :]
    np.testing.assert_array_equal(same_key, same_value)  # a function of the key, and injective
    only_query = placed[:, :, None] & placed[:, None, :]
    np.testing.assert_array_equal(same_key, only_query | np.eye(6, dtype=bool))
    np.testing.assert_array_equal(values == examples.target, placed)


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_the_whole_law_of_a_small_setting(draw, p):
    """Query, its slot, the other key and both values: 4·2·3·12 sequences, as likely as their query."""
    world, examples = draw(Recall(N=2, V=4, p=p, placement="exactly"), 20_000, one_world=True)
    by_query = np.full(4, (1 - p) / 4)
    by_query[world.repeated] += p / 2
    base = 4 ** np.arange(5)
    expected = np.zeros(4**5)
    for (k0, k1), (v0, v1) in product(permutations(range(4), 2), repeat=2):
        for query in (k0, k1):
            expected[np.dot((k0, v0, k1, v1, query), base)] = by_query[query]
    assert (expected > 0).sum() == 4 * 2 * 3 * 12
    assert agrees(np.bincount(examples.inputs @ base, minlength=expected.size), expected)


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_two_tokens_are_asked_for_more_often(draw, p):
    """p/2 + (1−p)/V on each of them, (1−p)/V on the others (paper A, C.1)."""
    world, examples = draw(Recall(N=4, V=6, p=p), 10_000, one_world=True)
    expected = np.full(6, (1 - p) / 6)
    expected[world.repeated] += p / 2
    assert agrees(np.bincount(examples.inputs[:, -1], minlength=6), expected)
    assert agrees(np.bincount(examples.target[:, 0], minlength=6), np.ones(6))


def test_the_repeated_tokens_are_two_at_random(draw):
    worlds, _ = draw(Recall(N=4, V=6), 10_000)
    counts = np.bincount(worlds.repeated @ (6, 1), minlength=36)
    assert agrees(counts, ~np.eye(6, dtype=bool).ravel())


@pytest.mark.parametrize(("count", "size"), [(3, 5), (4, 4), (1, 3), (0, 2)])
def test_distinct_draws_every_arrangement_equally_often(count, size):
    drawn = jit(jax.vmap(lambda key: distinct(jax.random.bits(key, (count,)), size)))(
        jax.random.split(jax.random.key(0), 10_000)
    )
    codes = np.asarray(drawn) @ size ** np.arange(count)
    allowed = [np.dot(x, size ** np.arange(count)) for x in permutations(range(size), count)]
    assert agrees(np.bincount(codes.astype(int), minlength=size**count), np.isin(np.arange(size**count), allowed))


@pytest.mark.parametrize("rate", [1e-6, 0.3, 1.0])
def test_at_least_one_has_the_conditional_law(rate):
    keys = jax.random.split(jax.random.key(1), 10_000)
    events = np.asarray(
        jit(jax.vmap(lambda key, r: at_least_one(jax.random.uniform(key, (4,)), r), (0, None)))(keys, jnp.float32(rate))
    )
    counts = np.bincount(events @ (4, 2, 1), minlength=8)
    size = np.array([sum(bits) for bits in product((0, 1), repeat=3)])
    expected = np.where(size > 0, rate**size * (1 - rate) ** (3 - size), 0.0)
    if rate == 1e-6:  # one event and no more, at any of the places
        assert agrees(counts, size == 1)
    else:
        assert agrees(counts, expected)


def test_positions_of_keys_and_values_for_induction_probes():
    task = Recall(N=3, V=5)
    assert task.key_positions == (0, 2, 4) and task.value_positions == (1, 3, 5) and task.interface.reads == (6,)
