"""Plateau lengths: against an independent solver, in batches, at the edges, and what they leave behind."""

from importlib import import_module

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from daybreak import measure, theory
from daybreak.theory import reduced
from daybreak.theory._setting import check_setting


def _by_scipy(T: float, d: float, B: float, p: float, logits: theory.Logits, level: float) -> float:
    """SciPy's eighth-order solver, the field derived by hand, unscaled time."""
    setting = check_setting(T, d, B, p, logits)

    def field(_, state):
        return -reduced.gradient(state, setting) * np.array([1, 1, setting.mobility])

    def excess(_, state):
        return reduced.clean_loss(state, setting, np) - level / 2

    excess.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    end = 50 * theory.escape_time(T, d, B, p, logits=logits) + 100 * d / (1 - p)
    solution = solve_ivp(field, (0, end), np.zeros(3), method="DOP853", rtol=1e-11, atol=1e-12, events=excess)
    return float(solution.t_events[0][0])


plateau_module = import_module("daybreak.theory.plateau")  # the package's name `plateau` is the function

SETTINGS: list[tuple[float, float, float, float, theory.Logits, float]] = [
    (2, 1, 1, 0.0, "tied", 0.2),
    (16, 3, 15, 0.0, "free", 0.2),
    (64, 16, 1, 0.0, "tied", 0.2),
    (64, 16, 8, 0.3, "tied", 0.2),
    (64, 16, 8, 0.3, "free", 0.05),
    (300, 5, 7, 0.8, "free", 0.5),
    (1000, 100, 1, 0.01, "tied", 0.9),
]


def test_agrees_with_an_independent_solver() -> None:
    ours = [theory.plateau(T, d, B, p, logits=logits, level=level) for T, d, B, p, logits, level in SETTINGS]
    np.testing.assert_allclose(ours, [_by_scipy(*x) for x in SETTINGS], rtol=1e-6)


def test_stiff_flows_agree_with_an_independent_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the explicit rounds did not finish goes on with LSODA from where they stopped."""
    monkeypatch.setattr(plateau_module, "_ROUNDS", 1)
    p = np.linspace(0.9, 0.97, 12)
    ours = theory.plateau(64, 32, 2, p, logits="free")
    np.testing.assert_allclose(ours[::5], [_by_scipy(64, 32, 2, x, "free", 0.2) for x in p[::5]], rtol=1e-6)


def test_batches_equal_single_calls_and_compile_once() -> None:
    T = np.linspace(8, 4000, 1500)
    many = theory.plateau(T, 32, p=0.1)
    assert many.shape == T.shape
    few = theory.plateau(T[::300], 32, p=0.1)
    np.testing.assert_allclose(many[::300], few, rtol=1e-7)
    assert theory.plateau(T[0], 32, p=0.1) == pytest.approx(few[0], rel=1e-9)
    theory.plateau(T[:70], 32, B=[[1], [2]], level=0.3)
    assert plateau_module._round._cache_size() <= 1


def test_the_length_of_a_round_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow may cross its level in the last step of a round, or that step may be rejected: nothing may be lost."""
    T = np.linspace(20, 3000, 400)
    d, p = np.resize([16, 100], 400), np.resize([0.0, 0.1, 0.4], 400)
    plain = theory.plateau(T, d, p=p)
    plateau_module._round.clear_cache()
    monkeypatch.setattr(plateau_module, "_ROUND", 13)
    monkeypatch.setattr(plateau_module, "_FEW", 0)
    monkeypatch.setattr(plateau_module._lsoda, "crossing", lambda *_: pytest.fail("no flow here is stiff"))
    np.testing.assert_allclose(theory.plateau(T, d, p=p), plain, rtol=1e-7)
    plateau_module._round.clear_cache()


def test_broadcasts_over_all_arguments() -> None:
    found = theory.plateau(T=[[64], [128]], d=[4, 8, 16], level=np.full((5, 1, 1), 0.2))
    assert found.shape == (5, 2, 3)
    assert np.all(np.diff(found, axis=1) > 0)
    assert np.all(np.diff(found, axis=2) > 0)
    assert theory.plateau(T=[], d=4).shape == (0,)


def test_repetition_vanishes_continuously() -> None:
    plain = theory.plateau(512, 64)
    small = theory.plateau(512, 64, p=[1e-3, 1e-5, 1e-7, 1e-12])
    assert np.all(np.abs(small / plain - 1) <= [1e-4, 1e-7, 1e-7, 1e-7])


def test_one_dimension_knows_no_repetition() -> None:
    """With d = 1 the repeated token is the only direction: p changes nothing."""
    assert theory.plateau(512, 1, p=0.5) == pytest.approx(theory.plateau(512, 1), rel=1e-6)


@pytest.mark.parametrize("logits", ["tied", "free"])
def test_extremes_have_answers(logits) -> None:
    huge = theory.plateau(1e7, 64, logits=logits)
    assert huge == pytest.approx(theory.plateau_estimate(1e7, 64, logits=logits), rel=1e-3)
    # All places but one are relevant: attention is right from the start, only the weights learn, at rate 1/d.
    assert theory.plateau(512, 64, B=511, logits=logits) == pytest.approx(64 * np.log(5) / 2, rel=0.01)
    # Hardly ever anything but the repeated token: the other directions learn at rate (1−p)/d.
    rare = theory.plateau(512, 64, p=[0.99999, 0.999999], logits=logits)
    assert rare[1] / rare[0] == pytest.approx(10, rel=0.1)


def test_measured_on_a_trajectory_it_is_the_same() -> None:
    """One measurement code for theory and experiment."""
    line = theory.flow(256, 32, B=2, p=0.2)
    read_off = measure.plateau(line.t, line.clean_loss, level=0.1)
    assert read_off.length == pytest.approx(theory.plateau(256, 32, B=2, p=0.2), rel=0.01)


def test_float64_does_not_leak() -> None:
    theory.plateau(64, 16)
    assert jax.numpy.ones(3).dtype == jax.numpy.float32
    assert not jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
