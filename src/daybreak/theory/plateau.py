"""Plateau lengths of the flow, thousands at once (paper A, D.1).

Flows are integrated side by side, as lanes of one compiled program, in rounds. Lanes that have crossed the level leave
after each round, so a slow flow does not delay the others. LSODA integrates the rest one by one: a few flows, for which
compiling costs more, and stiff ones, for which the explicit solver is slow.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from numpy.typing import NDArray

from daybreak._types import ArrayLike, Bools, Floats
from daybreak.theory import _lsoda, reduced
from daybreak.theory._setting import Logits, ToySetting, check_level, check_resolved, check_setting
from daybreak.theory.escape import rate

_TOLERANCE = 1e-8
_WIDTH = 1024  # lanes of the compiled program
_ROUND = 64  # solver steps between two checks of which lanes have crossed
_ROUNDS = 64  # a flow that needs more is stiff
_FEW = 8  # flows that LSODA integrates in less time than a program takes to compile


def plateau(
    T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, logits: Logits = "tied", level: ArrayLike = 0.2
):
    """Flow time until the clean loss has fallen to `level` of its start, to a relative 1e-6.

    Broadcasts over arrays in all arguments but `logits`. Every plateau of the flow ends, so none is censored.

    Args:
        T: sequence length.
        d: dimension of tokens and targets.
        B: copies of the relevant token in the context; the test loss has the same B (paper A, D.1).
        p: probability that the relevant token is the repeated one; the test loss has none.
        logits: `tied` (one scalar drives all relevant logits) or `free` (each position has its own).
        level: fraction of the starting loss at which the plateau counts as over.

    Example:
        >>> plateau(T=512, d=64).round()
        np.float64(5319.0)
        >>> plateau(T=[256, 512], d=64, B=[[1], [4]]).shape
        (2, 2)
    """
    setting = check_setting(T, d, B, p, logits)
    check_resolved(setting)
    level = check_level(level)
    shape = np.broadcast_shapes(setting.shape, level.shape)
    flat = ToySetting(*(np.broadcast_to(x, shape).ravel() for x in setting))
    return _lengths(flat, np.broadcast_to(level, shape).ravel()).reshape(shape)[()]


class _Lanes(NamedTuple):
    """Unfinished flows, one per row: setting, scale of time, level, and the time and state reached."""

    setting: ToySetting
    scale: Floats
    level: Floats
    time: Floats
    state: Floats

    def take(self, rows) -> "_Lanes":
        return jax.tree.map(lambda x: x[rows], self)


def _lengths(setting: ToySetting, level: Floats) -> Floats:
    lanes = _Lanes(setting, rate(setting), level, np.zeros(level.size), np.zeros((level.size, 3)))
    waiting = np.arange(level.size)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in range(_ROUNDS):
            if waiting.size <= _FEW:
                break
            batches = [waiting[i : i + _WIDTH] for i in range(0, waiting.size, _WIDTH)]
            still = []
            for batch, (time, state, crossed) in zip(batches, pool.map(partial(_advance, lanes), batches), strict=True):
                lanes.time[batch], lanes.state[batch] = time, state
                still.append(batch[~crossed])
            waiting = np.concatenate(still)
    for i in waiting:
        lane = lanes.take(i)
        lanes.time[i] += _lsoda.crossing(lane.setting, float(lane.scale), lane.state, float(lane.level))
    return lanes.time / lanes.scale


def _advance(lanes: _Lanes, batch: NDArray[np.intp]) -> tuple[Floats, Floats, Bools]:
    """One round for a batch of lanes. A short batch is repeated up to the width, so that one program serves all."""
    with jax.enable_x64():
        time, state, crossed = (np.asarray(x)[: batch.size] for x in _round(lanes.take(np.resize(batch, _WIDTH))))
    return time, state, crossed


@jax.jit
@jax.vmap
def _round(lane: _Lanes) -> tuple[Float[Array, ""], Float[Array, "3"], Bool[Array, ""]]:
    """Integrate one flow until its level or for `_ROUND` steps: time, state, and whether it has crossed.

    Diffrax could find the root itself, but then a flow whose last step of a round was rejected reports that step.
    """

    def excess(t, y, args, **_):
        return reduced.clean_loss(y, lane.setting) - lane.level / 2

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: _field(y, lane)),
        diffrax.Tsit5(),
        t0=lane.time,
        t1=jnp.inf,
        dt0=None,
        y0=lane.state,
        saveat=diffrax.SaveAt(t1=True),
        stepsize_controller=diffrax.PIDController(rtol=_TOLERANCE, atol=_TOLERANCE),
        event=diffrax.Event(excess),
        max_steps=_ROUND,
        throw=False,
    )
    assert solution.ts is not None and solution.ys is not None  # noqa: S101
    time, state = solution.ts[0], solution.ys[0]
    crossed = solution.result == diffrax.RESULTS.event_occurred
    return jnp.where(crossed, _landing(time, state, lane), time), state, crossed


def _field(state: Float[Array, "3"], lane: _Lanes) -> Float[Array, "3"]:
    return reduced.velocity(state, lane.setting) / lane.scale


def _landing(time: Float[Array, ""], state: Float[Array, "3"], lane: _Lanes) -> Float[Array, ""]:
    """Time at which the flow met its level, from the end of the step that crossed it.

    With the loss as the clock the level is a known end (Hénon's trick): dt/dL = 1/L', dy/dL = y'/L'. Eight steps of the
    classical Runge-Kutta method across a part of one adaptive step are far more accurate than that step was.
    """
    step = (lane.level / 2 - reduced.clean_loss(state, lane.setting)) / 8

    def per_loss(at: Float[Array, "4"]) -> Float[Array, "4"]:
        velocity = _field(at[1:], lane)
        slope = jax.grad(reduced.clean_loss)(at[1:], lane.setting)
        return jnp.concatenate([jnp.ones(1), velocity]) / jnp.dot(slope, velocity)

    def classical(_, at: Float[Array, "4"]) -> Float[Array, "4"]:
        first = per_loss(at)
        second = per_loss(at + step / 2 * first)
        third = per_loss(at + step / 2 * second)
        fourth = per_loss(at + step * third)
        return at + step / 6 * (first + 2 * second + 2 * third + fourth)

    return jax.lax.fori_loop(0, 8, classical, jnp.concatenate([time[None], state]))[0]
