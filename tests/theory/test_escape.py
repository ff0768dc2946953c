"""Closed forms: the papers' formulas, their limits, and the flow they approximate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak import theory
from daybreak.theory import reduced
from daybreak.theory._setting import ToySetting
from tests.theory.drawn import settings


@given(st.integers(2, 10**6), st.integers(1, 10**4), st.floats(0.01, 0.99))
def test_escape_times_of_paper_a(T: int, d: int, eps: float) -> None:
    B = max(1, T // 7)
    x = np.sqrt(d) * T
    tied, free = (theory.escape_time(T, d, B, eps=eps, logits=logits) for logits in ("tied", "free"))
    assert tied == pytest.approx(x / (2 * B) * np.arcsinh(eps * x / B), rel=1e-12)
    assert free == pytest.approx(x / (2 * np.sqrt(B)) * np.arcsinh(eps * x / B**1.5), rel=1e-12)


@given(settings())
def test_escape_time_is_where_the_linearised_clean_loss_has_fallen(setting: ToySetting) -> None:
    T, d, B, p, free = setting
    logits = "free" if free else "tied"
    time = theory.escape_time(T, d, B, p, eps=0.3, logits=logits)
    linear = theory.linearised([time], float(T), float(d), float(B), float(p), logits=logits)
    assert linear.clean_loss[0] == pytest.approx(0.5 * (1 - 0.3), rel=1e-9)


def test_logarithmic_limit() -> None:
    ratio = theory.escape_time_log(T=[10, 1e3, 1e5], d=64) / theory.escape_time(T=[10, 1e3, 1e5], d=64)
    assert np.all(np.diff(np.abs(ratio - 1)) < 0)
    assert ratio[-1] == pytest.approx(1, abs=1e-10)


@given(settings(longest=10**6, widest=10**4))
def test_growth_rate_is_the_unstable_eigenvalue_for_long_sequences(setting: ToySetting) -> None:
    """Two derivations: the closed form, and the Jacobian of the flow at the start, for T → ∞."""
    T, d, B, p, free = setting
    far = setting._replace(T=T * 1e7)
    jacobian = -reduced.hessian(np.zeros(3), far) * np.array([1.0, 1.0, far.mobility])[:, None]
    # The start is not at rest: damping 1/(dT) of the weights remains, of relative size 1/(B√d).
    damping = 1 / (d * far.T)
    jacobian[0, 0] += damping
    jacobian[1, 1] += damping
    rate = theory.growth_rate(far.T, d, B, p, logits="free" if free else "tied")
    assert np.linalg.eigvals(jacobian).real.max() == pytest.approx(rate, rel=1e-3)


def test_factor_of_repetition_is_one_in_one_dimension() -> None:
    assert theory.growth_rate(100, 1, p=0.7) == theory.growth_rate(100, 1)


@pytest.mark.parametrize("logits", ["tied", "free"])
@pytest.mark.parametrize("B", [1, 4])
def test_takeoff_time_becomes_exact_for_long_sequences(logits, B: int) -> None:
    T = np.array([1e3, 1e5, 1e7])
    error = theory.takeoff_time(T, 256, B, logits=logits) / theory.plateau(T, 256, B, logits=logits) - 1
    assert np.all(np.diff(np.abs(error)) < 0)
    assert abs(error[-1]) < 2e-4


def test_plateau_estimate_is_as_good_as_its_docstring_says() -> None:
    T, d, B = (x.ravel() for x in np.meshgrid(2.0 ** np.arange(6, 13), 2.0 ** np.arange(4, 10), [1, 4, 16, 64]))
    T, d, B = (x[T / B >= 64] for x in (T, d, B))
    cases: list[tuple[theory.Logits, float]] = [("tied", 0.04), ("free", 0.06)]
    for logits, tolerance in cases:
        error = theory.plateau_estimate(T, d, B, logits=logits) / theory.plateau(T, d, B, logits=logits) - 1
        assert -tolerance <= error.min()
        assert error.max() <= 0


def test_linearised_dynamics_of_paper_a() -> None:
    time = np.linspace(0, 5000, 7)
    rate = theory.growth_rate(512, 64)
    linear = theory.linearised(time, 512, 64)
    np.testing.assert_allclose(linear.w, np.sinh(rate * time))
    np.testing.assert_allclose(linear.delta_a, np.cosh(rate * time) - 1)
    np.testing.assert_allclose(linear.loss, 0.5 * (1 - rate * np.sinh(2 * rate * time)))
    np.testing.assert_allclose(linear.clean_loss, linear.loss)
