"""The toy model itself: gradient flow of all T logits and d² weights on the expected loss (paper A, A.2).

Nothing is reduced here: tests compare `flow` and `plateau` with it. The relevant token is at the last B positions, and
the repeated token is the first unit vector.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from jaxtyping import Array, Bool, Float

from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import check_level, check_setting
from daybreak.theory.escape import rate
from daybreak.theory.plateau import plateau


class Parameters(NamedTuple):
    """The parameters of the toy model."""

    a: Float[Array, " T"]
    W: Float[Array, "d d"]


class Problem(NamedTuple):
    """The target and the distribution of the data.

    Args:
        target: W*.
        relevant: which positions hold the relevant token.
        variance: of each coordinate of the relevant token in training.
        clean_variance: of the same without cross-sample repetition.
        noise: of each coordinate of all other tokens.
    """

    target: Float[Array, "d d"]
    relevant: Bool[Array, " T"]
    variance: Float[Array, " d"]
    clean_variance: Float[Array, " d"]
    noise: Float[Array, ""]


@final
@dataclass(frozen=True)
class FullTrajectory:
    """A flow line of the full model over times `t`: losses, projection w on the target, attention on each position."""

    t: Floats
    loss: Floats
    clean_loss: Floats
    w: Floats
    attention: Floats


def expected_loss(parameters: Parameters, problem: Problem) -> Float[Array, ""]:
    """½ E‖y − y*‖² for any logits, weights and target (paper A, A.2, last line before eq. 7)."""
    alpha = jax.nn.softmax(parameters.a)
    noise = jnp.sum(jnp.where(problem.relevant, 0.0, alpha**2)) * problem.noise * jnp.sum(parameters.W**2)
    error = jnp.sum(jnp.where(problem.relevant, alpha, 0.0)) * parameters.W - problem.target
    return 0.5 * (noise + jnp.sum(jnp.sum(error**2, axis=0) * problem.variance))


def full_plateau(
    T: float, d: float, B: float = 1, p: float = 0.0, *, level: float = 0.2, target: Floats | None = None
) -> float:
    """Flow time until the clean loss of the full model has fallen to `level` of its start.

    Args:
        T: sequence length.
        d: dimension of tokens and targets.
        B: copies of the relevant token.
        p: probability that the relevant token is the repeated one.
        level: fraction of the starting clean loss.
        target: W*, d × d; by default columns of unit length in random directions.

    Example:
        >>> from daybreak import theory
        >>> round(full_plateau(T=8, d=4) / float(theory.plateau(T=8, d=4, logits="free")), 6)  # the reduced flow is exact
        1.0
    """
    level = float(check_level(level))
    start, problem, scale = _pose(T, d, B, p, target)
    with jax.enable_x64():
        scaled, crossed = _until_level(start, problem, scale, level)
    if not crossed:
        raise ArithmeticError(f"The full flow did not reach its level at T = {T}, d = {d}, B = {B}, p = {p}.")
    return float(scaled) / scale


def full_flow(
    T: float,
    d: float,
    B: float = 1,
    p: float = 0.0,
    *,
    times: Floats | None = None,
    target: Floats | None = None,
) -> FullTrajectory:
    """Integrate the full model from zero; by default over twice its plateau, at 200 times.

    Example:
        >>> line = full_flow(T=8, d=4)
        >>> line.attention.shape, line.attention[[0, -1], -1].round(2).tolist()  # the last position is the relevant one
        ((200, 8), [0.12, 0.78])
    """
    start, problem, scale = _pose(T, d, B, p, target)
    if times is None:
        times = np.linspace(0, 2 * plateau(T, d, B, p, logits="free"), 200)
    with jax.enable_x64():
        return FullTrajectory(times, *(np.asarray(x) for x in _along(start, problem, scale, jnp.asarray(times))))


def _pose(T: float, d: float, B: float, p: float, target: Floats | None) -> tuple[Parameters, Problem, float]:
    setting = check_setting(T, d, B, p, "free")
    if any(int(x) != x for x in (T, d, B)):
        raise RequestError(f"T = {T}, d = {d}, B = {B} are not allowed: the full model needs whole numbers.")
    T, d = int(T), int(d)
    if target is None:
        target = np.random.default_rng(0).standard_normal((d, d))
        target /= np.linalg.norm(target, axis=0)
    elif np.shape(target) != (d, d) or not np.all(np.isfinite(target)):
        raise RequestError(f"target is not allowed: it must be a finite {d} × {d} matrix.")
    variance = np.full(d, (1 - p) / d)
    variance[0] += p
    relevant = np.arange(T) >= T - B
    with jax.enable_x64():
        start = Parameters(jnp.zeros(T), jnp.zeros((d, d)))
        problem = Problem(*(jnp.asarray(x) for x in (target, relevant, variance, np.full(d, 1 / d), 1 / d)))
    return start, problem, float(rate(setting))


def _clean(problem: Problem) -> Problem:
    return problem._replace(variance=problem.clean_variance)


def _solve(start: Parameters, problem: Problem, scale, **kwargs) -> diffrax.Solution:
    def velocity(t, parameters, args):
        return jax.tree.map(lambda g: -g / scale, jax.grad(expected_loss)(parameters, problem))

    return diffrax.diffeqsolve(
        diffrax.ODETerm(velocity),
        diffrax.Tsit5(),
        t0=0.0,
        dt0=None,
        y0=start,
        stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-8, norm=optimistix.max_norm),
        max_steps=2**14,
        **kwargs,
    )


@jax.jit
def _until_level(start: Parameters, problem: Problem, scale, level) -> tuple[Array, Array]:
    """Scaled time at which the clean loss has fallen to `level` of its start, and whether it did."""
    clean = _clean(problem)
    goal = level * expected_loss(start, clean)

    def excess(t, y, args, **_):
        return expected_loss(y, clean) - goal

    event = diffrax.Event(excess, optimistix.Newton(1e-10, 1e-10, norm=optimistix.max_norm))
    solution = _solve(start, problem, scale, t1=jnp.inf, saveat=diffrax.SaveAt(t1=True), event=event, throw=False)
    assert solution.ts is not None  # noqa: S101
    return solution.ts[0], solution.result == diffrax.RESULTS.event_occurred


@jax.jit
def _along(start: Parameters, problem: Problem, scale, times: Float[Array, " points"]):
    def observe(t, parameters, args):
        w = jnp.sum(problem.target * parameters.W) / jnp.linalg.norm(problem.target)
        losses = [expected_loss(parameters, x) for x in (problem, _clean(problem))]
        return (*losses, w, jax.nn.softmax(parameters.a))

    saveat = diffrax.SaveAt(ts=times * scale, fn=observe)
    return _solve(start, problem, scale, t1=times[-1] * scale, saveat=saveat).ys
