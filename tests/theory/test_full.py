"""The full flow of T + d² parameters is the ground truth: the free reduction equals it, the tied one does not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak import theory
from daybreak.theory.full import Parameters, Problem, _until_level, expected_loss

_T, _D = 256, 32


def _padded_plateau(T: int, d: int, B: int, p: float, seed: int, level: float) -> float:
    """Plateau of the full flow inside a fixed shape, so that one compiled program serves every draw.

    Logits of absent positions are so low that they get no attention; absent dimensions have no variance and no target.
    """
    target = np.zeros((_D, _D))
    target[:d, :d] = np.random.default_rng(seed).standard_normal((d, d))
    target[:, :d] /= np.linalg.norm(target[:, :d], axis=0)
    variance = np.where(np.arange(_D) < d, (1 - p) / d, 0.0)
    variance[0] += p
    clean = np.where(np.arange(_D) < d, 1 / d, 0.0)
    position = np.arange(_T)
    logits = np.where(position < T, 0.0, -1e6)
    relevant = (position >= T - B) & (position < T)
    scale = float(theory.growth_rate(T, d, B, p, logits="free"))
    with jax.enable_x64():
        start = Parameters(jnp.asarray(logits), jnp.zeros((_D, _D)))
        problem = Problem(*(jnp.asarray(x) for x in (target, relevant, variance, clean, 1 / d)))
        time, crossed = _until_level(start, problem, scale, level)
    assert crossed
    return float(time) / scale


@st.composite
def small_settings(draw):
    T = draw(st.integers(2, _T))
    B = draw(st.integers(1, min(16, T - 1)))
    return T, draw(st.integers(1, _D)), B, draw(st.one_of(st.just(0.0), st.floats(1e-3, 0.9)))


@given(small_settings(), st.integers(0, 10**6), st.floats(0.05, 0.8))
def test_free_logits_are_the_full_flow(setting, seed: int, level: float) -> None:
    T, d, B, p = setting
    reduced = theory.plateau(T, d, B, p, logits="free", level=level)
    assert _padded_plateau(T, d, B, p, seed, level) == pytest.approx(reduced, rel=1e-4)


def test_unpadded_full_flow_agrees_and_tied_logits_are_far_off() -> None:
    full = theory.full_plateau(64, 16, 8)
    assert full == pytest.approx(theory.plateau(64, 16, 8, logits="free"), rel=1e-6)
    assert full / theory.plateau(64, 16, 8, logits="tied") > 2


def test_trajectory_of_the_full_model_is_the_reduced_one() -> None:
    full, line = theory.full_flow(32, 8, 2, 0.3), theory.flow(32, 8, 2, 0.3, logits="free")
    for name in ("loss", "clean_loss", "w"):
        np.testing.assert_allclose(getattr(full, name), np.interp(full.t, line.t, getattr(line, name)), atol=5e-3)
    assert full.attention.shape == (200, 32)
    np.testing.assert_allclose(full.attention.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_allclose(full.attention[:, -1], full.attention[:, -2])


def test_expected_loss_is_what_sampling_gives() -> None:
    """Monte Carlo of ½‖y − y*‖² for arbitrary parameters, within four standard errors."""
    T, d, B, p, n = 6, 3, 2, 0.4, 200_000
    draw = np.random.default_rng(3)
    a, W, target = draw.standard_normal(T), draw.standard_normal((d, d)), draw.standard_normal((d, d))
    x = draw.standard_normal((n, T, d)) / np.sqrt(d)
    token = np.where(draw.random((n, 1)) < p, np.eye(d)[0], draw.standard_normal((n, d)) / np.sqrt(d))
    x[:, T - B :] = token[:, None]
    alpha = np.exp(a) / np.exp(a).sum()
    losses = 0.5 * np.sum((np.einsum("t,ntd->nd", alpha, x) @ W.T - token @ target.T) ** 2, axis=1)
    variance = np.full(d, (1 - p) / d)
    variance[0] += p
    with jax.enable_x64():
        parts = (target, np.arange(T) >= T - B, variance, np.full(d, 1 / d), 1 / d)
        expected = expected_loss(Parameters(jnp.asarray(a), jnp.asarray(W)), Problem(*(jnp.asarray(v) for v in parts)))
    assert float(expected) == pytest.approx(losses.mean(), abs=4 * losses.std() / np.sqrt(n))
