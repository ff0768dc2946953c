"""Repetition that changes over time: how long the plateau then lasts, and which schedule makes it shortest.

A schedule is piecewise constant in B and p. The flow is integrated piece by piece together with its sensitivities
∂(state)/∂(value of a piece), so that the plateau comes with its exact gradient: on the surface where the clean loss is at
the level, dτ/dθ = −(∇L · ∂x/∂θ) / (∇L · ẋ). Clean means one copy and no repeated token; with tied logits the one copy has
the logit that all copies shared.

The velocity is affine in p, so the fastest p(t) takes only the largest and smallest value allowed (Pontryagin's
principle): all repetition first, none after. `best_switch` finds the time of the switch. `best_schedule` does not assume a
switch, and finds the same.
"""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize, minimize_scalar

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory import reduced
from daybreak.theory._setting import Logits, ToySetting, as_number, as_numbers, check_level, check_setting, refuse
from daybreak.theory.plateau import plateau

Lever = Literal["p", "B"]
_TOLERANCE = {"method": "LSODA", "rtol": 1e-8, "atol": 1e-10}
_FOREVER = 1e3  # plateaus of the clean flow, after which a schedule counts as never reaching the level


@final
@dataclass(frozen=True)
class ScheduledPlateau:
    """A schedule of repetition, and the plateau of the flow under it.

    Args:
        times: flow times at which one piece ends and the next begins; the last piece does not end.
        values: values of the lever, one for each piece.
        plateau: flow time until the clean loss is at the level; infinite if it never is.
        gradient: derivative of the plateau by each value.
    """

    times: Floats
    values: Floats
    plateau: float
    gradient: Floats


def scheduled_plateau(
    T: float,
    d: float,
    times: ArrayLike,
    values: ArrayLike,
    *,
    lever: Lever = "p",
    logits: Logits = "tied",
    level: float = 0.2,
) -> ScheduledPlateau:
    """The plateau of the toy model under a schedule of p, or of B, with its gradient.

    Args:
        T: sequence length.
        d: dimension.
        times: increasing flow times at which the lever changes.
        values: values of the lever before, between and after them: one more than there are times.
        lever: `p`, the probability of the repeated token, in [0, 1]; or `B`, the copies in the context, in [1, T − 1].
        logits: `tied` or `free`; `B` needs `tied`, because clean data lack the positions of the other copies.
        level: fraction of the starting clean loss that ends the plateau.

    Example:
        >>> alone = scheduled_plateau(64, 64, [], [0.0]).plateau
        >>> round(alone / scheduled_plateau(64, 64, [120.0], [1.0, 0.0]).plateau, 1)
        3.5
    """
    setting, ends, heights, threshold = _checked(T, d, times, values, lever, logits, level)
    state, sensitivity = np.zeros(3), np.zeros((3, heights.size))
    begun = 0.0
    forever = _FOREVER * float(plateau(T, d, logits=logits, level=level))
    for i, end in enumerate([*ends, forever]):
        piece = setting._replace(**{lever: heights[i]})
        met, time, state, sensitivity = _piece(piece, lever, i, begun, end, state, sensitivity, threshold)
        if met:
            slope = reduced.gradient(state, setting)
            speed = slope @ _velocity(state, piece)
            return ScheduledPlateau(ends, heights, time, -(slope @ sensitivity) / speed)
        begun = end
    return ScheduledPlateau(ends, heights, np.inf, np.zeros(heights.size))


def best_switch(
    T: float, d: float, *, high: float = 1.0, lever: Lever = "p", logits: Logits = "tied", level: float = 0.2
) -> ScheduledPlateau:
    """The best time to switch from `high` repetition to none.

    Example:
        >>> best_switch(8, 16).plateau < scheduled_plateau(8, 16, [], [0.0]).plateau
        True
    """
    clean = {"p": 0.0, "B": 1.0}[lever]
    alone = float(plateau(T, d, logits=logits, level=level))

    def length(time: float) -> float:
        return scheduled_plateau(T, d, [time], [high, clean], lever=lever, logits=logits, level=level).plateau

    # A coarse grid first: the length has flat parts, on which a local search would stop.
    times = alone * np.geomspace(0.01, 1, 12)
    lengths = np.array([length(time) for time in times])
    i = int(lengths.argmin())
    bracket = (times[max(i - 1, 0)], times[min(i + 1, times.size - 1)])
    best = minimize_scalar(length, bounds=bracket, method="bounded", options={"xatol": 1e-3 * times[i]})
    return scheduled_plateau(T, d, [float(best.x)], [high, clean], lever=lever, logits=logits, level=level)


def best_schedule(
    T: float,
    d: float,
    *,
    pieces: int = 16,
    most: float = 1.0,
    lever: Lever = "p",
    logits: Logits = "tied",
    level: float = 0.2,
) -> ScheduledPlateau:
    """The best schedule of equally long pieces, by descent along the exact gradient from values halfway.

    Args:
        T: sequence length.
        d: dimension.
        pieces: number of pieces over the plateau of the best single switch; the last does not end.
        most: largest value allowed for the lever.
        lever: `p` or `B`.
        logits: `tied` or `free`.
        level: fraction of the starting clean loss that ends the plateau.

    Example:
        >>> best_schedule(8, 4, pieces=4).values.round(2).tolist()  # all repetition first, none after: one switch
        [1.0, 1.0, 0.0, 0.0]
    """
    if pieces < 2:
        raise RequestError(f"pieces = {pieces} is not allowed: there must be at least 2.")
    least = {"p": 0.0, "B": 1.0}[lever]
    span = best_switch(T, d, high=most, lever=lever, logits=logits, level=level).plateau
    times = span * np.arange(1, pieces) / pieces

    def objective(values: Floats) -> tuple[float, Floats]:
        result = scheduled_plateau(T, d, times, values, lever=lever, logits=logits, level=level)
        return result.plateau / span, result.gradient / span

    start = np.full(pieces, (least + most) / 2)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(least, most)] * pieces)
    return scheduled_plateau(T, d, times, best.x, lever=lever, logits=logits, level=level)


def _checked(T, d, times, values, lever, logits, level) -> tuple[ToySetting, Floats, Floats, float]:
    if lever not in ("p", "B"):
        raise RequestError(f"lever = {lever!r} is unknown: choose 'p' or 'B'.")
    if lever == "B" and logits != "tied":
        raise RequestError(
            f"logits = {logits!r} is not allowed with lever 'B': clean data lack the copies whose logits were learned."
        )
    setting = check_setting(as_number("T", T), as_number("d", d), 1.0, 0.0, logits)
    ends, heights = as_numbers("times", times).reshape(-1), as_numbers("values", values).reshape(-1)
    if heights.size != ends.size + 1:
        raise RequestError(f"{heights.size} values are not allowed: {ends.size} times separate {ends.size + 1} pieces.")
    if np.any(np.diff(ends, prepend=0.0) <= 0):
        raise RequestError("times are not allowed: they must be above zero and increase.")
    low, high = (0.0, 1.0) if lever == "p" else (1.0, float(setting.T) - 1)
    refuse(lever, heights, (heights < low) | (heights > high), f"it must lie between {low:g} and {high:g}")
    return setting, ends, heights, float(check_level(level)) / 2


def _piece(piece: ToySetting, lever: Lever, i: int, begun: float, end: float, state, sensitivity, threshold: float):
    """From `begun` until `end`, or until the clean loss meets the threshold: whether, when, state and sensitivities."""
    shape = sensitivity.shape
    clean = piece._replace(B=np.ones(()), p=np.zeros(()))

    def velocity(_, y):
        x, s = y[:3], y[3:].reshape(shape)
        change = _jacobian(x, piece) @ s
        change[:, i] += _by_lever(x, piece, lever)
        return np.concatenate([_velocity(x, piece), change.ravel()])

    def excess(_, y):
        return reduced.clean_loss(y[:3], clean, np) - threshold

    excess.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    excess.direction = -1  # pyright: ignore[reportFunctionMemberAccess]
    y = np.concatenate([state, sensitivity.ravel()])
    solution = solve_ivp(velocity, (begun, end), y, events=excess, **_TOLERANCE)
    if not solution.success:
        raise ArithmeticError(f"The flow could not be integrated at {piece}: {solution.message}")
    met = solution.t_events[0].size > 0
    time, y = (solution.t_events[0][0], solution.y_events[0][0]) if met else (end, solution.y[:, -1])
    return met, float(time), y[:3], y[3:].reshape(shape)


def _velocity(x: Floats, setting: ToySetting) -> Floats:
    return -reduced.gradient(x, setting) * _mobility(setting)


def _jacobian(x: Floats, setting: ToySetting) -> Floats:
    return -reduced.hessian(x, setting) * _mobility(setting)[:, None]


def _mobility(setting: ToySetting):
    return np.array([1.0, 1.0, setting.mobility])


def _by_lever(x: Floats, setting: ToySetting, lever: Lever) -> Floats:
    """Derivative of the velocity by p, in which it is affine, or by B, by a central difference."""
    middle, step = (0.5, 0.5) if lever == "p" else (float(setting.B), 1e-5)
    high, low = (_velocity(x, setting._replace(**{lever: np.asarray(middle + side * step)})) for side in (1, -1))
    return (high - low) / (2 * step)
