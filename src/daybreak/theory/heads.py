"""H attention heads that learn K patterns: the gradient flow of paper B's regression variant (§3.1).

The model is ŷ = Σ_h V_h X s_h with s_h = softmax(a_h). For tokens of unit variance the expected loss is, up to the noise,

    L = ½‖R‖²,    R = Σ_k m_k V*_k ⊗ s*_k − Σ_h V_h ⊗ s_h

Its flow is dV_h/dt = R·s_h, da_h/dt = Π(s_h)(R·V_h), with Π(s) = diag(s) − s sᵀ. Two symmetries make it small:

- R·s_h lies in the span of the V*_k, so V_h never leaves it: K numbers instead of d². They are taken in an orthonormal basis
  of the span, where the flow is the plain gradient, also for correlated features.
- Heads that start alike stay alike, and so do positions of one block that start alike. Each such group is integrated once. From
  a start without noise one head is left, the coupled dynamics of §3.2, and no rounding can tear the heads apart.

`logits` is this flow. `published` is what the paper simulates, ds_h/dt = Π(s_h)(R·V_h): there logits follow the slope of the
loss in attention itself, da_h/dt = R·V_h = −∂L/∂s_h. It is another flow, and a faster one.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, final, get_args

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import as_numbers, check_times, refuse
from daybreak.theory.patterns import Patterns, plateau_levels

HeadFlow = Literal["logits", "published"]
States = tuple[Floats, Floats]  # values and logits of each group, times on the first axis
_RTOL = 1e-9
_FINER = 1e-3  # absolute against relative tolerance
_HANDFUL = 64  # variables that LSODA is fast with
_MAX_STEPS = 2**20


class System(NamedTuple):
    """A task as seen by groups of heads and of positions; a pytree.

    Args:
        target: Σ_k m_k V*_k ⊗ s*_k at one position of each of J groups, K × J.
        sizes: positions in each.
        copies: heads in each of G groups.
    """

    target: Floats
    sizes: Floats
    copies: Floats


def attention(logits, sizes, xp=jnp):
    """Attention of each head on one position of each group of positions."""
    weights = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return weights / (weights @ sizes)[..., None]


def loss(values, s, system: System, xp=jnp):
    """½‖R‖² at values V_h in an orthonormal basis and attention s_h."""
    residual = system.target - xp.einsum("...gk,g,...gj->...kj", values, system.copies, s)
    return 0.5 * xp.einsum("...kj,j->...", residual**2, system.sizes)


def velocity(
    values: Float[Array, "G K"], logits: Float[Array, "G J"], system: System, flow: HeadFlow
) -> tuple[Float[Array, "G K"], Float[Array, "G J"]]:
    """The flow by autodiff: of the loss in (V, a), or as published in V and s. Groups share the slope of their sum."""
    if flow == "logits":
        of, at = lambda v, a: loss(v, attention(a, system.sizes), system), logits
    else:
        of, at = lambda v, s: loss(v, s, system), attention(logits, system.sizes)
    slope_values, slope = jax.grad(of, argnums=(0, 1))(values, at)
    return -slope_values / system.copies[:, None], -slope / (system.copies[:, None] * system.sizes[None, :])


@final
@dataclass(frozen=True, eq=False)
class HeadTrajectory:
    """A flow line of H heads over times `t`.

    Args:
        task: the patterns learned.
        t: flow time.
        system: the task by groups of heads and positions.
        states: values in the orthonormal basis, and logits, of each group; times on the first axis.
        heads: group of each head.
        places: group of each position.
    """

    task: Patterns
    t: Floats
    system: System
    states: States
    heads: NDArray[np.int64]
    places: NDArray[np.int64]

    @property
    def loss(self) -> Floats:
        """Expected loss, without that of the noise."""
        return loss(self.states[0], self._attention, self.system, np)

    @property
    def values(self) -> Floats:
        """⟨V_h, V*_k⟩, of shape (times, H, K)."""
        return (self.states[0] @ self.task.features)[:, self.heads]

    @property
    def attention(self) -> Floats:
        """Attention s_h on each position, of shape (times, H, T)."""
        return self._attention[:, self.heads][:, :, self.places]

    @property
    def mass(self) -> Floats:
        """Attention of each head on each block, of shape (times, H, K)."""
        labels = np.empty(self.system.sizes.size, dtype=np.int64)
        labels[self.places] = self.task.labels
        inside = labels[:, None] == np.arange(self.task.K)
        return ((self._attention * self.system.sizes) @ inside)[:, self.heads]

    @property
    def transitions(self) -> Floats:
        """When the loss falls past the middle of plateaus n − 1 and n, n = 1 … K; infinite if not by the last time.

        Interpolated linearly, so they are as good as the times are dense.
        """
        levels = plateau_levels(self.task)
        return np.array([_crossing(self.t, self.loss, x) for x in (levels[1:] + levels[:-1]) / 2])

    @property
    def _attention(self) -> Floats:
        return attention(self.states[1], self.system.sizes, np)


def head_flow(
    task: Patterns,
    heads: int,
    *,
    eps: float = 1e-6,
    seed: int = 0,
    start: ArrayLike | None = None,
    flow: HeadFlow = "logits",
    times: ArrayLike | None = None,
) -> HeadTrajectory:
    """Integrate H heads from V = 0 and nearly uniform attention.

    Args:
        task: what `patterns` gives.
        heads: number of heads H.
        eps: logits start uniform in ±eps; at 0 the heads stay equal for ever.
        seed: of that noise.
        start: logits to start from instead, H × T.
        flow: `logits`, the gradient flow of the model, or `published`, what paper B simulates.
        times: increasing flow times to report; by default 4 001, denser at the start, until well after the weakest
            pattern should be learned.

    Example:
        >>> from daybreak import theory
        >>> line = theory.head_flow(theory.patterns([4, 2, 1]), heads=3, eps=1e-6)
        >>> line.transitions.round().tolist()  # the first pattern at once, the others after a long competition
        [1.0, 148.0, 376.0]
        >>> bool(line.loss[-1] < 1e-6)
        True
        >>> theory.head_flow(theory.patterns([4, 2, 1]), heads=3, eps=0).transitions.round().tolist()
        [1.0, inf, inf]
    """
    check_flow(flow)
    H = int(check_heads(heads))
    logits = _noise(task, H, eps, seed) if start is None else _given(task, H, start)
    t = _until(task, H, float(np.ptp(logits))) if times is None else check_times(times)
    system, first, of_head, of_place = _group(task, logits)
    return HeadTrajectory(task, t, system, integrate(system, first, t, flow), of_head, of_place)


def integrate(system: System, logits: Floats, times: Floats, flow: HeadFlow, *, rtol: float = _RTOL) -> States:
    """States of the flow of all groups at the given times.

    Noise far below the tolerance is followed all the same: a step treats all heads alike, so it is the relative error of
    their differences that is small. Only rounding, at 1e-16, does not treat them alike.
    """
    G, J = logits.shape
    K = system.target.shape[0]
    solve = _explicit if G * (K + J) > _HANDFUL else _lsoda
    with jax.enable_x64():
        states = solve(jax.tree.map(jnp.asarray, system), logits, times, flow, rtol)
    values, later = np.split(states, [G * K], axis=1)
    return values.reshape(-1, G, K), later.reshape(-1, G, J)


def _lsoda(system: System, logits: Floats, times: Floats, flow: HeadFlow, rtol: float) -> Floats:
    """Few variables: done before a program has compiled, and a plateau may last as long as it likes."""
    start = np.concatenate([np.zeros(logits.shape[0] * system.target.shape[0]), logits.ravel()])

    def field(_, state):
        return np.asarray(_velocity(state, system, flow))

    solution = solve_ivp(field, (0, times[-1]), start, method="LSODA", t_eval=times, rtol=rtol, atol=rtol * _FINER)
    if not solution.success:
        raise ArithmeticError(f"The flow of the heads could not be integrated: {solution.message}")
    return solution.y.T


def _explicit(system: System, logits: Floats, times: Floats, flow: HeadFlow, rtol: float) -> Floats:
    """Many variables: LSODA would spend its time on their Jacobian."""
    states, done = _tsit5(system, jnp.asarray(logits), jnp.asarray(times), flow, rtol)
    if not done:
        raise ArithmeticError(
            f"The flow of {logits.shape[0]} heads on {logits.shape[1]} groups of positions took more than {_MAX_STEPS} steps: "
            "ask for shorter times, or start the positions of a block alike."
        )
    return np.asarray(states)


@partial(jax.jit, static_argnames=("flow", "rtol"))
def _tsit5(
    system: System, logits: Float[Array, "G J"], times: Float[Array, " points"], flow: HeadFlow, rtol: float
) -> tuple[Float[Array, "points size"], Bool[Array, ""]]:
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda _, state, system: _velocity(state, system, flow)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=jnp.concatenate([jnp.zeros(logits.shape[0] * system.target.shape[0]), logits.ravel()]),
        args=system,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol * _FINER),
        max_steps=_MAX_STEPS,
        throw=False,
    )
    assert solution.ys is not None  # noqa: S101
    return solution.ys, solution.result == diffrax.RESULTS.successful


@partial(jax.jit, static_argnames="flow")
def _velocity(state: Float[Array, " size"], system: System, flow: HeadFlow) -> Float[Array, " size"]:
    (K, _), G = system.target.shape, system.copies.size
    parts = velocity(state[: G * K].reshape(G, K), state[G * K :].reshape(G, -1), system, flow)
    return jnp.concatenate([x.ravel() for x in parts])


def check_heads(heads: int) -> Floats:
    """Refuse what is not a number of heads."""
    H = as_numbers("heads", heads)
    if H.shape:
        raise RequestError(f"heads of shape {H.shape} are not allowed: give one number.")
    refuse("heads", H, (H < 1) | (H % 1 != 0), "there must be a whole number of heads, at least 1")
    return H


def check_flow(flow: str) -> None:
    """Refuse a flow that is not known."""
    if flow not in get_args(HeadFlow):
        raise RequestError(f"flow = {flow!r} is unknown: choose 'logits' or 'published'.")


def _noise(task: Patterns, heads: int, eps: float, seed: int) -> Floats:
    noise = as_numbers("eps", eps)
    refuse("eps", noise, noise < 0, "the noise of the first logits cannot be below 0")
    return noise * np.random.default_rng(seed).uniform(-1, 1, (heads, task.T))


def _given(task: Patterns, heads: int, start: ArrayLike) -> Floats:
    logits = as_numbers("start", start)
    if logits.shape != (heads, task.T):
        raise RequestError(
            f"start of shape {logits.shape} is not allowed: {heads} heads on {task.T} positions need {heads} × {task.T} logits."
        )
    return logits


def _group(task: Patterns, logits: Floats) -> tuple[System, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Heads that start alike as one, and positions of a block that start alike as one."""
    rows, heads, copies = np.unique(logits + 0.0, axis=0, return_inverse=True, return_counts=True)
    columns = np.column_stack([task.labels, rows.T])
    kinds, places, sizes = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    labels = kinds[:, 0].astype(np.int64)
    shares = (labels == np.arange(task.K)[:, None]) / task.blocks[:, None]
    target = task.features @ (task.strengths[:, None] * shares)
    system = System(target, sizes.astype(np.float64), copies.astype(np.float64))
    return system, kinds[:, 1:].T.astype(np.float64), heads.reshape(-1), places.reshape(-1)


def _until(task: Patterns, heads: int, eps: float) -> Floats:
    """Times from the first moves to well after noise should have broken the symmetry for the weakest pattern."""
    m, b = task.strengths, task.blocks.max()
    first = task.T * np.sqrt(b) / m.max() * (1 + heads * np.sqrt(b) / m.max())
    rounds = np.log(1 / np.clip(eps, 1e-16, 1)) + 4
    last = 4 * first + task.T * (m.max() / m.min()) ** 2 * rounds**2 / (2 * heads)
    return np.append(0.0, np.geomspace(1e-3 * first, last, 4000))


def _crossing(t: Floats, values: Floats, level: float) -> float:
    """First time at which a falling curve is at or below a level, interpolated linearly; infinite if there is none."""
    below = np.flatnonzero(values <= level)
    if not below.size:
        return np.inf
    i = max(int(below[0]), 1)
    share = (values[i - 1] - level) / (values[i - 1] - values[i])
    return float(t[i - 1] + min(max(share, 0.0), 1.0) * (t[i] - t[i - 1]))
