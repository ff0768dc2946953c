"""Markov chains with importance structure: blocks of past tokens matter, each block less than the one before."""

import math
from dataclasses import replace
from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daybreak._check import as_float, as_floats, as_int, check_bool, check_whole, is_plain
from daybreak.errors import refuse
from daybreak.interface import Interface
from daybreak.tasks._draw import below, uniform
from daybreak.tasks._task import Circuit, Example, Guess, Sizes, Task, cross_entropy, fraction_correct

_MOST_LAGS = 1000  # each is traced and compiled on its own
_MOST_TOKENS = 1_000_000


class MarkovWorld(NamedTuple):
    """What stays the same during a run on Markov chains."""

    columns: Float[Array, "K d d"]  # columns[k, s] is the column of the orthogonal matrix Q_{k+1} for state s


@final
class MarkovChain(Task[MarkovWorld]):
    """Predict the next token of a Markov chain whose past matters block by block (paper B, §2.1 and §2.2).

        x_t ~ softmax( Σ_k A_k Σ_{i in block k} α_i x_{t−i} ), A_k = β m^{K−k} Q_k, Q_k Haar-orthogonal

    Blocks are numbered by importance: block 1 is the strongest for m > 1. It holds the newest L lags, or with `reversed`
    the oldest. A sequence is a uniform prefix and then tokens of the chain; only those are predicted. With q above 0 positions of
    the prefix that are before all blocks hold copies of the tokens of one block: the repetition of paper A, for that block.

    Example:
        >>> task = MarkovChain(L=2)
        >>> task.order, task.interface.length, task.interface.reads[0], task.interface.reads[-1]
        (6, 25, 5, 24)
        >>> task.lags
        ((1, 2), (3, 4), (5, 6))
    """

    d: int = eqx.field(static=True, converter=as_int, default=50)  # States of the chain.
    K: int = eqx.field(static=True, converter=as_int, default=3)  # Blocks of lags.
    L: int = eqx.field(static=True, converter=as_int, default=4)  # Lags in a block.
    m: float = eqx.field(converter=as_float, default=1.7)  # Importance ratio of a block and the next.
    beta: float | None = eqx.field(converter=as_float, default=None)  # Strength β of the weakest block; None: 10·L.
    reversed: bool = eqx.field(static=True, default=False)  # Whether the oldest block matters most, not the newest.
    # Weights α of the lags in a block, newest first, that sum to one; None: 1/L each.
    weights: tuple[float, ...] | None = eqx.field(static=True, converter=as_floats, default=None)
    # Lags from one block to the next; blocks overlap if it is below L; None: L.
    stride: int | None = eqx.field(static=True, converter=as_int, default=None)
    # Uniform tokens before the chain begins, at least its order; None: its order.
    prefix: int | None = eqx.field(static=True, converter=as_int, default=None)
    generated: int = eqx.field(static=True, converter=as_int, default=20)  # Tokens of the chain in a sequence.
    # Sequences in the training set; 0 for online training on fresh ones.
    train: int = eqx.field(static=True, converter=as_int, default=9000)
    # Sequences in the validation set; 0 for fresh ones at every evaluation.
    validation: int = eqx.field(static=True, converter=as_int, default=3000)
    # Whether the logits that a token gives by two blocks are orthogonal, as the theory assumes; otherwise only in the mean.
    uncorrelated: bool = eqx.field(static=True, default=False, metadata={"later": True})
    # Probability with which each position before all blocks holds a copy of a token of the block `repeated`.
    q: float = eqx.field(converter=as_float, default=0.0, metadata={"later": True})
    # The block, by importance, whose tokens are copied, as the first generated token sees it.
    repeated: int = eqx.field(static=True, converter=as_int, default=1, metadata={"later": True})

    def __check_init__(self):
        check_whole("d", self.d, 2, "the number of states")
        check_whole("K", self.K, 1, "the number of blocks")
        check_whole("L", self.L, 1, "the length of a block")
        check_whole("train", self.train, 0, "the size of the training set (0: fresh samples)")
        check_whole("validation", self.validation, 0, "the size of the validation set (0: fresh samples)")
        check_whole("generated", self.generated, 1, "the number of generated tokens", _MOST_TOKENS)
        check_bool("reversed", self.reversed)
        check_bool("uncorrelated", self.uncorrelated)
        refuse("d", self.d, self.uncorrelated and self.d % 2 == 0, "uncorrelated matrices need an odd number of states")
        possible = max((self.d - 1) // 2, 1)
        too_many = self.uncorrelated and possible < self.K
        refuse("K", self.K, too_many, f"at most {possible} blocks of {self.d} states can be uncorrelated")
        if is_plain("m", self.m):
            refuse("m", self.m, self.m <= 0, "the importance ratio must be above 0")
        if self.beta is not None and is_plain("beta", self.beta):
            refuse("beta", self.beta, self.beta <= 0, "the strength of the weakest block must be above 0")
        if self.stride is not None:
            check_whole("stride", self.stride, 1, "the step from block to block")
            why = f"lags between two blocks would belong to none, so it must be at most L = {self.L}"
            refuse("stride", self.stride, self.stride > self.L, why)
        why = f"the chain would look back {self.order:,} tokens, and at most {_MOST_LAGS:,} are possible"
        refuse("L", self.L, self.L > _MOST_LAGS, why)
        refuse("K", self.K, self.order > _MOST_LAGS, why)
        if self.prefix is not None:
            check_whole("prefix", self.prefix, 1, "the prefix", _MOST_TOKENS)
            why = f"the next token depends on the last {self.order}, so the prefix must have at least {self.order}"
            refuse("prefix", self.prefix, self.prefix < self.order, why)
        self._check_weights()
        self._check_repetition()

    def _check_repetition(self):
        check_whole("repeated", self.repeated, 1, "the block whose tokens are copied")
        refuse("repeated", self.repeated, self.repeated > self.K, f"the chain has {self.K} blocks")
        if is_plain("q", self.q):
            refuse("q", self.q, not 0 <= self.q <= 1, "it is a probability, so it must lie in [0, 1]")
            nowhere = self.q > 0 and self._prefix == self.order
            why = f"every position of the prefix is in a block, so there must be more than {self.order}: give a longer prefix"
            refuse("q", self.q, nowhere, why)

    def _check_weights(self):
        if self.weights is None:
            return
        bad = not isinstance(self.weights, tuple) or not all(isinstance(x, float) and x >= 0 for x in self.weights)
        refuse("weights", self.weights, bad, "they must be numbers of at least 0")
        why = f"a block has L = {self.L} lags, so there must be {self.L} weights"
        refuse("weights", self.weights, len(self.weights) != self.L, why)
        total = math.fsum(self.weights)
        refuse("weights", self.weights, abs(total - 1) > 1e-6, f"they must sum to one, but sum to {total:g}")

    @property
    def order(self) -> int:
        """How many tokens the chain looks back: w = (K − 1)·stride + L, which is K·L without overlap."""
        return (self.K - 1) * self._stride + self.L

    @property
    def lags(self) -> tuple[tuple[int, ...], ...]:
        """The lags of each block, strongest block first."""
        blocks = tuple(tuple(range(k * self._stride + 1, k * self._stride + self.L + 1)) for k in range(self.K))
        return blocks[::-1] if self.reversed else blocks

    @property
    def relevant_by_block(self) -> Bool[np.ndarray, "K reads length"]:
        """For each block, strongest first, and each read position: the input positions in it."""
        return np.stack([self._by_lag[np.array(lags) - 1].any(axis=0) for lags in self.lags])

    @property
    def _by_lag(self) -> Bool[np.ndarray, "order reads length"]:
        """For each lag, newest first, and each read position: the input position at that lag."""
        back = np.array(self.interface.reads)[:, None] + 1 - np.arange(self.interface.length)[None, :]
        return np.arange(1, self.order + 1)[:, None, None] == back[None]

    @property
    def interface(self) -> Interface:
        """The prefix and all generated tokens but the last; read where the next token is generated."""
        length = self._prefix + self.generated - 1
        return Interface(length=length, tokens=self.d, outputs=self.d, reads=tuple(range(self._prefix - 1, length)))

    @property
    def sizes(self) -> Sizes:
        """The fields `train` and `validation`."""
        return Sizes(self.train, self.validation)

    def world(self, key: PRNGKeyArray) -> MarkovWorld:
        """Draw an orthogonal matrix for each block."""
        if not self.uncorrelated:
            return MarkovWorld(jax.random.orthogonal(key, self.d, (self.K,)))
        return MarkovWorld(_uncorrelated(key, self.d, self.K))

    def sample(self, key: PRNGKeyArray, world: MarkovWorld) -> Example:
        """Draw the prefix, then follow the chain with a rolling window of its latest tokens, newest first."""
        bits = jax.random.bits(key, (self._prefix + self.generated,))
        prefix = self._with_copies(key, below(bits[: self._prefix], self.d))
        strengths = self._strengths(world)

        def step(recent, at):
            token = _draw(at, self._logits(strengths, recent)[-1])
            return jnp.append(token, recent[:-1]), token

        _, chain = jax.lax.scan(step, prefix[::-1][: self.order], uniform(bits[self._prefix :]))
        relevant = jnp.asarray(self.relevant_by_block.any(axis=0))
        return Example(jnp.append(prefix, chain[:-1]), chain, relevant)

    def clean(self) -> "MarkovChain":
        """The same chain without copies."""
        return replace(self, q=0.0)

    @property
    def repetition(self) -> dict[str, float]:
        """Copies of the tokens of a block."""
        return {"q": 0.0}

    def loss(self, outputs: Float[Array, "reads d"], example: Example) -> Float[Array, ""]:
        """Mean cross-entropy of the generated tokens."""
        return cross_entropy(outputs, example.target)

    def accuracy(self, outputs: Float[Array, "reads d"], example: Example) -> Float[Array, ""]:
        """Fraction of generated tokens whose logit is the largest."""
        return fraction_correct(outputs, example.target)

    def scores(
        self, world: MarkovWorld, outputs: Float[Array, "reads d"], example: Example
    ) -> dict[str, Float[Array, "..."]]:
        """`kl`: KL(p^(n) ‖ student) of the truth cut off after n = 1 … K blocks, averaged over the generated tokens."""
        student = jax.nn.log_softmax(outputs, axis=1)
        truths = self._truths(world, example.inputs)[1:]
        return {"kl": jnp.stack([jnp.mean(jnp.sum(jnp.exp(p) * (p - student), axis=1)) for p in truths])}

    def circuits(self) -> dict[str, Circuit]:
        """`block_mass`: attention to each block, strongest first. `lag_mass`: to each lag that counts, newest first."""
        return {
            "block_mass": Circuit(self.interface.reads, self.relevant_by_block),
            "lag_mass": Circuit(self.interface.reads, self._by_lag),
        }

    def guess(self) -> Guess:
        """Uniform over the states, which is also the marginal of a token, averaged over worlds."""
        return Guess("uniform over the states", loss=math.log(self.d), accuracy=1 / self.d)

    def truth(self, world: MarkovWorld, inputs: Int[Array, " length"]) -> Float[Array, "reads d"]:
        """Log-probabilities of each generated token given its past.

        Example:
            >>> task = MarkovChain(d=4, L=1, generated=6)
            >>> world = task.world(jax.random.key(0))
            >>> inputs = task.sample(jax.random.key(1), world).inputs
            >>> jnp.exp(task.truth(world, inputs)).sum(axis=1).round(3).tolist()  # a distribution at each read position
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
        """
        return self.truncated(world, inputs, self.K)

    def truncated(self, world: MarkovWorld, inputs: Int[Array, " length"], n: int) -> Float[Array, "reads d"]:
        """Log-probabilities that take only the n strongest blocks into account (paper B, eq. 3); uniform for n = 0.

        Example:
            >>> task = MarkovChain(d=4, L=1, generated=6)
            >>> world = task.world(jax.random.key(0))
            >>> inputs = task.sample(jax.random.key(1), world).inputs
            >>> jnp.exp(task.truncated(world, inputs, 0))[0].round(3).tolist()  # no block: a guess
            [0.25, 0.25, 0.25, 0.25]
        """
        refuse("n", n, not 0 <= n <= self.K, f"the chain has {self.K} blocks, so n must lie between 0 and {self.K}")
        return self._truths(world, inputs)[n]

    def bayes_loss(self, key: PRNGKeyArray, world: MarkovWorld, samples: int) -> Float[Array, ""]:
        """The lowest loss any model can have: the mean entropy of the truth along `samples` fresh sequences.

        Example:
            >>> task = MarkovChain(d=4, L=1, generated=6)
            >>> world = task.world(jax.random.key(0))
            >>> 0 < float(task.bayes_loss(jax.random.key(1), world, samples=50)) < task.guess().loss
            True
        """

        def entropy(key):
            log_p = self.truth(world, self.sample(key, world).inputs)
            return -jnp.mean(jnp.sum(jnp.exp(log_p) * log_p, axis=1))

        return jnp.mean(jax.lax.map(entropy, jax.random.split(key, samples), batch_size=min(samples, 1000)))

    def _with_copies(self, key: PRNGKeyArray, prefix: Int[Array, " prefix"]) -> Int[Array, " prefix"]:
        """The prefix with copies in some of the positions before all blocks, where there are any."""
        before = self._prefix - self.order
        if not before:
            return prefix
        whether, which = jax.random.bits(jax.random.fold_in(key, 1), (2, before))
        tokens = prefix[self._prefix - np.array(self.lags[self.repeated - 1])]
        copies = tokens[below(which, self.L)]
        return prefix.at[:before].set(jnp.where(uniform(whether) < self.q, copies, prefix[:before]))

    def _strengths(self, world: MarkovWorld) -> Float[Array, "K d d"]:
        """The columns of A_k, ready to be gathered by token."""
        beta = 10.0 * self.L if self.beta is None else self.beta
        return world.columns * (beta * self.m ** jnp.arange(self.K - 1.0, -1.0, -1.0))[:, None, None]

    def _truths(self, world: MarkovWorld, inputs: Int[Array, " length"]) -> list[Float[Array, "reads d"]]:
        """Log-probabilities of each generated token by the 0, 1, … K strongest blocks."""
        strengths = self._strengths(world)
        recent = inputs[np.array(self.interface.reads)[:, None] - np.arange(self.order)[None, :]]
        logits = jax.vmap(lambda tokens: self._logits(strengths, tokens))(recent)
        return [jax.nn.log_softmax(x, axis=1) for x in logits]

    def _logits(self, strengths: Float[Array, "K d d"], recent: Int[Array, " order"]) -> list[Float[Array, " d"]]:
        """Logits of the next token from the latest ones, newest first, by the 0, 1, … K strongest blocks.

        Sums of gathers that the compiler fuses; one gather of all lags and a product would store K·L·d numbers.
        """
        weights = self.weights or (1 / self.L,) * self.L
        logits = [jnp.zeros(self.d)]
        for strength, lags in zip(strengths, self.lags, strict=True):
            block = (weight * strength[recent[lag - 1]] for weight, lag in zip(weights, lags, strict=True))
            logits.append(sum(block, start=logits[-1]))
        return logits

    @property
    def _stride(self) -> int:
        return self.L if self.stride is None else self.stride

    @property
    def _prefix(self) -> int:
        return self.order if self.prefix is None else self.prefix


def _uncorrelated(key: PRNGKeyArray, d: int, K: int) -> Float[Array, "K d d"]:
    """Orthogonal matrices Q_k = Q Pᵏ⁻¹ for which no token says the same by two blocks: its logits by each are orthogonal.

    All leave the constant vector as it is, which changes no probability. P is circulant with the phases 2πj/n, j = 1 … n = (d − 1)/2, and
    their conjugates on the other vectors. Their k-th powers sum to zero for 0 < k < n, so the diagonal of Pᵏ is 1/d, that of the constant
    vector alone.
    """
    n = (d - 1) // 2
    phases = np.exp(2j * np.pi * np.arange(1, n + 1) / n)
    powers = [np.fft.ifft([1, *phases**k, *np.conj(phases[::-1] ** k)]).real for k in range(K)]
    shifts = (np.arange(d)[:, None] - np.arange(d)[None, :]) % d
    circulants = jnp.asarray(np.stack([power[shifts] for power in powers]), jnp.float32)
    axis = np.eye(d)[0] - np.full(
        d, d**-0.5
    )  # the reflection along it swaps the first unit vector and the constant one
    mirror = jnp.asarray(np.eye(d) - 2 * np.outer(axis, axis) / (axis @ axis), jnp.float32)
    inside = jnp.pad(jax.random.orthogonal(key, d - 1), ((1, 0), (1, 0))).at[0, 0].set(1.0)
    return jnp.swapaxes(mirror @ inside @ mirror @ circulants, 1, 2)  # columns in rows


def _draw(at: Float[Array, ""], logits: Float[Array, " d"]) -> Int[Array, ""]:
    """Draw from softmax(logits) by inverting its distribution function: one random number, not one per state.

    The running sum is a product with a triangle of ones, measured on a CPU as three times as fast as `cumsum`.
    """
    unnormalised = jnp.exp(logits - jnp.max(logits))
    upto = jnp.matmul(jnp.tri(logits.size), unnormalised, precision="highest")
    passed = jnp.sum(upto <= at * upto[-1], dtype=jnp.int32)
    return jnp.minimum(passed, logits.size - 1)  # rounding can put at × sum at the sum itself
