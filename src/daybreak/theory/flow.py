"""Gradient flow of the reduced loss: the vector field by autodiff, integrated by Diffrax in scaled time.

Time is scaled by the growth rate of the start, so that a plateau lasts about ten units for all T, d, B and p. All
computations are float64, inside `jax.enable_x64()`, and return NumPy arrays: the caller's JAX settings do not change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory import _lsoda, reduced
from daybreak.theory._setting import Logits, ToySetting, check_resolved, check_setting, check_times
from daybreak.theory.escape import rate
from daybreak.theory.plateau import plateau

_MAX_STEPS = 2**14  # a flow that needs more is stiff, and goes to LSODA


@final
@dataclass(frozen=True)
class Trajectory:
    """A flow line of the toy model, over times `t`.

    Args:
        setting: its T, d, B, p and kind of logits.
        t: flow time; one unit is a gradient step of size one.
        w_tilde: weight of the repeated direction (w̃ of paper A, eq. 17).
        w_rest: weight of all other directions together (w of eq. 17).
        delta_a: logit of the relevant positions minus that of the others.
    """

    setting: ToySetting
    t: Floats
    w_tilde: Floats
    w_rest: Floats
    delta_a: Floats

    @property
    def w(self) -> Floats:
        """Projection ⟨W*, W⟩/‖W*‖ of the weights on their target (w of paper A, eqs. 3 and 12)."""
        d = self.setting.d
        return (self.w_tilde + np.sqrt(d - 1) * self.w_rest) / np.sqrt(d)

    @property
    def alpha(self) -> Floats:
        """Attention on each relevant position."""
        return reduced.attention(self.delta_a, self.setting)

    @property
    def state(self) -> Floats:
        """(w̃, w, Δa) of paper A, eq. 17, on the first axis."""
        return np.stack([self.w_tilde, self.w_rest, self.delta_a])

    @property
    def loss(self) -> Floats:
        """Expected loss on the training distribution."""
        return reduced.loss_three(self.state, self.setting, np)

    @property
    def clean_loss(self) -> Floats:
        """Expected loss without cross-sample repetition."""
        return reduced.clean_loss(self.state, self.setting, np)


def flow(
    T: ArrayLike,
    d: ArrayLike,
    B: ArrayLike = 1,
    p: ArrayLike = 0.0,
    *,
    logits: Logits = "tied",
    times: ArrayLike | None = None,
) -> Trajectory:
    """Integrate the gradient flow of the reduced loss from uniform attention.

    Args:
        T: sequence length.
        d: dimension of tokens and targets.
        B: copies of the relevant token in the context.
        p: probability that the relevant token is the repeated one.
        logits: `tied` or `free`.
        times: increasing flow times to report; by default 400 of them up to twice the plateau.

    Example:
        >>> line = flow(T=64, d=16)
        >>> round(float(line.loss[0]), 3), round(float(line.loss[-1]), 3)
        (0.5, 0.0)
    """
    setting = check_setting(T, d, B, p, logits)
    check_resolved(setting)
    if setting.shape:
        raise RequestError("flow integrates one setting at a time: give single numbers for T, d, B and p.")
    times = check_times(np.linspace(0, 2 * plateau(T, d, B, p, logits=logits), 400) if times is None else times)
    return Trajectory(setting, times, *integrate(reduced.loss_three, setting, np.zeros(3), times).T)


def integrate(loss: Callable, setting: ToySetting, start: Floats, times: Floats) -> Floats:
    """States of the gradient flow of a reduced loss at the given times, one row each."""
    scale = rate(setting)
    with jax.enable_x64():
        states, done = _integrate(loss, setting, jnp.asarray(scale), jnp.asarray(start), jnp.asarray(times))
        if done:
            return np.asarray(states)
    return _lsoda.states(loss, setting, float(scale), start, times)


@partial(jax.jit, static_argnames="loss")
def _integrate(
    loss: Callable,
    setting: ToySetting,
    scale: Float[Array, ""],
    start: Float[Array, "3"],
    times: Float[Array, " points"],
) -> tuple[Float[Array, "points 3"], Bool[Array, ""]]:
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda _, state, setting: reduced.velocity(state, setting, loss) / scale),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1] * scale,
        dt0=None,
        y0=start,
        args=setting,
        saveat=diffrax.SaveAt(ts=times * scale),
        stepsize_controller=diffrax.PIDController(rtol=1e-9, atol=1e-9),
        max_steps=_MAX_STEPS,
        throw=False,
    )
    assert solution.ys is not None  # noqa: S101
    return solution.ys, solution.result == diffrax.RESULTS.successful
