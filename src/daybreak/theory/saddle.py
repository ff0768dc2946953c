"""Closed forms of the flow of heads, to leading order: its start, and how long heads compete (paper B, §3).

Start. With uniform attention, a pattern has v_k' = (m_k/T)(1 + δ_k) − (H/T) v_k and δ_k' = m_k v_k / (T |block k|), v_k the
value of each head along V*_k and δ_k the logit of its block above the others: growth against a damping of H/T.

First plateau. All heads attend to block 1, with V_h = m_1 V*_1 / H, and attention σ is left on each position of block k.
What moves all heads equally does not leave this plateau. But differences between heads that sum to zero leave R as it is, and then
δv' = m_k σ q, q' = m_k σ (1/|block 1| + 1/|block k|) δv, q the logit of block k against block 1. They grow at

    m_k σ √(1/|block 1| + 1/|block k|)        (`published`: m_k √(σ/|block k|))

The plateau ages. Attention keeps leaving block k, with D_k = m_1² − m_k² |block 1|/|block k|, as

    σ² = H |block 1| / (2 T D_k t)            (`published`: σ = H / (D_k t))

so the growth slows down as 1/√t, and noise of size ε takes a time in (ln 1/ε)² to break the symmetry, not in ln 1/ε.
Derivations: docs/guides/incremental.md.
"""

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import as_numbers, refuse
from daybreak.theory.heads import HeadFlow, check_flow, check_heads
from daybreak.theory.patterns import Patterns


def start_rates(task: Patterns, heads: int, *, flow: HeadFlow = "logits") -> Floats:
    """Rate at which value and attention of each pattern begin to grow, for long sequences of orthogonal features.

    λ_k = (√(H² + 4 m_k²/|block k|) − H) / 2T, and with T m_k² for m_k² in the published flow.

    Example:
        >>> from daybreak import theory
        >>> (start_rates(theory.patterns([4, 2], T=100), heads=3) * 100).round(3).tolist()
        [2.772, 1.0]
    """
    check_flow(flow)
    _check_uncorrelated(task)
    H = check_heads(heads)
    pull = task.importance * (1 if flow == "logits" else task.T)
    return (np.sqrt(H**2 + 4 * pull) - H) / (2 * task.T)


def saddle_rate(task: Patterns, sigma: ArrayLike, *, pattern: int = 2, flow: HeadFlow = "logits") -> Floats:
    """Rate at which differences between heads grow on the first plateau, with attention `sigma` left on each position.

    Args:
        task: orthogonal features; the most important pattern is the one learned.
        sigma: residual attention on each position of the pattern's block, small.
        pattern: which to learn next, in order of importance, from 2 on.
        flow: as in `head_flow`.

    Example:
        >>> from daybreak import theory
        >>> round(float(saddle_rate(theory.patterns([4, 2]), 0.01)), 5)  # √2 m_2 σ
        0.02828
    """
    check_flow(flow)
    s = as_numbers("sigma", sigma)
    refuse("sigma", s, (s <= 0) | (s >= 1), "residual attention must lie strictly between 0 and 1")
    m, first, block = _pair(task, pattern)
    return (m * s * np.sqrt(1 / first + 1 / block) if flow == "logits" else m * np.sqrt(s / block))[()]


def saddle_time(task: Patterns, heads: int, eps: ArrayLike, *, pattern: int = 2, flow: HeadFlow = "logits") -> Floats:
    """Time that differences of size `eps` between heads take to end the first plateau, to leading order in ln 1/eps.

    At ε = 1e-6 the competition measured on the flow differs from it by −14 to +13 %.

    T D_k (ln 1/ε)² / (2 H m_k² (1 + |block 1|/|block k|)); published: D_k |block k| (ln 1/ε)² / (4 H m_k²), shorter by
    a factor 2T/(|block 1| + |block k|). Infinite for one head; zero, that is of lower order, for equal importance. An
    unknown constant adds to ln 1/ε: compare how the time grows with less noise, not the time itself. Ours, see
    docs/guides/incremental.md.

    Example:
        >>> from daybreak import theory
        >>> saddle_time(theory.patterns([4, 2, 1], T=16), 4, [1e-6, 1e-12]).round().tolist()
        [573.0, 2290.0]
    """
    check_flow(flow)
    x = as_numbers("eps", eps)
    refuse("eps", x, (x <= 0) | (x >= 1), "the noise must lie strictly between 0 and 1")
    H = check_heads(heads)
    m, first, block = _pair(task, pattern)
    D = task.importance.max() * first - m**2 * first / block
    slowness = task.T / (2 * (1 + first / block)) if flow == "logits" else block / 4
    return (slowness * D * np.log(x) ** 2 / (H * m**2) if H > 1 else np.full_like(x, np.inf))[()]


def _pair(task: Patterns, pattern: int) -> tuple[float, float, float]:
    """Strength of a pattern, and the lengths of the first block and of its own, in order of importance."""
    _check_uncorrelated(task)
    if isinstance(pattern, bool) or not isinstance(pattern, int) or not 2 <= pattern <= task.K:
        raise RequestError(
            f"pattern = {pattern!r} is not allowed: it must be a whole number from 2 to {task.K}, the number of patterns."
        )
    order = np.argsort(-task.importance, kind="stable")
    k = order[pattern - 1]
    return float(task.strengths[k]), float(task.blocks[order[0]]), float(task.blocks[k])


def _check_uncorrelated(task: Patterns) -> None:
    if not task.uncorrelated:
        raise RequestError("gram is not allowed: the closed form is for orthogonal features.")
