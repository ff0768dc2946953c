"""The reduced losses of the toy model y = W Σ_t softmax(a)_t x_t, with their gradients and Hessians by hand.

`loss_two` (paper A, eq. 12) and `loss_three` (eq. 17, with in-context repetition B added) are what the flows
differentiate. `gradient` and `hessian` are derived by hand for any B and p; tests compare them with autodiff. They are
plain NumPy and vectorise over trajectories.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from daybreak._types import Floats
from daybreak.theory._setting import ToySetting


def loss_two(state, setting: ToySetting, xp=jnp):
    """Expected loss at (w, Δa) without cross-sample repetition (paper A, eq. 12).

    Args:
        state: w and Δa, on the first axis.
        setting: T, d and B; p is not read.
        xp: the array library to compute with, `jax.numpy` or `numpy`.
    """
    w, delta_a = state
    T, d, B = setting.T, setting.d, setting.B
    alpha, rest = _attention(delta_a, setting, xp)
    return 0.5 * (rest**2 * w**2 / (d * (T - B)) + (B * alpha * w - xp.sqrt(d)) ** 2 / d)


def loss_three(state, setting: ToySetting, xp=jnp):
    """Expected loss at (w̃, w, Δa) with cross-sample repetition (paper A, eq. 17, for any B).

    At p = 0 it equals `loss_two` along w̃ : w = 1 : √(d−1), which the flow from zero never leaves. So one flow serves
    both reductions.
    """
    w_tilde, w, delta_a = state
    T, d, B, p = setting.T, setting.d, setting.B, setting.p
    alpha, rest = _attention(delta_a, setting, xp)
    noise = rest**2 * (w**2 + w_tilde**2) / (d * (T - B))
    sigma = (1 - p) / d
    repeated = (p + sigma) * (B * alpha * w_tilde - 1) ** 2
    others = sigma * (B * alpha * w - xp.sqrt(d - 1)) ** 2
    return 0.5 * (noise + repeated + others)


def clean_loss(state, setting: ToySetting, xp=jnp):
    """Test loss at (w̃, w, Δa): no cross-sample repetition, B as in training (paper A, D.1)."""
    return loss_three(state, setting._replace(p=xp.zeros_like(setting.p)), xp)


def loss_random(state, setting: ToySetting, xp=jnp):
    """Expected loss at (r, w, Δa) for weights that did not start at zero, without cross-sample repetition. Ours.

    The part of W that is orthogonal to W* only shrinks, keeping its direction, so its length r is all that matters.
    Paper A drops it (assumption 4), but for random W it starts at √d and delays attention.
    """
    r, w, delta_a = state
    T, d, B = setting.T, setting.d, setting.B
    alpha, rest = _attention(delta_a, setting, xp)
    noise = rest**2 * (w**2 + r**2) / (d * (T - B))
    return 0.5 * (noise + ((B * alpha * w - xp.sqrt(d)) ** 2 + (B * alpha * r) ** 2) / d)


def velocity(state: Float[Array, "3"], setting: ToySetting, loss: Callable = loss_three) -> Float[Array, "3"]:
    """Gradient flow of a loss of three variables by autodiff; the last, Δa, follows with the mobility of its logits."""
    return -jax.grad(loss)(state, setting) * jnp.stack([1.0, 1.0, setting.mobility])


def attention(delta_a: Floats, setting: ToySetting) -> Floats:
    """Attention α on each relevant position (paper A, eq. 9)."""
    return _attention(delta_a, setting, np)[0]


def gradient(state: Floats, setting: ToySetting) -> Floats:
    """Gradient of `loss_three` by hand, components on the first axis (paper A, eqs. 18-21; eqs. 13-14 at p = 0)."""
    return np.stack(components(state, setting, np))


def components(state, setting: ToySetting, xp):
    """The gradient as a tuple. With `math` for xp, of one state and a setting in plain numbers: 1 µs, a compiled call takes 30."""
    w_tilde, w, _ = state
    T, d, B, alpha, rest, sigma_tilde, sigma, goal = _parts(state, setting, xp)
    noise = rest / (d * (T - B))
    error_tilde, error = B * alpha * w_tilde - 1, B * alpha * w - goal
    pull = w_tilde * sigma_tilde * error_tilde + w * sigma * error - noise * (w**2 + w_tilde**2)
    return (
        noise * rest * w_tilde + B * alpha * sigma_tilde * error_tilde,
        noise * rest * w + B * alpha * sigma * error,
        alpha * rest * B * pull,
    )


def hessian(state: Floats, setting: ToySetting) -> Floats:
    """Hessian of `loss_three` by hand, as the last two axes.

    The entries printed in paper A (A.3.1, A.4.1) lack a factor 2 in the noise part of ∂²L/∂w∂Δa (A.4.1) and a factor
    α(1−Bα) in ∂²L/∂Δa² (both); these are the corrected ones.
    """
    w_tilde, w, _ = state
    T, d, B, alpha, rest, sigma_tilde, sigma, goal = _parts(state, setting, np)
    noise, slope = rest / (d * (T - B)), alpha * rest
    tilde_tilde = noise * rest + (B * alpha) ** 2 * sigma_tilde
    w_w = noise * rest + (B * alpha) ** 2 * sigma
    tilde_a = slope * B * (-2 * noise * w_tilde + sigma_tilde * (2 * B * alpha * w_tilde - 1))
    w_a = slope * B * (-2 * noise * w + sigma * (2 * B * alpha * w - goal))
    curvature = (w**2 + w_tilde**2) / (d * (T - B)) + sigma_tilde * w_tilde**2 + sigma * w**2
    a_a = (1 - 2 * B * alpha) * gradient(state, setting)[2] + (slope * B) ** 2 * curvature
    zero = np.zeros_like(a_a)
    rows = [[tilde_tilde, zero, tilde_a], [zero, w_w, w_a], [tilde_a, w_a, a_a]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _attention(delta_a, setting: ToySetting, xp):
    """α and 1 − Bα; the latter without the cancellation that would spoil late times."""
    odds = (setting.T - setting.B) * xp.exp(-delta_a)
    alpha = 1 / (odds + setting.B)
    return alpha, odds * alpha


def _parts(state, setting: ToySetting, xp):
    T, d, B, p, _ = setting
    alpha, rest = _attention(state[2], setting, xp)
    sigma = (1 - p) / d
    return T, d, B, alpha, rest, p + sigma, sigma, xp.sqrt(d - 1)
