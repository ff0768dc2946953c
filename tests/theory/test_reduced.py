"""Hand-derived gradients and Hessians equal autodiff; the two reductions agree where they must."""

from functools import cache

import jax
import numpy as np
import pytest
from hypothesis import given

from daybreak.theory import reduced
from daybreak.theory._setting import ToySetting, check_setting
from tests.theory.drawn import settings, states


def _close(hand, autodiff) -> None:
    scale = max(1.0, float(np.abs(hand).max()))
    np.testing.assert_allclose(hand, autodiff, rtol=1e-9, atol=1e-9 * scale)


@cache
def _compiled(transform, loss):
    return jax.jit(transform(loss))


def _autodiff(transform, loss, state, setting: ToySetting):
    with jax.enable_x64():
        return np.asarray(_compiled(transform, loss)(np.asarray(state), setting))


@given(settings(), states(3))
def test_gradient_by_hand_equals_autodiff(setting: ToySetting, state: np.ndarray) -> None:
    """Paper A, eqs. 18-21, for any B."""
    _close(reduced.gradient(state, setting), _autodiff(jax.grad, reduced.loss_three, state, setting))


@given(settings(), states(3))
def test_hessian_by_hand_equals_autodiff(setting: ToySetting, state: np.ndarray) -> None:
    _close(reduced.hessian(state, setting), _autodiff(jax.hessian, reduced.loss_three, state, setting))


@given(settings(), states(2))
def test_equations_13_and_14_equal_autodiff(setting: ToySetting, state: np.ndarray) -> None:
    T, d, B, _, _ = setting
    w, delta_a = state
    alpha = 1 / ((T - B) * np.exp(-delta_a) + B)
    by_w = (1 - B * alpha) ** 2 * w / (d * (T - B)) + B * alpha * (B * alpha * w - np.sqrt(d)) / d
    bracket = -B * (1 - B * alpha) * w**2 / (d * (T - B)) + B * w * (B * alpha * w - np.sqrt(d)) / d
    by_a = alpha * (1 - B * alpha) * bracket
    _close(np.array([by_w, by_a]), _autodiff(jax.grad, reduced.loss_two, state, setting))


@given(settings(), states(2))
def test_corrected_hessian_of_two_variables_equals_autodiff(setting: ToySetting, state: np.ndarray) -> None:
    """The entries of A.3.1, with the factor α(1−Bα) that the paper's last entry lacks."""
    T, d, B, _, _ = setting
    w, delta_a = state
    alpha = 1 / ((T - B) * np.exp(-delta_a) + B)
    slope = alpha * (1 - B * alpha)
    bracket = -B * (1 - B * alpha) * w**2 / (d * (T - B)) + B * w * (B * alpha * w - np.sqrt(d)) / d
    w_w = (1 - B * alpha) ** 2 / (d * (T - B)) + (B * alpha) ** 2 / d
    w_a = slope * (-2 * B * (1 - B * alpha) * w / (d * (T - B)) + B * (2 * B * alpha * w - np.sqrt(d)) / d)
    a_a = (1 - 2 * B * alpha) * slope * bracket + slope**2 * (B**2 * w**2 / (d * (T - B)) + B**2 * w**2 / d)
    _close(np.array([[w_w, w_a], [w_a, a_a]]), _autodiff(jax.hessian, reduced.loss_two, state, setting))


def test_the_printed_hessian_of_the_paper_is_not_the_hessian() -> None:
    """Guards the correction: d²L/dΔa² as printed in A.3.1 is off by the factor α(1−Bα)."""
    setting, w, delta_a = check_setting(16, 4, 1, 0.0, "tied"), 1.5, 2.0
    alpha = 1 / (15 * np.exp(-delta_a) + 1)
    slope = alpha * (1 - alpha)
    bracket = -(1 - alpha) * w**2 / (4 * 15) + w * (alpha * w - 2) / 4
    printed = (1 - 2 * alpha) / slope * slope * bracket + slope * (w**2 / (4 * 15) + w**2 / 4)
    true = _autodiff(jax.hessian, reduced.loss_two, np.array([w, delta_a]), setting)[1, 1]
    assert printed * slope == pytest.approx(true, rel=1e-9)
    assert printed != pytest.approx(true, rel=0.1)


@given(settings(repetition=1e-6), states(2))
def test_three_variables_hold_two(setting: ToySetting, state: np.ndarray) -> None:
    """At p = 0 and w̃ : w = 1 : √(d−1), eq. 17 is eq. 12."""
    setting = setting._replace(p=np.zeros_like(setting.p))
    w, delta_a = state
    three = np.array([w / np.sqrt(setting.d), w * np.sqrt(1 - 1 / setting.d), delta_a])
    assert reduced.loss_three(three, setting, np) == pytest.approx(reduced.loss_two(state, setting, np), rel=1e-12)


@given(settings(), states(2))
def test_random_start_without_its_random_part_is_the_plain_loss(setting: ToySetting, state: np.ndarray) -> None:
    plain = reduced.loss_two(state, setting, np)
    assert reduced.loss_random(np.array([0.0, *state]), setting, np) == pytest.approx(plain, rel=1e-12)


@given(settings())
def test_every_start_has_loss_one_half(setting: ToySetting) -> None:
    start = np.zeros(3)
    assert reduced.loss_three(start, setting, np) == pytest.approx(0.5, rel=1e-12)
    assert reduced.clean_loss(start, setting, np) == pytest.approx(0.5, rel=1e-12)
