"""In-context associative recall: pairs of key and value, then a query whose value is in the context."""

import math
from dataclasses import replace
from typing import Literal, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from daybreak._check import as_float, as_int, check_choice, check_p, check_whole, is_plain
from daybreak.errors import refuse
from daybreak.interface import Interface
from daybreak.tasks._draw import below, permutation, uniform
from daybreak.tasks._task import Circuit, Example, Guess, Task, cross_entropy, fraction_correct

Placement = Literal["one-plus", "exactly", "at-least-one", "bernoulli"]


class RecallWorld(NamedTuple):
    """What stays the same during a run of associative recall."""

    repeated: Int[Array, " 2"]  # the queries of cross-sample repetition


@final
class Recall(Task[RecallWorld]):
    """Find the value that follows the query's key in the context (paper A, §3.1 and C.1).

    Keys are at positions 0, 2, …, each before its value; the query is last. A random permutation of the tokens, new
    for every sequence, maps keys to values. Other keys than the query are drawn without replacement.

    The setting `placement` decides which of the N slots hold the query's pair:
    - one-plus: one random slot, and each other slot with probability (B − 1)/(N − 1): B on average, exactly one at B = 1.
    - exactly: B random slots.
    - at-least-one: each slot with probability B/N, given that one does: B / (1 − (1 − B/N)^N) on average, 1.6 at B = 1, large N.
    - bernoulli: each slot with probability B/N, as in the paper's text. In (1 − B/N)^N of the sequences no slot does: they cannot
    be answered, and no position is relevant in them.

    Example:
        >>> task = Recall(N=4, V=16)
        >>> example = task.sample(jax.random.key(1), task.world(jax.random.key(0)))
        >>> bool(example.inputs[example.relevant[0]][0] == example.target[0])
        True
    """

    N: int = eqx.field(static=True, converter=as_int, default=32)  # Pairs in the context.
    V: int = eqx.field(static=True, converter=as_int, default=256)  # Different tokens, keys and values alike.
    B: float = eqx.field(converter=as_float, default=1.0)  # Occurrences of the query's pair; see `placement`.
    p: float = eqx.field(converter=as_float, default=0.0)  # Probability that the query is one of two repeated tokens.
    # How often the query's pair occurs: once and more by chance, exactly B times, binomial but never zero, or binomial.
    placement: Placement = eqx.field(static=True, default="one-plus")

    def __check_init__(self):
        check_whole("N", self.N, 1, "the number of pairs")
        check_whole("V", self.V, 2, "the number of tokens")
        check_choice("placement", self.placement, Placement)
        why = f"the keys of a sequence all differ, so V must be at least {self._distinct} at N = {self.N}"
        refuse("V", self.V, self._distinct > self.V, why)
        if is_plain("B", self.B):
            refuse("B", self.B, self.B <= 0, "the occurrences of the query must be above 0")
            refuse("B", self.B, self.B > self.N, f"the query can occur at most N = {self.N} times")
            alone = self.placement == "one-plus" and self.B < 1
            refuse("B", self.B, alone, "with placement = 'one-plus' the query occurs at least once")
            whole = self.placement != "exactly" or self.B % 1 == 0
            refuse("B", self.B, not whole, "with placement = 'exactly' it must be a whole number")
        check_p(self.p)

    @property
    def _distinct(self) -> int:
        """How many different keys a sequence can have, the query's included."""
        return self.N + 1 if self.placement == "bernoulli" else self.N

    @property
    def key_positions(self) -> tuple[int, ...]:
        """Positions of the keys, slot by slot; the first layer of an induction head attends here from the values."""
        return tuple(range(0, 2 * self.N, 2))

    @property
    def value_positions(self) -> tuple[int, ...]:
        """Positions of the values, slot by slot; those in `Example.relevant` are what the query attends to."""
        return tuple(range(1, 2 * self.N, 2))

    @property
    def interface(self) -> Interface:
        """N pairs and the query, at which the answer is read."""
        return Interface(length=2 * self.N + 1, tokens=self.V, outputs=self.V, reads=(2 * self.N,))

    def world(self, key: PRNGKeyArray) -> RecallWorld:
        """Draw the two repeated tokens."""
        return RecallWorld(distinct(jax.random.bits(key, (2,)), self.V))

    def sample(self, key: PRNGKeyArray, world: RecallWorld) -> Example:
        """Draw a query, the slots that hold it, the other keys, and the values of all keys.

        A random permutation of V tokens is only looked up at the keys that occur, so it is drawn only there.
        """
        bits = jax.random.bits(key, (2 * self._distinct + 2 + self.N + 1,))
        tokens, query, slots = jnp.split(bits, (2 * self._distinct, 2 * self._distinct + 2))
        keys, values = jax.vmap(lambda bits: distinct(bits, self.V))(tokens.reshape(2, -1))
        keys = self._repeat_query(uniform(query), keys, world)
        placed = self._placed(slots)
        chosen = jnp.where(placed, 0, jnp.cumsum(~placed))  # which of the keys each slot holds; the first is the query
        pairs = jnp.stack([keys[chosen], values[chosen]], axis=1)
        relevant = jnp.zeros(self.interface.length, bool).at[np.array(self.value_positions)].set(placed)
        return Example(jnp.append(pairs.reshape(-1), keys[0]), values[:1], relevant[None, :])

    def _repeat_query(
        self, uniform: Float[Array, " 2"], keys: Int[Array, " keys"], world: RecallWorld
    ) -> Int[Array, " keys"]:
        """With probability p, swap the first key, which is the query, with one of the repeated tokens."""
        repeat, which = uniform
        query = jnp.where(repeat < self.p, world.repeated[jnp.where(which < 0.5, 0, 1)], keys[0])
        return jnp.where(keys == query, keys[0], keys).at[0].set(query)

    def _placed(self, bits: UInt32[Array, " draws"]) -> Bool[Array, " N"]:
        """Which slots hold the query's pair."""
        match self.placement:
            case "one-plus":
                others = uniform(bits[:-1]) < (self.B - 1) / max(self.N - 1, 1)
                return others | (jnp.arange(self.N) == below(bits[-1:], self.N))
            case "exactly":
                return permutation(bits[:-1]) < self.B
            case "bernoulli":
                return uniform(bits[:-1]) < self.B / self.N
            case "at-least-one":
                return at_least_one(uniform(bits), self.B / self.N)

    def clean(self) -> "Recall":
        """The query's pair occurs exactly once, and no query is more frequent than another."""
        return replace(self, B=1.0, p=0.0, placement="one-plus" if self.placement == "one-plus" else "exactly")

    def loss(self, outputs: Float[Array, "1 V"], example: Example) -> Float[Array, ""]:
        """Cross-entropy of the query's value."""
        return cross_entropy(outputs, example.target)

    def accuracy(self, outputs: Float[Array, "1 V"], example: Example) -> Float[Array, ""]:
        """1 if the query's value has the largest logit, else 0."""
        return fraction_correct(outputs, example.target)

    def circuits(self) -> dict[str, Circuit]:
        """The first half of induction: each value attends to its key. The second is attention to the relevant positions."""
        own_key = np.zeros((self.N, self.interface.length), bool)
        own_key[np.arange(self.N), np.array(self.key_positions)] = True
        return {"value_to_key": Circuit(self.value_positions, own_key)}

    def guess(self) -> Guess:
        """One of the N values of the context at random; no worse than one of the V ≥ N tokens."""
        return Guess("one of the values in the context", loss=math.log(self.N), accuracy=1 / self.N)


def distinct(bits: UInt32[Array, " count"], size: int) -> Int[Array, " count"]:
    """The first entries of a random permutation of range(size), by `count` steps of the Fisher–Yates shuffle."""
    places = jnp.arange(bits.size)
    picks = places + below(bits, size - places)

    def step(pool, at):
        i, pick = at
        return pool.at[pick].set(pool[i]), pool[pick]

    return jax.lax.scan(step, jnp.arange(size), (places, picks))[1]


def at_least_one(uniform: Float[Array, " draws"], rate: Float[Array, ""] | float) -> Bool[Array, " slots"]:
    """Independent events of probability `rate`, given that one of them happens.

    The first to happen has a geometric distribution cut off at `count`, drawn by inversion; later ones are independent.
    """
    count = uniform.size - 1
    log_miss = jnp.log1p(-jnp.asarray(rate))  # −∞ at rate 1, where the first slot is the one
    beyond = uniform[count] * jnp.expm1(count * log_miss)
    first = jnp.minimum(jnp.floor(jnp.log1p(beyond) / log_miss), count - 1)
    slots = jnp.arange(count)
    return (slots == first) | ((slots > first) & (uniform[:count] < rate))
