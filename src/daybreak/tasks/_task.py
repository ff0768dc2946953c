"""What every task is: a distribution of examples with known relevant positions, and how answers to them are scored.

A task is a frozen dataclass and a pytree at once. Fields that decide shapes are static; the scalars a cohort may vary
are leaves, so that one compiled program trains tasks that differ in them:

    cohort = jax.tree.map(lambda *leaves: jnp.stack(leaves), *tasks)
    examples = jax.vmap(lambda task, key, world: task.sample(key, world))(cohort, keys, worlds)
"""

from abc import abstractmethod
from dataclasses import fields
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daybreak.interface import Interface

World = TypeVar("World")
Part = Literal["train", "validation"]


class Example(NamedTuple):
    """One sequence and its answer; with leading batch axes, many."""

    inputs: Float[Array, "*batch length features"] | Int[Array, "*batch length"]  # vectors, or tokens
    target: Float[Array, "*batch d"] | Int[Array, "*batch reads"]  # a vector, or one token per read position
    relevant: Bool[Array, "*batch reads length"]  # which input positions matter for each read position


class Guess(NamedTuple):
    """Score on clean data, averaged over worlds, of a guess that has learned nothing."""

    name: str
    loss: float
    accuracy: float | None  # None where a task has no accuracy


class Sizes(NamedTuple):
    """Sequences in the fixed sets of a task; 0 where there is none and fresh ones are drawn."""

    train: int
    validation: int


class Circuit(NamedTuple):
    """Attention that solving a task needs besides that from the read positions: which rows attend to which positions."""

    rows: tuple[int, ...]
    targets: Bool[np.ndarray, "*kinds rows length"]  # the positions that count for each row, of one kind or several


class Task(eqx.Module, Generic[World]):
    """A distribution of examples. Subclasses are final; models see the `interface` only.

    Example:
        >>> from daybreak.tasks import Recall
        >>> task = Recall(N=4, V=16, p=0.5)
        >>> world = task.world(jax.random.key(0))  # what a run keeps: here the two repeated queries
        >>> example = task.sample(jax.random.key(1), world)  # one sequence; `vmap` for many
        >>> example.inputs.shape, example.target.shape, example.relevant.shape
        ((9,), (1,), (1, 9))
        >>> task.clean() == Recall(N=4, V=16)  # what it is tested on
        True
        >>> knows = 20 * jax.nn.one_hot(example.target, 16)  # outputs of a network that has learned it
        >>> round(float(task.loss(knows, example)), 3), float(task.accuracy(knows, example))
        (0.0, 1.0)
        >>> task.guess().name, task.guess().accuracy
        ('one of the values in the context', 0.25)
        >>> list(task.circuits())  # attention that is probed besides that to the relevant positions
        ['value_to_key']
    """

    ATTENTION: ClassVar[str] = "attention to relevant positions"

    @property
    @abstractmethod
    def interface(self) -> Interface:
        """What a model needs from this task: sizes of inputs and outputs, and the read positions."""

    @property
    def repetition(self) -> dict[str, float]:
        """The fields that repeat something, each with its value for no repetition; by default B = 1 and p = 0, if there are both."""
        names = {field.name for field in fields(self)}
        return {"B": 1.0, "p": 0.0} if {"B", "p"} <= names else {}

    @property
    def attention_name(self) -> str:
        """What attention to the relevant positions is called in pictures of this task."""
        return self.ATTENTION

    def check_trainable(self) -> None:
        """Refuse a task that is only for tests, by a `RequestError`; by default there is none.

        Example:
            >>> from daybreak.tasks import Recall, Text
            >>> Recall().check_trainable()
            >>> Text().clean().check_trainable()
            Traceback (most recent call last):
            daybreak.errors.RequestError: ...
        """

    @property
    def sizes(self) -> Sizes:
        """How many sequences the fixed training and validation sets have; by default there are none."""
        return Sizes(train=0, validation=0)

    @abstractmethod
    def world(self, key: PRNGKeyArray) -> World:
        """Draw what stays the same during a run, as a pytree; None for nothing. It must not depend on the scalar fields."""

    @abstractmethod
    def sample(self, key: PRNGKeyArray, world: World) -> Example:
        """Draw one example, with its relevant positions; the caller batches with `vmap`."""

    @abstractmethod
    def clean(self) -> "Task[World]":
        """The same task without repetition, in the same worlds: what test data are drawn from."""

    @abstractmethod
    def loss(self, outputs: Float[Array, "reads outputs"], example: Example) -> Float[Array, ""]:
        """Loss of a model's outputs at the read positions of one example: one number."""

    @abstractmethod
    def accuracy(self, outputs: Float[Array, "reads outputs"], example: Example) -> Float[Array, ""] | None:
        """Fraction of read positions answered correctly; None where answers are vectors (None passes through `jit`)."""

    @abstractmethod
    def guess(self) -> Guess:
        """The best score on clean data without having learned the task."""

    def scores(
        self, world: World, outputs: Float[Array, "reads outputs"], example: Example
    ) -> dict[str, Float[Array, "..."]]:
        """Other measurements of the outputs for one example, by name; by default none.

        Example:
            >>> from daybreak.tasks import MarkovChain
            >>> task = MarkovChain(d=4, L=1, generated=6)
            >>> world = task.world(jax.random.key(0))
            >>> example = task.sample(jax.random.key(1), world)
            >>> knows = task.truth(world, example.inputs)
            >>> round(float(task.scores(world, knows, example)["kl"][-1]), 5)  # distance from the truth of all blocks
            0.0
        """
        return {}

    def circuits(self) -> dict[str, Circuit]:
        """Attention to probe besides that to the relevant positions, by name; by default none."""
        return {}

    def probe(self, key: PRNGKeyArray, world: World) -> Example | None:
        """Draw an example on which attention is read; None, by default, where it is read on the clean examples.

        Example:
            >>> from daybreak.tasks import Recall, Text
            >>> key, task = jax.random.key(0), Text(T=16, probe_length=8)
            >>> tokens = task.probe(key, task.world(key)).inputs  # random tokens that repeat
            >>> bool((tokens[:8] == tokens[8:]).all()), Recall().probe(key, None)
            (True, None)
        """
        return None

    def probe_scores(self, outputs: Float[Array, "reads outputs"], example: Example) -> dict[str, Float[Array, "..."]]:
        """Measurements of the outputs for one example that `probe` gave, by name; by default none.

        Example:
            >>> from daybreak.tasks import Text
            >>> key, task = jax.random.key(0), Text(T=16)
            >>> example = task.probe(key, task.world(key))
            >>> sorted(task.probe_scores(jnp.zeros((16, 1000)), example))
            ['second_copy_loss']
        """
        return {}

    def dataset(self, key: PRNGKeyArray, world: World, part: Part = "train") -> Example | None:
        """A fixed set of examples, batched along a leading axis; None where the task draws fresh ones.

        Example:
            >>> from daybreak.tasks import MarkovChain, Recall
            >>> key, chain = jax.random.key(0), MarkovChain(d=4, L=1, generated=6, train=10)
            >>> chain.dataset(key, chain.world(key)).inputs.shape
            (10, 8)
            >>> Recall().dataset(key, None) is None  # fresh sequences at every step
            True
        """
        size = getattr(self.sizes, part)
        return jax.vmap(self.sample, (0, None))(jax.random.split(key, size), world) if size else None


def cross_entropy(logits: Float[Array, "reads tokens"], target: Int[Array, " reads"]) -> Float[Array, ""]:
    """Mean over the read positions of −log softmax(logits) at the target.

    Example:
        >>> round(float(cross_entropy(jnp.zeros((3, 16)), jnp.array([0, 5, 9]))), 3)  # of a guess among 16 tokens, ln 16
        2.773
    """
    chosen = jnp.take_along_axis(logits, target[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - chosen)


def fraction_correct(logits: Float[Array, "reads tokens"], target: Int[Array, " reads"]) -> Float[Array, ""]:
    """Fraction of read positions whose largest logit is the target's.

    Example:
        >>> float(fraction_correct(jnp.array([[0.1, 0.9], [0.8, 0.2]]), jnp.array([1, 1])))
        0.5
    """
    return jnp.mean(jnp.argmax(logits, axis=1) == target)
