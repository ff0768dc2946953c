"""Optimizers: SGD, Adam, AdamW, with gradient clipping and warm-up."""

import math
from typing import Literal, final

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from daybreak._check import as_int, check_whole
from daybreak.errors import RequestError

Name = Literal["sgd", "adam", "adamw"]


@final
class Optimizer(eqx.Module):
    """An Optax optimizer whose learning rate may differ between the members of a cohort.

    Example:
        >>> sgd = Optimizer("sgd", learning_rate=0.5)
        >>> state = sgd.init({"w": 1.0})
        >>> parameters, state = sgd.step({"w": 0.2}, state, {"w": 1.0})
        >>> parameters
        {'w': 0.9}
    """

    name: Name = eqx.field(static=True, default="adam")  # The algorithm.
    learning_rate: float = 1e-4  # Constant during the run, after `warmup`.
    momentum: float = eqx.field(static=True, default=0.0)  # Of SGD.
    weight_decay: float = eqx.field(static=True, default=0.01)  # Of AdamW.
    clip: float = eqx.field(static=True, default=0.0)  # Largest norm of the gradient; 0 for no limit.
    # Steps in which the learning rate grows linearly from zero to its value.
    warmup: int = eqx.field(static=True, converter=as_int, default=0, metadata={"later": True})

    def __check_init__(self):
        if self.name not in ("sgd", "adam", "adamw"):
            raise RequestError(f"optimizer name = {self.name!r} is unknown: choose 'sgd', 'adam' or 'adamw'.")
        plain = {"momentum": self.momentum, "weight_decay": self.weight_decay, "clip": self.clip}
        if isinstance(self.learning_rate, int | float):
            plain["learning_rate"] = self.learning_rate
        for field, value in plain.items():
            if not (math.isfinite(value) and value >= 0):
                raise RequestError(f"{field} = {value} is not allowed: it must be a finite number of at least 0.")

        check_whole("warmup", self.warmup, 0, "the steps of growing learning rate")

    def init(self, parameters: PyTree) -> PyTree:
        """State before the first step."""
        return self._direction().init(parameters)

    def step(self, gradient: PyTree, state: PyTree, parameters: PyTree) -> tuple[PyTree, PyTree]:
        """Parameters and state after one step."""
        direction, state = self._direction().update(gradient, state, parameters)
        return jax.tree.map(lambda x, u: x - self.learning_rate * u, parameters, direction), state

    def _direction(self) -> optax.GradientTransformation:
        """The step before it is scaled by the learning rate, which may be traced."""
        parts = [optax.clip_by_global_norm(self.clip)] if self.clip else []
        match self.name:
            case "sgd":
                parts += [optax.trace(self.momentum) if self.momentum else optax.identity()]
            case "adam":
                parts += [optax.scale_by_adam()]
            case "adamw":
                parts += [optax.scale_by_adam(), optax.add_decayed_weights(self.weight_decay)]
        if self.warmup:
            parts += [optax.scale_by_schedule(lambda step: jnp.minimum((step + 1) / self.warmup, 1.0))]
        return optax.chain(*parts)
