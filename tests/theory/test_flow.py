"""Trajectories: they go downhill, end where the mathematics says, and do not depend on who integrates them."""

import numpy as np
import pytest
from hypothesis import given, settings

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.theory import _lsoda, reduced
from daybreak.theory._setting import ToySetting
from tests.theory import drawn


@given(drawn.settings(longest=512, widest=64))
@settings(max_examples=25)
def test_the_training_loss_only_falls_and_ends_near_zero(setting: ToySetting) -> None:
    T, d, B, p, free = (float(x) for x in setting)
    line = theory.flow(T, d, B, p, logits="free" if free else "tied")
    assert line.loss[0] == pytest.approx(0.5)
    assert np.all(np.diff(line.loss) <= 1e-9)
    assert line.clean_loss[-1] <= 0.1
    assert np.all(np.diff(line.alpha) >= -1e-9)
    assert line.alpha[-1] <= 1 / B


def test_without_repetition_w_is_the_two_variable_w() -> None:
    """Eqs. 3 and 4 of paper A, integrated independently by Euler steps."""
    T, d = 64, 16
    w, delta_a, step = 0.0, 0.0, 0.05
    end = 0.9 * float(theory.plateau(T, d))
    for _ in range(round(end / step)):
        alpha = 1 / ((T - 1) * np.exp(-delta_a) + 1)
        error = (np.sqrt(d) - alpha * w) / d
        noise = (1 - alpha) * w / (d * (T - 1))
        w, delta_a = (
            w + step * (alpha * error - (1 - alpha) * noise),
            delta_a + step * alpha * (1 - alpha) * w * (error + noise),
        )
    line = theory.flow(T, d, times=[0, round(end / step) * step])
    assert line.w[-1] == pytest.approx(w, rel=2e-3)
    assert line.delta_a[-1] == pytest.approx(delta_a, rel=2e-3)


def test_explicit_and_stiff_solver_agree() -> None:
    line = theory.flow(128, 16, p=0.6)
    scale = float(theory.growth_rate(128, 16, p=0.6))
    other = _lsoda.states(reduced.loss_three, line.setting, scale, np.zeros(3), line.t)
    np.testing.assert_allclose(line.state.T, other, rtol=1e-6, atol=1e-7)


def test_stiff_flows_are_integrated() -> None:
    line = theory.flow(512, 64, p=0.9999)
    assert line.clean_loss[-1] < 0.1 < line.clean_loss[100]


def test_one_setting_at_a_time() -> None:
    with pytest.raises(RequestError, match="one setting at a time"):
        theory.flow([64, 128], 16)
