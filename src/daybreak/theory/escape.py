"""Closed forms of the early flow: growth rates, linearised dynamics, escape and take-off times (paper A, A.3.2, A.4.2).

To leading order in large T, with κ = (B/T)|v|, v = (σ̃, σ√(d−1)) and mobility M of the logits, the weights grow along v only:

    |(w̃, w)| = sinh(λt)/√M,   Δa = cosh(λt) − 1,   λ = κ√M,   |v| = √(1 + p²(d−1)) / √d

Paper A writes √(p²d + (1−p)²) for √(1 + p²(d−1)): it drops 2p(1−p), which matters for small d and makes d = 1 wrong.
λ and the escape times are leading order: they leave out the damping 1/(dT) of the weights, which lowers λ by a fraction of
at most 1/(2√d): 5 % at d = 64, p = 0.1, T = 4096.

Linearising loses what ends the plateau: α grows like e^{Δa}, and Δa itself grows. Keeping that exponential, and nothing
else, gives `takeoff_time`, which has no logarithm and whose relative error vanishes for long sequences.
"""

from typing import NamedTuple

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.theory._setting import Logits, ToySetting, check_fraction, check_setting


class Linearised(NamedTuple):
    """Weights, logits and losses of the dynamics linearised at the start, over the given times."""

    w: Floats
    delta_a: Floats
    loss: Floats
    clean_loss: Floats


def growth_rate(T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, logits: Logits = "tied"):
    """Rate λ at which the flow leaves its start, to leading order: B√(1+p²(d−1)) / (√d T) if tied, with √B for B if free.

    The factor √(1+p²(d−1)) of p is leading order too: damping of the weights lowers it (see `daybreak.theory.escape`).

    Example:
        >>> float(growth_rate(T=512, d=64) * 8 * 512)
        1.0
        >>> float(growth_rate(512, 64, B=4, logits="free") / growth_rate(512, 64, logits="free"))
        2.0
    """
    return rate(check_setting(T, d, B, p, logits))[()]


def escape_time(
    T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, eps: ArrayLike = 0.8, logits: Logits = "tied"
):
    """Time for the linearised clean loss to fall by the fraction `eps` (paper A, A.3.2; for p > 0 see docs/guides/theory.md).

    tied: T_ε = √d T/(2Bf) · arcsinh(ε √d T f / B), free: √d T/(2√B f) · arcsinh(ε √d T f / B^{3/2}), where
    f = √(1 + p²(d−1)), all to leading order. Repetition p makes growth f times faster. The clean loss falls f times less
    for the same growth.

    Example:
        >>> round(float(escape_time(T=512, d=64)))
        17997
    """
    setting = check_setting(T, d, B, p, logits)
    return (np.arcsinh(check_fraction("eps", eps) / _clean_gain(setting)) / (2 * rate(setting)))[()]


def escape_time_log(
    T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, eps: ArrayLike = 0.8, logits: Logits = "tied"
):
    """Limit of `escape_time` for long sequences, with ln 2x for arcsinh x (paper A, eq. 6, corrected).

    Example:
        >>> f"{escape_time_log(T=8, d=1) / escape_time(T=8, d=1) - 1:.1e}"
        '-2.4e-03'
    """
    setting = check_setting(T, d, B, p, logits)
    return (np.log(2 * check_fraction("eps", eps) / _clean_gain(setting)) / (2 * rate(setting)))[()]


def takeoff_time(T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, logits: Logits = "tied"):
    """Time at which attention takes off: √(π/2)/λ + (1 − π/4)/(dTλ²), λ the growth rate. Ours, see docs/guides/theory.md.

    While α ≈ e^{Δa}/T, the flow in scaled time is x' = e^{Δa} − εx, Δa' = x e^{Δa} with ε = 1/(dTλ). It reaches
    infinity after ∫ e^{−x²/2} dx = √(π/2) plus (1 − π/4) ε: the plateau of the toy model is a blow-up in finite time.

    Example:
        >>> from daybreak import theory
        >>> bool(abs(takeoff_time(T=1e7, d=64) / theory.plateau(T=1e7, d=64) - 1) < 1e-3)
        True
    """
    setting = check_setting(T, d, B, p, logits)
    growth = rate(setting)
    return (np.sqrt(np.pi / 2) / growth + (1 - np.pi / 4) / (setting.d * setting.T * growth**2))[()]


def plateau_estimate(
    T: ArrayLike, d: ArrayLike, B: ArrayLike = 1, p: ArrayLike = 0.0, *, logits: Logits = "tied", level: ArrayLike = 0.2
):
    """Plateau in closed form: `takeoff_time`, then d ln(1/level) / (2(1−p)) for the weights to settle. Ours.

    Too short by at most 4 % (free: 6 %) for p = 0, d ≥ 16, T/B ≥ 64; the larger p, the more.

    Example:
        >>> from daybreak import theory
        >>> round(float(plateau_estimate(T=512, d=64) / theory.plateau(T=512, d=64)), 3)
        0.995
    """
    _, d_, _, p_, _ = check_setting(T, d, B, p, logits)
    settling = d_ * np.log(1 / check_fraction("level", level)) / (2 * (1 - p_))
    return (takeoff_time(T, d, B, p, logits=logits) + settling)[()]


def linearised(
    times: ArrayLike, T: float, d: float, B: float = 1, p: float = 0.0, *, logits: Logits = "tied"
) -> Linearised:
    """Dynamics linearised at the start; for tied logits w = sinh λt, Δa = cosh λt − 1, L = ½(1 − λ sinh 2λt) at p = 0.

    Example:
        >>> t = [0, 1 / growth_rate(T=512, d=64)]  # the time in which attention's logit starts to grow
        >>> linearised(t, T=512, d=64).delta_a.round(3).tolist()
        [0.0, 0.543]
    """
    setting = check_setting(T, d, B, p, logits)
    growth, mobility = rate(setting), _mobility(setting)
    x = growth * np.asarray(times, dtype=np.float64)
    fall = 0.5 * np.sinh(2 * x)
    return Linearised(
        w=np.sinh(x) / np.sqrt(mobility),
        delta_a=np.cosh(x) - 1,
        loss=0.5 - growth / mobility * fall,
        clean_loss=0.5 - _clean_gain(setting) * fall,
    )


def rate(setting: ToySetting) -> Floats:
    """Growth rate of checked settings."""
    T, d, B, p, _ = setting
    return B * np.sqrt(1 + p**2 * (d - 1)) / (np.sqrt(d) * T) * np.sqrt(_mobility(setting))


def _mobility(setting: ToySetting) -> Floats:
    """Mobility of the logits for T → ∞: 1 if tied, 1/B if free."""
    return 1 + setting.free * (1 / setting.B - 1)


def _clean_gain(setting: ToySetting) -> Floats:
    """Factor g in: clean loss ≈ ½(1 − g sinh 2λt). At p = 0 and tied logits it is λ."""
    T, d, B, p, _ = setting
    return B / (np.sqrt(d * (1 + p**2 * (d - 1))) * T * np.sqrt(_mobility(setting)))
