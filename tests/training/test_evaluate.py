"""Evaluation: probes of planted attention, scores of known students, and nothing computed twice."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.models import Interface, MinimalAttention, Model, Output, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation, Text, corpus
from daybreak.training import Run, cohort
from daybreak.training.evaluate import evaluate, evaluation_sets, parts

KEY = jax.random.key(0)


class Planted(Model[dict]):
    """Two layers of two heads whose attention, and outputs, are parameters."""

    def init(self, key, interface: Interface) -> dict:
        """Uniform everywhere."""
        full = jnp.full((2, interface.length, interface.length), 1 / interface.length)
        return {
            "first": full,
            "last": full[:, np.array(interface.reads)],
            "values": jnp.zeros((len(interface.reads), interface.outputs)),
        }

    def apply(self, parameters, inputs, interface, *, key=None, attention=False) -> Output:
        """What was planted."""
        return Output(parameters["values"], (parameters["first"], parameters["last"]) if attention else None)


def _measured(task, change=lambda parameters: parameters, *, evaluation: int = 40) -> dict[str, np.ndarray]:
    run = Run(task, Planted(), evaluation=evaluation)
    world = task.world(KEY)
    train = task.dataset(jax.random.key(1), world)
    sets = evaluation_sets(run, KEY, world, train)
    row = evaluate(run, change(run.model.init(KEY, run.interface)), world, sets)
    return {name: np.asarray(x) for name, x in row.items()}


def test_uniform_attention_is_seen_as_uniform() -> None:
    row = _measured(Recall(N=4, V=8))
    np.testing.assert_allclose(row["attention"], np.full((2, 2), 1 / 9), rtol=1e-5)
    np.testing.assert_allclose(row["entropy"], np.full((2, 2), np.log(9)), rtol=1e-5)
    np.testing.assert_allclose(row["value_to_key"], np.full((1, 2), 1 / 9), rtol=1e-5)


def test_induction_is_seen_where_it_is_planted() -> None:
    """Head 1 of the first layer looks from each value at its key, head 2 at the value itself."""

    def plant(parameters):
        value = np.arange(1, 8, 2)
        first = jnp.zeros((2, 9, 9)).at[0, value, value - 1].set(1.0).at[1, value, value].set(1.0)
        return parameters | {"first": first}

    np.testing.assert_allclose(_measured(Recall(N=4, V=8), plant)["value_to_key"], [[1.0, 0.0]], atol=1e-6)


def test_block_mass_is_seen_where_it_is_planted() -> None:
    """Of the last layer, head 1 looks at the newest token, head 2 at the oldest that counts."""
    task = MarkovChain(d=4, K=2, L=2, generated=3, train=8, validation=8)
    reads = np.array(task.interface.reads)

    def plant(parameters):
        rows = np.arange(reads.size)
        last = (
            jnp.zeros((2, reads.size, task.interface.length))
            .at[0, rows, reads]
            .set(1.0)
            .at[1, rows, reads - 3]
            .set(1.0)
        )
        return parameters | {"last": last}

    row = _measured(task, plant)
    np.testing.assert_allclose(row["lag_mass"][1], [[1, 0, 0, 0], [0, 0, 0, 1]], atol=1e-6)
    mass = row["block_mass"]
    assert mass.shape == (2, 2, 2)
    np.testing.assert_allclose(mass[1], [[1, 0], [0, 1]], atol=1e-6)
    np.testing.assert_allclose(mass[0], np.full((2, 2), 2 / task.interface.length), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_divergence_vanishes_at_the_truth_it_is_taken_from(n: int) -> None:
    task = MarkovChain(d=6, L=2, beta=2.0, generated=5)
    world = task.world(KEY)
    example = task.sample(jax.random.key(3), world)
    kl = task.scores(world, task.truncated(world, example.inputs, n), example)["kl"]
    assert kl[n - 1] == pytest.approx(0, abs=1e-5)
    assert all(x > 0.01 for i, x in enumerate(kl) if i != n - 1)


def test_divergence_from_the_full_truth_is_the_excess_loss() -> None:
    """In the mean over fresh sequences, for a student who knows nothing; 4 standard errors."""
    task = MarkovChain(d=5, K=2, L=1, generated=6, train=0, validation=4000)
    row = _measured(task)
    bayes = float(task.bayes_loss(jax.random.key(5), task.world(KEY), 4000))
    assert row["kl"][-1] == pytest.approx(row["clean_loss"] - bayes, abs=0.05)


def test_clean_training_data_are_not_scored_twice() -> None:
    clean, repeated = SingleLocation(T=6, d=3), SingleLocation(T=6, d=3, B=2, p=0.5)
    model = Transformer(heads=2, width=16, head_width=8, mlp=0)
    for task, needed in (
        (clean, False),
        (repeated, True),
        (Recall(N=3, V=8), False),
        (Recall(N=3, V=8, B=2), True),
        (Recall(N=3, V=8, placement="at-least-one"), True),
    ):
        run = Run(task, model, evaluation=8)
        sets = evaluation_sets(run, KEY, task.world(KEY), None)
        assert bool(sets.needed[1]) is needed
        row = evaluate(run, model.init(KEY, run.interface), task.world(KEY), sets)
        assert (float(row["clean_loss"]) == float(row["train_loss"])) is not needed


def test_a_fixed_training_set_is_what_train_loss_is_measured_on() -> None:
    """Five sequences for training, evaluated eight at a time: each counts, none is fresh."""
    task = MarkovChain(d=5, K=1, L=1, generated=4, train=5, validation=8)
    run = Run(task, MinimalAttention(heads=1), batch=4)
    _, world_and_data = cohort.begin(cohort.stack([run]))
    seen, known = (
        np.asarray(world_and_data.evaluation.examples.inputs[0, 1]),
        np.asarray(world_and_data.train.inputs[0]),
    )
    np.testing.assert_array_equal(seen, known[np.arange(8) % 5])


@pytest.mark.parametrize("size", [30, 31])
def test_chunks_of_an_evaluation_do_not_matter(size: int) -> None:
    """Long sequences are worked on a few at a time, where their number is prime with a rest; the mean is that of all."""
    task = SingleLocation(T=600, d=3)
    run = Run(task, Transformer(layers=1, heads=1, width=8, head_width=8, mlp=0), evaluation=size)
    world, parameters = task.world(KEY), run.model.init(KEY, run.interface)
    sets = evaluation_sets(run, KEY, world, None)
    row = evaluate(run, parameters, world, sets)
    examples = eqx.filter(jax.tree.map(lambda x: x[0], sets.examples), eqx.is_array)
    outputs = jax.vmap(lambda x: run.model.apply(parameters, x, run.interface).values)(examples.inputs)
    assert float(row["clean_loss"]) == pytest.approx(float(jnp.mean(jax.vmap(task.loss)(outputs, examples))), rel=1e-5)


@pytest.mark.parametrize(("examples", "count"), [(300, 1), (3000, 10), (2000, 8), (9001, 1)])
def test_examples_are_cut_into_equal_parts_that_fit_the_cache(examples: int, count: int) -> None:
    """3 000 sequences of 25 are ten times 300; a prime number of them stays whole."""
    assert parts(examples, Run(MarkovChain(L=2), MinimalAttention())) == count


@pytest.mark.parametrize(("N", "count"), [(12, 1), (16, 1), (32, 2), (64, 4)])
def test_a_batch_that_is_a_little_larger_than_the_cache_is_not_cut(N: int, count: int) -> None:
    """32 sequences of 33 positions are 1 056 rows, of 65 they are 2 080: 1 024 at once are meant, not exact."""
    assert parts(32, Run(Recall(N=N, V=128), Transformer())) == count


LETTERS, SIZE = corpus.add(np.random.default_rng(0).integers(0, 30, 4000))


def test_a_task_with_a_probe_batch_is_read_there() -> None:
    """Head 1 of layer 1 is an induction head, head 2 attends to the previous token; those of layer 2 to themselves."""
    at, back = np.arange(20), 7 - 1

    def plant(parameters):
        first = jnp.zeros((2, 20, 20)).at[0, at[back:], at[back:] - back].set(1.0).at[1, at[1:], at[1:] - 1].set(1.0)
        return parameters | {"first": first, "last": jnp.stack([jnp.eye(20)] * 2)}

    row = _measured(Text(LETTERS, SIZE, T=20, q=0.5, probe_length=7), plant)
    np.testing.assert_allclose(row["attention"], [[1, 0], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(row["previous_token"], [[0, 1], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(row["duplicate_token"], 0, atol=1e-6)
    assert (
        row["clean_loss"] == pytest.approx(np.log(SIZE), rel=1e-5) == pytest.approx(row["second_copy_loss"], rel=1e-5)
    )
    assert row["in_context_score"] == pytest.approx(0, abs=1e-5)
    shifted = _measured(
        Text(LETTERS, SIZE, T=20, q=0.5, probe_length=8), plant
    )  # attention by distance is no induction
    np.testing.assert_allclose(shifted["attention"], 0, atol=1e-6)
