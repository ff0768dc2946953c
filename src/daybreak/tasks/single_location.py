"""Single-location linear regression: one token of the sequence matters, and the answer is linear in it."""

from dataclasses import replace
from typing import Literal, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daybreak._check import as_float, as_int, check_bool, check_choice, check_p, check_whole, is_plain
from daybreak.errors import refuse
from daybreak.interface import Interface
from daybreak.tasks._task import Example, Guess, Task


class SingleLocationWorld(NamedTuple):
    """What stays the same during a run of single-location regression."""

    W: Float[Array, "d d"]  # target weights W*, entries N(0, 1/d), or columns of norm one
    repeated: Float[Array, " d"]  # the token x̃ of cross-sample repetition, of norm one
    ranks: Int[Array, " T"] | None  # the relevant positions are those of rank below B; None if drawn for each sequence


@final
class SingleLocation(Task[SingleLocationWorld]):
    """Regress y* = W* x on the one token x of the sequence that matters (paper A, §2.1 and B.1).

    All tokens are N(0, I/d). The relevant one is at B positions (in-context repetition), and with probability p it
    is a fixed token (cross-sample repetition). The model is read at the last position.

    Example:
        >>> task = SingleLocation(T=8, d=4)
        >>> world = task.world(jax.random.key(0))
        >>> task.sample(jax.random.key(1), world).inputs.shape
        (8, 5)
    """

    T: int = eqx.field(static=True, converter=as_int, default=256)  # Sequence length, at least 2.
    d: int = eqx.field(static=True, converter=as_int, default=64)  # Dimension of tokens and targets.
    B: float = eqx.field(converter=as_float, default=1.0)  # Copies of the relevant token, a whole number below T.
    p: float = eqx.field(converter=as_float, default=0.0)  # Probability that the relevant token is the repeated one.
    # Whether the relevant positions are drawn for each sequence or once per run.
    position: Literal["random", "fixed"] = eqx.field(static=True, default="random")
    # Whether an extra input feature is 1 on relevant tokens and 0 elsewhere.
    feature: bool = eqx.field(static=True, default=True)
    # Whether the columns of W* have norm one, as in the theory; then the plateau lies at ½ for every seed.
    unit_columns: bool = eqx.field(static=True, default=False, metadata={"later": True})

    def __check_init__(self):
        check_whole("T", self.T, 2, "the sequence length")
        check_whole("d", self.d, 1, "the dimension")
        if is_plain("B", self.B):
            refuse("B", self.B, self.B < 1 or self.B % 1 != 0, "the copies must be a whole number of at least 1")
            why = f"the relevant token may fill all places but one, so B must be at most T − 1 = {self.T - 1}"
            refuse("B", self.B, self.B > self.T - 1, why)
        check_p(self.p)
        check_choice("position", self.position, Literal["random", "fixed"])
        check_bool("feature", self.feature)
        check_bool("unit_columns", self.unit_columns)
        why = "nothing would mark the token that matters when position = 'random', so keep the feature or fix the position"
        refuse("feature", self.feature, self.position == "random" and not self.feature, why)

    @property
    def interface(self) -> Interface:
        """Vectors of d entries, and one more if relevance is a feature; read at the last position."""
        return Interface(length=self.T, features=self.d + self.feature, outputs=self.d, reads=(self.T - 1,))

    def world(self, key: PRNGKeyArray) -> SingleLocationWorld:
        """Draw the target weights, the repeated token and, if fixed, the relevant positions.

        Positions are ranked at random, so those of a smaller B are among those of a larger one: a model trained with
        repetition has seen the position of the clean data.
        """
        W_key, token_key, position_key = jax.random.split(key, 3)
        W = jax.random.normal(W_key, (self.d, self.d))
        W = W / (jnp.linalg.norm(W, axis=0, keepdims=True) if self.unit_columns else jnp.sqrt(self.d))
        direction = jax.random.normal(token_key, (self.d,))
        ranks = jax.random.permutation(position_key, self.T) if self.position == "fixed" else None
        return SingleLocationWorld(W, direction / jnp.linalg.norm(direction), ranks)

    def sample(self, key: PRNGKeyArray, world: SingleLocationWorld) -> Example:
        """Draw T tokens, put the relevant one at its B positions, and apply W* to it."""
        # One draw for everything: tokens, and for each of them its rank in a random order, and whether to repeat.
        normal = jax.random.normal(key, ((self.T + 1) * (self.d + 1),)).reshape(self.T + 1, -1)
        tokens, other = normal[:, :-1] / jnp.sqrt(self.d), normal[:, -1]
        token = jnp.where(jax.scipy.special.ndtr(other[-1]) < self.p, world.repeated, tokens[-1])
        ranks = jnp.argsort(other[:-1]) if world.ranks is None else world.ranks
        relevant = ranks < self.B
        inputs = jnp.where(relevant[:, None], token[None, :], tokens[:-1])
        if self.feature:
            inputs = jnp.concatenate([inputs, relevant[:, None].astype(inputs.dtype)], axis=1)
        # In full precision: the reduced precision that some devices use would be noise in the target.
        target = jnp.matmul(world.W, token, precision="highest")
        return Example(inputs, target, relevant[None, :])

    def clean(self) -> "SingleLocation":
        """One relevant position, never the repeated token."""
        return replace(self, B=1.0, p=0.0)

    def loss(self, outputs: Float[Array, "1 d"], example: Example) -> Float[Array, ""]:
        """½‖y − y*‖² (paper A, eq. 9)."""
        return jnp.sum((outputs[0] - example.target) ** 2) / 2

    def accuracy(self, outputs: Float[Array, "1 d"], example: Example) -> None:
        """None: answers are vectors."""
        return

    def guess(self) -> Guess:
        """½ for y = 0: tokens have expected squared norm one, and so have targets, averaged over W*."""
        return Guess("y = 0", loss=0.5, accuracy=None)
