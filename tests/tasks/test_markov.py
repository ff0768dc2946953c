"""The chain follows the law it states, and states the law of the paper. Every test is at significance 1e-4."""

from dataclasses import replace
from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax

from daybreak.tasks import MarkovChain, MarkovWorld

LEVEL = 1e-4
N = 20_000
jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # compiling is most of the time here
CHAINS = {
    "reversed": MarkovChain(d=3, K=2, L=2, beta=3, reversed=True, weights=(0.7, 0.3), generated=3),
    "overlap": MarkovChain(d=3, K=2, L=3, beta=3, stride=1, weights=(0.5, 0.3, 0.2), generated=3),
    "long-prefix": MarkovChain(d=3, K=2, L=1, m=1.2, prefix=4, generated=3),
}


@pytest.fixture(params=CHAINS.values(), ids=list(CHAINS))
def task(request):
    return request.param


def by_hand(task, world, inputs, n):
    """The formula of paper B with one-hot vectors and dense matrices: log p of each generated token."""
    one_hot = np.eye(task.d)[inputs]
    weights = task.weights or [1 / task.L] * task.L
    beta = task.beta or 10 * task.L
    stride = task.stride or task.L
    rows = []
    for t in range(task.interface.reads[0] + 1, task.interface.length + 1):  # the token at t is predicted
        logits = np.zeros(task.d)
        for k in range(1, n + 1):
            A = beta * task.m ** (task.K - k) * world.columns[k - 1].T
            span = task.K - k if task.reversed else k - 1
            logits += A @ sum(weights[i] * one_hot[t - (span * stride + i + 1)] for i in range(task.L))
        rows.append(log_softmax(logits))
    return np.array(rows)


def test_truths_are_the_formula(task, draw):
    world, examples = draw(task, N, one_world=True)
    inputs = examples.inputs[:20]

    @jit
    @jax.vmap
    def truths(x):
        return [task.truncated(world, x, n) for n in range(task.K + 1)], task.truth(world, x)

    truncated, full = truths(inputs)
    for n, rows in enumerate(truncated):
        np.testing.assert_allclose(rows, [by_hand(task, world, x, n) for x in inputs], atol=2e-5)
        np.testing.assert_allclose(np.exp(rows).sum(axis=2), 1, rtol=1e-5)
    np.testing.assert_array_equal(full, truncated[-1])


def test_transitions_have_the_probabilities_of_the_truth(task, draw):
    """Chi-square of every context and next token, at the first and at the last generated token."""
    world, examples = draw(task, N, one_world=True)
    tokens = np.concatenate([examples.inputs, examples.target[:, -1:]], axis=1)
    contexts = np.array(list(product(range(task.d), repeat=task.order)))
    padded = np.pad(contexts, ((0, 0), (task.interface.length - task.order, 0)))
    p = np.exp(jit(jax.vmap(lambda x: task.truth(world, x)))(padded))[:, -1]  # given the last tokens of the input
    for at in (task.interface.reads[0] + 1, task.interface.length):
        code = tokens[:, at - task.order : at + 1] @ task.d ** np.arange(task.order, -1, -1)
        counts = np.bincount(code, minlength=p.size).reshape(p.shape)
        expected = p * counts.sum(axis=1, keepdims=True)
        enough = expected > 5
        rest = (counts - expected)[~enough].sum() / np.sqrt(max(expected[~enough].sum(), 1))
        chi2 = ((counts - expected)[enough] ** 2 / expected[enough]).sum()
        # A context whose cells are all large loses one degree of freedom.
        assert chi2 < stats.chi2.isf(LEVEL, enough.sum() - enough.all(axis=1).sum())
        assert abs(rest) < stats.norm.isf(LEVEL / 2) + 1


def test_the_published_chain_agrees_with_its_truth(draw):
    """Scores of the martingale 1[x = s] − p(s), one per state, at d = 50 and 20 generated tokens."""
    task = MarkovChain()
    world, examples = draw(task, 2000, one_world=True)
    p = np.exp(jit(jax.vmap(lambda x: task.truth(world, x)))(examples.inputs)).astype(float)
    hits = examples.target[:, :, None] == np.arange(50)
    z = (hits - p).sum(axis=(0, 1)) / np.sqrt((p * (1 - p)).sum(axis=(0, 1)))
    assert np.abs(z).max() < stats.norm.isf(LEVEL / 2 / 50)
    log_loss = -np.log(p[hits])
    entropy = -(p * np.log(np.maximum(p, 1e-30))).sum(axis=2).ravel()
    difference = log_loss - entropy  # of mean zero, if the tokens follow p
    assert abs(difference.mean()) < stats.norm.isf(LEVEL / 2) * difference.std() / np.sqrt(difference.size)


def test_the_prefix_is_uniform(task, draw):
    _, examples = draw(task, N, one_world=True)
    prefix = task.interface.reads[0] + 1
    code = examples.inputs[:, :prefix] @ task.d ** np.arange(prefix)
    assert stats.chisquare(np.bincount(code, minlength=task.d**prefix)).pvalue > LEVEL


def test_matrices_are_haar_orthogonal_and_independent(draw):
    """For d = 3 each entry is uniform on [−1, 1]; determinants are ±1; traces of products have mean square one."""
    worlds, _ = draw(MarkovChain(d=3, K=2, L=1, generated=1), 10_000)
    Q = worlds.columns.astype(float)
    np.testing.assert_allclose(Q @ Q.swapaxes(2, 3), np.broadcast_to(np.eye(3), Q.shape), atol=1e-5)
    for k, i, j in product(range(2), range(3), range(3)):
        assert stats.kstest(Q[:, k, i, j], "uniform", (-1, 2)).pvalue > LEVEL / 18
    assert stats.binomtest(int((np.linalg.det(Q) > 0).sum()), 20_000).pvalue > LEVEL
    for squares in (np.trace(Q[:, 0], axis1=1, axis2=2) ** 2, (Q[:, 0] * Q[:, 1]).sum(axis=(1, 2)) ** 2):
        assert abs(squares.mean() - 1) < stats.norm.isf(LEVEL / 2) * squares.std() / 100


@pytest.mark.parametrize(("d", "K"), [(3, 1), (9, 2), (15, 4)])
def test_uncorrelated_matrices_say_nothing_in_common(d, K):
    """Orthogonal matrices; what two of them give for one token is orthogonal where probabilities see it; no two worlds are equal."""
    task = MarkovChain(d=d, K=K, L=1, generated=1, uncorrelated=True)
    Q, other = (np.asarray(task.world(jax.random.key(k)).columns, float) for k in (0, 1))
    np.testing.assert_allclose(Q @ Q.swapaxes(1, 2), np.broadcast_to(np.eye(d), Q.shape), atol=1e-5)
    seen = Q - Q.mean(axis=2, keepdims=True)  # a constant changes no probability
    inner = np.einsum("ksi,lsi->kls", seen, seen)
    np.testing.assert_allclose(inner, np.broadcast_to((1 - 1 / d) * np.eye(K)[:, :, None], inner.shape), atol=1e-5)
    np.testing.assert_allclose(seen.mean(axis=1), 0, atol=1e-6)
    assert np.abs(Q - other).max() > 0.1


def test_copies_are_of_the_repeated_block_and_as_many_as_stated(draw):
    """Binomial test of each position; positions in a block, and the chain, are as without copies."""
    clean = MarkovChain(d=50, K=2, L=2, prefix=9, generated=1)
    _, (without, target, _) = draw(clean, N, one_world=True)
    for block, lags in enumerate(clean.lags, 1):
        _, (inputs, answer, _) = draw(replace(clean, q=0.3, repeated=block), N, one_world=True)
        np.testing.assert_array_equal(inputs[:, 5:], without[:, 5:])
        np.testing.assert_array_equal(answer, target)
        sources = inputs[:, 9 - np.array(lags)]
        for at in range(5):
            same = (inputs[:, [at]] == sources).any(axis=1) & (sources[:, 0] != sources[:, 1])
            rate = 0.3 + 0.7 * 2 / 50  # copied, or equal by chance
            apart = int((sources[:, 0] != sources[:, 1]).sum())
            assert stats.binomtest(int(same.sum()), apart, rate).pvalue > LEVEL / 10
            each = [int((same & (inputs[:, at] == sources[:, i])).sum()) for i in (0, 1)]
            assert stats.binomtest(each[0], sum(each)).pvalue > LEVEL / 10
            changed = (inputs[:, at] != without[:, at]).mean()
            assert abs(changed - 0.3 * 49 / 50) < 0.02


def test_without_copies_nothing_is_drawn_otherwise(draw):
    """What older runs were trained on: a chain with a longer prefix draws the same tokens, whatever block would be copied."""
    task = CHAINS["long-prefix"]
    _, examples = draw(task, 100, one_world=True)
    _, other = draw(replace(task, repeated=2), 100, one_world=True)
    np.testing.assert_array_equal(examples.inputs, other.inputs)
    assert task.clean() == task
    assert task.repetition == {"q": 0.0}


def test_bayes_loss_is_the_loss_of_the_truth(draw):
    task = CHAINS["overlap"]
    world, examples = draw(task, N, one_world=True)
    losses = jit(jax.vmap(lambda x: task.loss(task.truth(world, x.inputs), x)))(examples)
    bayes = jit(lambda key: task.bayes_loss(key, world, N))(jax.random.key(7))
    assert abs(losses.mean() - bayes) < 5 * losses.std() / np.sqrt(N)
    assert bayes < np.log(task.d)


def test_beta_defaults_to_ten_times_the_block_length(draw):
    world, inputs = MarkovWorld(jnp.stack([jnp.eye(3)] * 2)), jnp.array([0, 1, 2, 0])
    for L in (1, 2):
        task = MarkovChain(d=3, K=2, L=L, prefix=4, generated=1)
        given = replace(task, beta=10.0 * L)
        np.testing.assert_array_equal(task.truth(world, inputs), given.truth(world, inputs))


def test_blocks_of_the_published_chain():
    task = MarkovChain()
    assert (task.order, task.interface.length) == (12, 31)
    assert task.interface.reads == tuple(range(11, 31))
    blocks = task.relevant_by_block
    assert blocks.shape == (3, 20, 31) and (blocks.sum(axis=2) == 4).all() and (blocks.sum(axis=0) <= 1).all()
    np.testing.assert_array_equal(np.flatnonzero(blocks[0, 0]), [8, 9, 10, 11])
    np.testing.assert_array_equal(np.flatnonzero(blocks[2, -1]), [19, 20, 21, 22])


def test_reversed_and_overlapping_blocks():
    assert MarkovChain(L=2, reversed=True).lags == ((5, 6), (3, 4), (1, 2))
    assert MarkovChain(L=4, stride=2).lags == ((1, 2, 3, 4), (3, 4, 5, 6), (5, 6, 7, 8))


def test_relevant_is_the_union_of_the_blocks(task, draw):
    _, examples = draw(task, N, one_world=True)
    np.testing.assert_array_equal(examples.relevant[0], task.relevant_by_block.any(axis=0))
    assert (examples.relevant.sum(axis=2) == task.order).all()


def test_truth_runs_in_a_batch_of_chains():
    """The scalars m and β may be tracers for the truth too."""
    tasks = [MarkovChain(d=3, K=2, L=1, m=m, beta=5, generated=2) for m in (1.0, 2.0)]
    cohort = jax.tree.map(lambda *x: jnp.stack(x), *tasks)
    world, inputs = tasks[0].world(jax.random.key(0)), jnp.array([0, 1, 2])
    together = jit(jax.vmap(lambda task: task.truth(world, inputs)))(cohort)
    for row, task in zip(together, tasks, strict=True):
        np.testing.assert_allclose(row, task.truth(world, inputs), atol=1e-5)
