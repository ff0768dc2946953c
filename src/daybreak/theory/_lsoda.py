"""SciPy's LSODA, one flow at a time: for few flows, and for stiff ones.

Stiff are those with p close to 1 or a level close to 0, where the repeated direction relaxes many orders of magnitude
faster than the others; LSODA then switches to an implicit method by itself.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from scipy.integrate import solve_ivp

from daybreak._types import Floats
from daybreak.theory import reduced
from daybreak.theory._setting import ToySetting

_LSODA = {"method": "LSODA", "rtol": 1e-10, "atol": 1e-12}


def crossing(setting: ToySetting, scale: float, start: Floats, level: float) -> float:
    """Scaled time from `start` until the clean loss has fallen to `level` of its first value, one half."""
    plain: Any = setting._make(map(float, setting))
    clean = plain._replace(p=0.0)

    def excess(_, state):
        return reduced.loss_three(state.tolist(), clean, math) - level / 2

    def velocity(_, state):
        tilde, w, a = reduced.components(state.tolist(), plain, math)
        return -tilde / scale, -w / scale, -a * plain.mobility / scale

    excess.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    span = 64.0
    while True:
        solution = solve_ivp(velocity, (0, span), start, events=excess, **_LSODA)
        if solution.t_events[0].size:
            return float(solution.t_events[0][0])
        if not solution.success:
            raise ArithmeticError(f"The flow could not be integrated at {setting}: {solution.message}")
        span *= 64


def states(loss: Callable, setting: ToySetting, scale: float, start: Floats, times: Floats) -> Floats:
    """States of the flow of a reduced loss from `start` at the given times."""
    scaled = times * scale
    velocity = _velocity(loss, setting, scale)
    solution = solve_ivp(velocity, (0, scaled[-1]), start, t_eval=scaled, **_LSODA)
    if not solution.success:
        raise ArithmeticError(f"The flow could not be integrated at {setting}: {solution.message}")
    return solution.y.T


def _velocity(loss: Callable, setting: ToySetting, scale: float):
    def velocity(_, state):
        with jax.enable_x64():
            return np.asarray(_compiled(loss, state, setting)) / scale

    return velocity


@partial(jax.jit, static_argnames="loss")
def _compiled(loss: Callable, state, setting: ToySetting):
    return reduced.velocity(state, setting, loss)
