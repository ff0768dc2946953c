"""Where w rests, and the curvature of the loss along the flow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.theory import reduced
from daybreak.theory._setting import check_setting


@given(st.integers(2, 4096), st.integers(1, 512), st.floats(1e-4, 1))
def test_at_equilibrium_the_gradient_of_w_vanishes(T: int, d: int, share: float) -> None:
    B = max(1, T // 5)
    setting = check_setting(T, d, B, 0.0, "tied")
    signal = share * (1 - 1e-6)
    delta_a = np.log((T - B) / (B / signal - B))
    w = theory.w_equilibrium(signal / B, T, d, B)
    state = np.array([w / np.sqrt(d), w * np.sqrt(1 - 1 / d), delta_a])
    gradient = reduced.gradient(state, setting)
    assert gradient[:2] == pytest.approx([0, 0], abs=1e-9)


def test_attention_above_one_is_refused() -> None:
    with pytest.raises(RequestError, match="alpha is not allowed"):
        theory.w_equilibrium(0.6, T=16, d=4, B=2)


def test_sharpness_at_the_start_is_the_growth_rate() -> None:
    """Paper A, A.3.2: eigenvalues ±B/(√d T) for large T and d."""
    line = theory.flow(1e6, 1e4, times=[0, 1])
    smallest, largest = theory.sharpness(line)
    rate = theory.growth_rate(1e6, 1e4)
    assert [smallest[0] / rate, largest[0] / rate] == pytest.approx([-1, 1], rel=0.01)


def test_late_hessian_flattens_along_delta_a() -> None:
    """At w∞ and Bα = 1 − ε the Hessian tends to diag(1/d, ε² (T+1)/(T−1)); the paper prints ε for ε²."""
    T, d, epsilon = 64, 16, 1e-3
    delta_a = np.log((T - 1) * (1 - epsilon) / epsilon)
    w = theory.w_equilibrium(1 - epsilon, T, d)
    setting = check_setting(T, d, 1, 0.0, "tied")
    hessian = reduced.hessian(np.array([w / np.sqrt(d), w * np.sqrt(1 - 1 / d), delta_a]), setting)
    assert hessian[2, 2] == pytest.approx(epsilon**2 * (T + 1) / (T - 1), rel=0.01)
    assert hessian[0, 0] == pytest.approx(1 / d, rel=0.01)


def test_with_repetition_all_three_directions_count() -> None:
    smallest, largest = theory.sharpness(theory.flow(64, 16, p=0.5))
    assert smallest[0] < 0 < largest[0]
    assert smallest[-1] > -1e-6
