"""What every task must do, checked on several settings of each."""

import dataclasses
import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tyro

from daybreak.tasks import TASKS, MarkovChain, Recall, SingleLocation, Text, check, corpus

TEXT, LETTERS = corpus.add(np.random.default_rng(0).choice(9, 2000, p=np.arange(1, 10) / 45))
SETTINGS = {
    "location": SingleLocation(T=6, d=3, B=2, p=0.25),
    "location-fixed": SingleLocation(T=6, d=3, B=3, p=0.25, position="fixed", feature=False),
    "location-smallest": SingleLocation(T=2, d=1),
    "location-unit": SingleLocation(T=4, d=2, unit_columns=True),
    "recall": Recall(N=4, V=9, B=2, p=0.25),
    "recall-bernoulli": Recall(N=4, V=5, B=2, placement="bernoulli"),
    "recall-exactly": Recall(N=4, V=9, B=2, p=0.5, placement="exactly"),
    "recall-tight": Recall(N=4, V=4, B=1.5),
    "recall-smallest": Recall(N=1, V=2, placement="exactly"),
    "markov": MarkovChain(d=5, K=2, L=2, beta=5, weights=(0.7, 0.3), generated=4, train=16, validation=8),
    "markov-overlap": MarkovChain(d=5, L=4, stride=2, reversed=True, prefix=11, generated=3, train=1, validation=0),
    "markov-copies": MarkovChain(
        d=5, K=2, L=2, beta=5, prefix=7, generated=3, q=0.5, repeated=2, train=0, validation=8
    ),
    "markov-smallest": MarkovChain(d=2, K=1, L=1, generated=1, train=0, validation=0),
    "text": Text(TEXT, LETTERS, T=12, q=0.5, p=0.25),
    "text-copies": Text(TEXT, LETTERS, T=12, q=1.0, passage=3, copies=4, distance=3, probe_length=4, early=2, late=7),
    "text-smallest": Text(TEXT, LETTERS, T=4, set_size=1),
}
VARIED = {"B": (1.0, 2.0), "p": (0.0, 0.5), "q": (0.0, 0.5), "m": (1.0, 1.5), "beta": (5.0, 10.0)}


@pytest.fixture(params=SETTINGS.values(), ids=list(SETTINGS))
def task(request):
    return request.param


N = 3000
jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # compiling is most of the time here


def same(a, b, exact=True):
    """Whether two pytrees hold the same numbers."""
    compare = np.array_equal if exact else lambda x, y: np.allclose(x, y, rtol=1e-5, atol=1e-6)
    return all(jax.tree.leaves(jax.tree.map(compare, a, b)))


def example_keys():
    """The keys with which `draw` draws its N examples."""
    return jax.random.split(jax.random.split(jax.random.key(0))[1], N)


def perfect(task, example):
    """Outputs of a model that has the answer."""
    if task.interface.features:
        return example.target[None, :]
    return 100 * jax.nn.one_hot(example.target, task.interface.outputs)


def ignorant(task, example):
    """Outputs of the guess that `guess` scores."""
    if isinstance(task, Recall):
        return jnp.full((1, task.V), -100.0).at[0, example.inputs[np.array(task.value_positions)]].set(0.0)
    if isinstance(task, Text):
        return jnp.broadcast_to(jnp.log(task.frequencies()).astype(float), (task.T, task.vocabulary))
    return jnp.zeros((len(task.interface.reads), task.interface.outputs))


@partial(jit, static_argnums=2)
def scores(task, examples, answer):
    """Loss and accuracy of an answer to each example."""
    return jax.vmap(lambda x: (task.loss(answer(task, x), x), task.accuracy(answer(task, x), x)))(examples)


def test_shapes_and_dtypes(task, draw):
    check(task)
    _, examples = draw(task, N)
    if not task.interface.features:
        for tokens in (examples.inputs, examples.target):
            assert set(np.unique(tokens)) == set(range(task.interface.tokens))
        assert task.interface.outputs == task.interface.tokens
    assert task.interface.reads[-1] == task.interface.length - 1


def test_equal_keys_give_equal_examples_and_others_do_not(task, draw):
    once, again, other = (draw(task, N, seed)[1] for seed in (0, 0, 1))
    assert same(once, again)
    assert not same(once.inputs, other.inputs)
    assert (once.inputs != once.inputs[:1]).any()


def test_a_cohort_is_one_program(task, draw):
    """Stacked tasks differ in their leaves only: traced once, also for other values, and equal to one at a time."""
    leaves = [f.name for f in dataclasses.fields(task) if f.name in VARIED and getattr(task, f.name) is not None]
    full = isinstance(task, MarkovChain) and task.interface.reads[0] + 1 == task.order  # no position for copies
    fixed = {name for name in leaves if task.interface.length <= 3 or (name == "q" and full)}
    values = {name: (VARIED[name][0],) * 2 if name in fixed else VARIED[name] for name in leaves}
    members = [
        dataclasses.replace(task, **dict(zip(values, pair, strict=True))) for pair in zip(*values.values(), strict=True)
    ]
    cohort = jax.tree.map(lambda *x: jnp.stack(x), *members)
    assert len(jax.tree.leaves(cohort)) == len(leaves)
    traces = 0

    @jit
    @jax.vmap
    def program(task, world, key):
        nonlocal traces
        traces += 1
        return task.sample(key, world)

    worlds, _ = draw(task, N)
    worlds, keys = jax.tree.map(lambda x: x[:2], (worlds, example_keys()))
    together = program(cohort, worlds, keys)
    program(jax.tree.map(lambda x: x[::-1], cohort), worlds, keys[::-1])
    assert traces == 1
    for i, member in enumerate(members):
        _, alone = draw(member, N)
        assert same(*jax.tree.map(lambda x, i=i: x[i], (together, alone)), exact=False)


@pytest.mark.parametrize("name", ["location", "location-fixed", "recall", "markov", "text"])
def test_a_batch_equals_single_calls(name, draw):
    task = SETTINGS[name]
    worlds, examples = draw(task, N)
    single = jit(task.sample)
    for i in range(3):
        world, example = jax.tree.map(lambda x, i=i: x[i], (worlds, examples))
        assert same(single(example_keys()[i], world), example, exact=False)


def test_clean_has_no_repetition_and_shares_the_worlds(task, draw):
    clean = task.clean()
    assert clean.clean() == clean
    assert (clean.interface.length, clean.interface.outputs, clean.interface.reads) == (
        task.interface.length,
        task.interface.outputs,
        task.interface.reads,
    )
    (worlds, _), (clean_worlds, examples) = draw(task, N), draw(clean, N)
    assert same(worlds, clean_worlds)
    if isinstance(task, MarkovChain):
        assert clean == dataclasses.replace(task, q=0.0)
    elif isinstance(task, Text):
        assert (clean.q, clean.p, clean.held_out) == (0, 0, True)
        assert not examples.relevant.any()
    else:
        assert (clean.B, clean.p) == (1, 0)
        assert (examples.relevant.sum(axis=(1, 2)) == 1).all()


def test_the_answer_follows_from_the_relevant_positions(task, draw):
    worlds, (inputs, target, relevant) = draw(task, N)
    if isinstance(task, SingleLocation):
        tokens = np.einsum("ntd,nt->nd", inputs[:, :, : task.d], relevant[:, 0]) / relevant.sum(axis=2)
        np.testing.assert_allclose(np.einsum("nij,nj->ni", worlds.W, tokens), target, atol=1e-5)
    elif isinstance(task, Recall):
        present = relevant.any(axis=(1, 2))
        assert present.all() or task.placement == "bernoulli"
        assert (np.where(relevant[:, 0], inputs, target) == target).all()
    elif isinstance(task, Text):
        assert relevant.any() == (task.q > 0)
        assert (np.where(relevant, inputs[:, None, :], target[:, :, None]) == target[:, :, None]).all()
    else:
        truth = jit(jax.vmap(jax.vmap(task.truth, (None, 0))))
        other = (inputs[:, None, :] + ~relevant) % task.d  # what each read may not look at is changed for it
        same_for_all = np.broadcast_to(inputs[:, None, :], other.shape)
        reads = np.arange(len(task.interface.reads))
        expected, changed = (truth(worlds, x)[:, reads, reads] for x in (same_for_all, other))
        np.testing.assert_allclose(changed, expected, atol=1e-5)


def test_a_perfect_answer_is_best(task, draw):
    _, examples = draw(task, N)
    right, accuracy = scores(task, examples, perfect)
    guessed, _ = scores(task, examples, ignorant)
    np.testing.assert_allclose(right, 0, atol=1e-6)
    assert (right <= guessed + 1e-6).all()
    assert accuracy is None if task.interface.features else (accuracy == 1).all()


def test_guess_is_what_a_guesser_scores(task, draw):
    """Mean over as many worlds as examples, within five standard errors (6e-7)."""
    clean, guess = task.clean(), task.guess()
    _, examples = draw(clean, N)
    for expected, score in zip(guess[1:], scores(clean, examples, ignorant), strict=True):
        if expected is None:
            assert score is None
        else:
            assert abs(np.mean(score) - expected) <= 5 * np.std(score) / np.sqrt(N) + 1e-5


def test_datasets_are_fixed_samples_or_none(task):
    key = jax.random.key(5)

    @partial(jit, static_argnums=0)
    def made(part):
        world = task.world(key)
        first = task.sample(jax.random.split(key, getattr(task.sizes, part))[0], world)
        return task.dataset(key, world, part), first

    for part, size in task.sizes._asdict().items():
        if not size:
            assert task.dataset(key, None, part) is None
            continue
        data, first = made(part)
        assert data.inputs.shape == (size, task.interface.length)
        assert same(jax.tree.map(lambda x: x[0], data), first)


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
    assert set(TASKS) == {"single-location", "recall", "markov", "text"}
    assert {type(task) for task in SETTINGS.values()} == set(TASKS.values())
    for made in TASKS.values():
        assert made() == tyro.cli(made, args=[])
