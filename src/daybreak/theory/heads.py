"""H attention heads that learn K patterns: loss and gradient flow of paper B's regression variant (§3.1).

The model is ŷ = Σ_h V_h X s_h with s_h = softmax(a_h). For tokens of unit variance the expected loss is, up to the noise,

    L = ½‖R‖²,    R = Σ_k m_k V*_k ⊗ s*_k − Σ_h V_h ⊗ s_h

`logits` is its gradient flow, dV_h/dt = R·s_h, da_h/dt = Π(s_h)(R·V_h) with Π(s) = diag(s) − s sᵀ. `published` is what the paper
simulates, ds_h/dt = Π(s_h)(R·V_h): there logits follow the slope of the loss in attention itself, da_h/dt = R·V_h = −∂L/∂s_h. It
is another flow, and a faster one.

Values V_h are taken in an orthonormal basis of the span of the V*_k, where both are plain gradients, also for correlated features.
"""

import warnings
from functools import partial
from typing import Literal, NamedTuple, get_args

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.integrate import ODEintWarning, odeint

from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import as_number, refuse

HeadFlow = Literal["logits", "published"]
States = tuple[Floats, Floats]  # values and logits of each group, times on the first axis
_RTOL = 1e-9
_FINER = 1e-3  # absolute against relative tolerance
_FEW = 64  # variables up to which LSODA is faster
_MAX_STEPS = 2**20


class System(NamedTuple):
    """A task by groups of heads and of positions; a pytree.

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


def integrate(system: System, logits: Floats, times: Floats, flow: HeadFlow, *, rtol: float = _RTOL) -> States:
    """States of the flow of all groups at the given times.

    Noise far below the tolerance is followed too: a step treats all heads alike, so the relative error of their
    differences is small. Only rounding, at 1e-16, does not treat them alike.
    """
    G, J = logits.shape
    K = system.target.shape[0]
    solve = _explicit if G * (K + J) > _FEW else _lsoda
    with jax.enable_x64():
        states = solve(jax.tree.map(jnp.asarray, system), logits, times, flow, rtol)
    values, later = np.split(states, [G * K], axis=1)
    return values.reshape(-1, G, K), later.reshape(-1, G, J)


def _lsoda(system: System, logits: Floats, times: Floats, flow: HeadFlow, rtol: float) -> Floats:
    """Few variables: LSODA finishes before a program would have compiled, and long plateaus cost it few steps.

    `odeint` makes its steps in Fortran, which is twice as fast here as `solve_ivp` with the same method.
    """
    start = np.concatenate([np.zeros(logits.shape[0] * system.target.shape[0]), logits.ravel()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEintWarning)
        try:
            states = odeint(
                lambda state, _: np.asarray(_velocity(state, system, flow)),
                start,
                np.append(0.0, times),
                rtol=rtol,
                atol=rtol * _FINER,
                mxstep=_MAX_STEPS,
            )
        except ODEintWarning as error:
            raise ArithmeticError(f"The flow of the heads could not be integrated: {error}") from None
    return np.asarray(states)[1:]


def _explicit(system: System, logits: Floats, times: Floats, flow: HeadFlow, rtol: float) -> Floats:
    """Many variables: LSODA would spend its time on their Jacobian."""
    states, done = _tsit5(system, jnp.asarray(logits), jnp.asarray(times), flow, rtol)
    if not done:
        raise ArithmeticError(
            f"The flow of {logits.shape[0]} heads on {logits.shape[1]} groups of positions took more than {_MAX_STEPS} steps: "
            "give shorter times, or start the positions of a block equal."
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
    H = as_number("heads", heads)
    refuse("heads", H, (H < 1) | (H % 1 != 0), "there must be a whole number of heads, at least 1")
    return H


def check_flow(flow: str) -> None:
    """Refuse a flow that does not exist."""
    if flow not in get_args(HeadFlow):
        raise RequestError(f"flow = {flow!r} is unknown: choose 'logits' or 'published'.")
