"""What every task promises, checked on several settings of each."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tyro

from daybreak.tasks import TASKS, MarkovChain, Recall, SingleLocation

SETTINGS = {
    "location": SingleLocation(T=6, d=3, B=2, p=0.25),
    "location-fixed": SingleLocation(T=6, d=3, B=3, p=0.25, position="fixed"),
    "location-fixed-plain": SingleLocation(T=6, d=3, position="fixed", feature=False),
    "location-smallest": SingleLocation(T=2, d=1),
    "recall": Recall(N=4, V=9, B=2, p=0.25),
    "recall-bernoulli": Recall(N=4, V=9, B=2, placement="bernoulli"),
    "recall-exactly": Recall(N=4, V=9, B=2, p=0.5, placement="exactly"),
    "recall-tight": Recall(N=4, V=4, B=1.5),
    "recall-full": Recall(N=4, V=5, B=4, placement="bernoulli"),
    "recall-smallest": Recall(N=1, V=2),
    "markov": MarkovChain(d=5, K=2, L=2, generated=4, train=16, validation=8),
    "markov-online": MarkovChain(d=5, K=2, L=2, beta=5, weights=(0.7, 0.3), generated=4, train=0, validation=0),
    "markov-overlap": MarkovChain(d=5, L=4, stride=2, reversed=True, prefix=11, generated=3),
    "markov-smallest": MarkovChain(d=2, K=1, L=1, generated=1),
}
VARIED = {"B": (1.0, 2.0), "p": (0.0, 0.5), "m": (1.0, 1.5), "beta": (5.0, 10.0)}


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS.keys())
def task(request):
    return request.param


def sample(task, key, world):
    return task.sample(key, world)


def same(a, b, exact=True):
    """Whether two pytrees hold the same numbers."""
    compare = np.array_equal if exact else lambda x, y: np.allclose(x, y, rtol=1e-5, atol=1e-6)
    return all(jax.tree.leaves(jax.tree.map(compare, a, b)))


def perfect(task, example):
    """What a model would say that knows the answer."""
    if task.features:
        return example.target[None, :]
    return 100 * jax.nn.one_hot(example.target, task.outputs)


def ignorant(task, example):
    """What the guesser of `guess` says."""
    if isinstance(task, Recall):
        return jnp.full((1, task.V), -100.0).at[0, example.inputs[np.array(task.value_positions)]].set(0.0)
    return jnp.zeros((len(task.reads), task.outputs))


def test_shapes_and_dtypes(task):
    example = task.sample(jax.random.key(1), task.world(jax.random.key(0)))
    assert (task.features is None) != (task.tokens is None)
    if task.features:
        assert example.inputs.shape == (task.length, task.features)
        assert example.inputs.dtype == example.target.dtype == jnp.float32
        assert example.target.shape == (task.outputs,)
    else:
        assert example.inputs.shape == (task.length,)
        assert example.inputs.dtype == example.target.dtype == jnp.int32
        assert example.target.shape == (len(task.reads),)
        for tokens in (example.inputs, example.target):
            assert 0 <= tokens.min() and tokens.max() < task.tokens == task.outputs
    assert example.relevant.shape == (len(task.reads), task.length)
    assert example.relevant.dtype == bool
    assert list(task.reads) == sorted(task.reads) and 0 <= task.reads[0] and task.reads[-1] == task.length - 1


def test_equal_keys_give_equal_examples_and_others_do_not(task):
    world = task.world(jax.random.key(0))
    assert same(world, task.world(jax.random.key(0)))
    once, again = (jax.jit(sample)(task, jax.random.key(1), world) for _ in range(2))
    assert same(once, again)
    others = jax.vmap(lambda key: task.sample(key, world))(jax.random.split(jax.random.key(2), 16))
    assert not all(same(once.inputs, other) for other in others.inputs)


def test_batches_equal_single_calls(task):
    worlds = jax.vmap(task.world)(jax.random.split(jax.random.key(0), 3))
    keys = jax.random.split(jax.random.key(1), 3)
    batch = jax.jit(jax.vmap(sample, (None, 0, 0)))(task, keys, worlds)
    for i in range(3):
        world, example = jax.tree.map(lambda x, i=i: x[i], (worlds, batch))
        assert same(world, task.world(jax.random.split(jax.random.key(0), 3)[i]), exact=False)
        assert same(example, task.sample(keys[i], world), exact=False)


def test_a_cohort_over_the_scalars_is_one_program(task):
    """Stacked tasks differ in their leaves only; the program is traced once, also for other values."""
    leaves = [f.name for f in dataclasses.fields(task) if not f.metadata.get("static")]
    values = {name: (VARIED[name] if task.length > 3 else (VARIED[name][0],) * 2) for name in leaves}
    members = [
        dataclasses.replace(task, **dict(zip(values, pair, strict=True))) for pair in zip(*values.values(), strict=True)
    ]
    cohort = jax.tree.map(lambda *x: jnp.stack(x), *members)
    assert len(jax.tree.leaves(cohort)) == len(leaves)
    traces = 0

    @jax.jit
    @jax.vmap
    def program(task, key):
        nonlocal traces
        traces += 1
        world_key, key = jax.random.split(key)
        world = task.world(world_key)
        example, clean = task.sample(key, world), task.clean().sample(key, world)
        outputs = ignorant(task, example)
        return example, clean, task.loss(outputs, example), task.accuracy(outputs, example)

    keys = jax.random.split(jax.random.key(3), 2)
    together = program(cohort, keys)
    program(jax.tree.map(lambda x: x[::-1], cohort), keys)
    assert traces == 1
    for i, member in enumerate(members):
        world_key, key = jax.random.split(keys[i])
        world = member.world(world_key)
        mine = jax.tree.map(lambda x, i=i: x[i], together)
        assert same(mine[0], member.sample(key, world), exact=False)
        assert same(mine[1], member.clean().sample(key, world), exact=False)


def test_clean_has_no_repetition_and_shares_the_worlds(task, draw):
    clean = task.clean()
    assert clean.clean() == clean
    assert same(clean.world(jax.random.key(0)), task.world(jax.random.key(0)))
    assert (clean.length, clean.outputs, clean.reads) == (task.length, task.outputs, task.reads)
    if isinstance(task, MarkovChain):
        assert clean == task
    else:
        assert (clean.B, clean.p) == (1, 0)
        _, examples = draw(clean, 500)
        assert (examples.relevant.sum(axis=(1, 2)) == 1).all()


def test_the_answer_follows_from_the_relevant_positions(task, draw):
    world, examples = draw(task, 200)
    if isinstance(task, MarkovChain):
        other = (examples.inputs[:, None, :] + ~examples.relevant) % task.d  # each read sees the irrelevant changed
        truth = jax.vmap(lambda x: task.truth(world, x))(examples.inputs)
        changed = jax.vmap(jax.vmap(lambda x: task.truth(world, x)))(other)
        reads = np.arange(len(task.reads))
        np.testing.assert_allclose(changed[:, reads, reads], truth, atol=1e-5)
        return
    present = examples.relevant.any(axis=(1, 2))
    assert present.all() or task.placement == "bernoulli"
    for i in np.flatnonzero(present)[:50]:
        example = jax.tree.map(lambda x, i=i: jnp.asarray(x[i]), examples)
        if isinstance(task, SingleLocation):
            token = jnp.sum(example.inputs[:, : task.d] * example.relevant.T, axis=0) / jnp.sum(example.relevant)
            np.testing.assert_allclose(world.W @ token, example.target, atol=1e-5)
        else:
            assert (example.inputs[example.relevant[0]] == example.target).all()


def test_a_perfect_answer_is_best(task, draw):
    _, examples = draw(task, 200)
    right = jax.vmap(lambda x: task.loss(perfect(task, x), x))(examples)
    guessed = jax.vmap(lambda x: task.loss(ignorant(task, x), x))(examples)
    np.testing.assert_allclose(right, 0, atol=1e-6)
    assert (right <= guessed + 1e-6).all()
    accuracy = jax.vmap(lambda x: task.accuracy(perfect(task, x), x))(examples)
    assert accuracy is None if task.features else (accuracy == 1).all()


def test_guess_is_what_a_guesser_scores(task, draw):
    """Mean over 4 000 worlds, within five standard errors."""
    clean, guess = task.clean(), task.guess()
    _, examples = draw(clean, 4000, worlds=True)
    scores = jax.vmap(lambda x: (clean.loss(ignorant(clean, x), x), clean.accuracy(ignorant(clean, x), x)))(examples)
    for expected, score in zip((guess.loss, guess.accuracy), scores, strict=True):
        if expected is None:
            assert score is None
        else:
            assert abs(np.mean(score) - expected) <= 5 * np.std(score) / np.sqrt(4000) + 1e-5


def test_datasets_are_fixed_samples_or_none(task):
    key, world = jax.random.key(5), task.world(jax.random.key(0))
    for part in ("train", "validation"):
        size = getattr(task.sizes, part)
        data = task.dataset(key, world, part)
        if not size:
            assert data is None
            continue
        assert data.inputs.shape == (size, task.length)
        last = jax.tree.map(lambda x: x[-1], data)
        assert same(last, task.sample(jax.random.split(key, size)[-1], world))


def test_fields_pass_through_json(task):
    text = json.dumps(dataclasses.asdict(task))
    assert type(task)(**json.loads(text)) == task
    assert json.dumps(dataclasses.asdict(type(task)(**json.loads(text)))) == text


def test_the_command_line_builds_it(task):
    args = []
    for name, value in dataclasses.asdict(task).items():
        match value:
            case bool():
                args += [f"--{name}" if value else f"--no-{name}"]
            case tuple():
                args += [f"--{name}", *map(str, value)]
            case _:
                args += [f"--{name}", str(value)]
    assert tyro.cli(type(task), args=args) == task


def test_tasks_are_frozen(task):
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.d = 3


def test_the_registry_names_every_task():
    assert set(TASKS) == {"single-location", "recall", "markov"}
    assert {type(task) for task in SETTINGS.values()} == set(TASKS.values())
    for made in TASKS.values():
        assert made() == tyro.cli(made, args=[])
