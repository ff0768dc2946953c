"""The flow of heads: by autodiff and by hand, in a few numbers and in all d² of them, in groups and one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from daybreak import theory
from daybreak.theory.head_flow import _group
from daybreak.theory.heads import HeadFlow, System, _explicit, _lsoda, _velocity, attention, integrate, loss
from tests.theory import drawn

FLOWS: list[HeadFlow] = ["logits", "published"]


def _softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _positions(task: theory.Patterns, heads: int) -> System:
    """Every head and every position for itself."""
    shares = (task.labels == np.arange(task.K)[:, None]) / task.blocks[:, None]
    return System(task.features @ (task.strengths[:, None] * shares), np.ones(task.T), np.ones(heads))


def _moves(values: np.ndarray, logits: np.ndarray, system: System, flow: HeadFlow) -> tuple[np.ndarray, np.ndarray]:
    with jax.enable_x64():
        state = jnp.asarray(np.concatenate([values.ravel(), logits.ravel()]))
        parts = np.split(np.asarray(_velocity(state, jax.tree.map(jnp.asarray, system), flow)), [values.size])
    return parts[0].reshape(values.shape), parts[1].reshape(logits.shape)


def _ambient(task: theory.Patterns, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random orthonormal d × d matrices, the features V*_k made of them, and the target tensor."""
    d = 3
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((d * d, task.K)))[0].T.reshape(task.K, d, d)
    features = np.einsum("jk,jab->kab", task.features, basis)
    shares = (task.labels == np.arange(task.K)[:, None]) / task.blocks[:, None]
    return basis, features, np.einsum("k,kab,kt->abt", task.strengths, features, shares)


def _by_hand(V: np.ndarray, a: np.ndarray, target: np.ndarray, flow: HeadFlow) -> tuple[np.ndarray, np.ndarray]:
    """dV_h/dt = R·s_h, and ds_h/dt = Π(s_h)² (R·V_h), or with Π once (paper B, §3.1)."""
    s = _softmax(a)
    R = target - np.einsum("hab,ht->abt", V, s)
    dV, slope = np.einsum("abt,ht->hab", R, s), np.einsum("abt,hab->ht", R, V)
    Pi = np.stack([np.diag(x) - np.outer(x, x) for x in s])
    once = np.einsum("htu,hu->ht", Pi, slope)
    return dV, once if flow == "published" else np.einsum("htu,hu->ht", Pi, once)


@given(drawn.tasks(correlated=True), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(FLOWS))
@settings(max_examples=15)
def test_autodiff_is_the_flow_derived_by_hand_for_all_parameters(
    task: theory.Patterns, heads: int, seed: int, flow: HeadFlow
) -> None:
    """Also: R·s_h has no part outside the span of the features, so V never leaves it."""
    draw = np.random.default_rng(seed)
    basis, _, target = _ambient(task, seed)
    values, a = draw.standard_normal((heads, task.K)), draw.standard_normal((heads, task.T))
    dV, ds = _by_hand(np.einsum("hj,jab->hab", values, basis), a, target, flow)
    dv, da = _moves(values, a, _positions(task, heads), flow)
    np.testing.assert_allclose(np.einsum("hj,jab->hab", dv, basis), dV, atol=1e-9)
    s = _softmax(a)
    ours = s * (da - np.sum(s * da, axis=1, keepdims=True))
    np.testing.assert_allclose(ours, ds, atol=1e-9)


@given(drawn.tasks(correlated=True), st.integers(0, 10**6), st.sampled_from(FLOWS))
@settings(max_examples=10)
def test_groups_move_as_their_members_do(task: theory.Patterns, seed: int, flow: HeadFlow) -> None:
    draw = np.random.default_rng(seed)
    few = draw.standard_normal((2, task.K + 1))[:, task.labels][[0, 1, 0, 0]]
    system, logits, heads, places = _group(task, few)
    values = draw.standard_normal((logits.shape[0], task.K))
    np.testing.assert_array_equal(logits[heads][:, places], few)
    small = _moves(values, logits, system, flow)
    large = _moves(values[heads], few, _positions(task, 4), flow)
    for group, member, index in zip(small, large, (slice(None), places), strict=True):
        np.testing.assert_allclose(group[heads][:, index], member, atol=1e-9)


@given(drawn.tasks(), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from(FLOWS))
@settings(max_examples=10)
def test_equal_heads_follow_the_coupled_dynamics(task: theory.Patterns, H: int, seed: int, flow: HeadFlow) -> None:
    """dv_k/dt = m_k⟨s, s*_k⟩ − H‖s‖²v_k, ds/dt = Π(s)² [Σ_k m_k v_k s*_k − H‖v‖² s] (paper B, §3.2)."""
    draw = np.random.default_rng(seed)
    v, a = draw.standard_normal(task.K), draw.standard_normal(task.T)
    s, Pi = _softmax(a), np.diag(_softmax(a)) - np.outer(_softmax(a), _softmax(a))
    shares = (task.labels == np.arange(task.K)[:, None]) / task.blocks[:, None]
    pull = Pi @ ((task.strengths * v) @ shares - H * (v @ v) * s)
    system = _positions(task, 1)._replace(copies=np.array([float(H)]))
    dv, da = (x[0] for x in _moves(v[None], a[None], system, flow))
    np.testing.assert_allclose(dv, task.strengths * (shares @ s) - H * (s @ s) * v, atol=1e-9)
    np.testing.assert_allclose(Pi @ da, pull if flow == "published" else Pi @ pull, atol=1e-9)


@pytest.mark.parametrize("flow", FLOWS)
def test_all_parameters_of_the_model_follow_the_few(flow: HeadFlow) -> None:
    """The d² + T parameters of each head from V = 0, with Π written out, integrated by another solver."""
    task = theory.patterns([2, 1], [1, 2], T=4, gram=[[1, 0.4], [0.4, 1]])
    line = theory.head_flow(task, 2, eps=0.3, flow=flow, times=[0, 2, 5, 20])
    basis, features, target = _ambient(task, 1)
    d = basis.shape[1]
    first = line.attention[0]

    def field(_, state):
        V, s = state[: 2 * d * d].reshape(2, d, d), state[2 * d * d :].reshape(2, -1)
        dV, ds = _by_hand(V, np.log(s), target, flow)
        return np.concatenate([dV.ravel(), ds.ravel()])

    start = np.concatenate([np.zeros(2 * d * d), first.ravel()])
    states = solve_ivp(field, (0, 20), start, method="DOP853", t_eval=line.t, rtol=1e-10, atol=1e-12).y.T
    np.testing.assert_allclose(line.attention.reshape(4, -1), states[:, 2 * d * d :], atol=1e-7)
    V = states[:, : 2 * d * d].reshape(4, 2, d, d)
    np.testing.assert_allclose(line.values, np.einsum("nhab,kab->nhk", V, features), atol=1e-7)


def test_the_loss_is_what_sampling_gives() -> None:
    """Monte Carlo of ½ E‖y − ŷ‖² with noise in y, within four standard errors."""
    task = theory.patterns([2, 1], [2, 1], T=5, gram=[[1, -0.3], [-0.3, 1]])
    draw = np.random.default_rng(3)
    H, n, sigma = 3, 200_000, 0.5
    basis, _, target = _ambient(task, 2)
    values, s = draw.standard_normal((H, task.K)), _softmax(draw.standard_normal((H, task.T)))
    residual = target - np.einsum("hj,jab,ht->abt", values, basis, s)
    X = draw.standard_normal((n, 3, task.T))
    errors = np.einsum("abt,nbt->na", residual, X) + sigma * draw.standard_normal((n, 3))
    losses = 0.5 * np.sum(errors**2, axis=1)
    expected = loss(values, s, _positions(task, H), np) + 0.5 * 3 * sigma**2
    assert expected == pytest.approx(losses.mean(), abs=4 * losses.std() / np.sqrt(n))


@pytest.mark.parametrize("flow", FLOWS)
def test_equal_heads_one_by_one_are_the_coupled_flow(flow: HeadFlow) -> None:
    task = theory.patterns([2, 1], [2, 1], T=5)
    times = np.array([0.0, 3.0, 10.0, 60.0])
    coupled = theory.head_flow(task, 3, eps=0, flow=flow, times=times)
    values, logits = integrate(_positions(task, 3), np.zeros((3, task.T)), times, flow)
    np.testing.assert_allclose(values @ task.features, coupled.values, atol=1e-6)
    np.testing.assert_allclose(attention(logits, np.ones(task.T), np), coupled.attention, atol=1e-6)


def test_both_solvers_agree_and_a_tighter_tolerance_changes_nothing() -> None:
    """Over a whole staircase from noise of 1e-12, which is far below the tolerance."""
    task = theory.patterns([2, 1], T=4)
    logits = 1e-12 * np.random.default_rng(0).uniform(-1, 1, (2, 4))
    times = np.linspace(0, 2000, 9)
    with jax.enable_x64():
        states = [
            solve(_positions(task, 2), logits, times, "logits", rtol)
            for solve, rtol in ((_lsoda, 1e-9), (_lsoda, 1e-11), (_explicit, 1e-9))
        ]
    assert np.abs(states[0][-1, :2] - states[0][-1, 2:4]).max() > 0.1, "the heads have parted"
    for other in states[1:]:
        np.testing.assert_allclose(other, states[0], atol=2e-3)


def test_a_flow_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daybreak.theory.heads._MAX_STEPS", 8)
    with pytest.raises(ArithmeticError, match="more than 8 steps"):
        theory.head_flow(theory.patterns([2, 1], T=40), 2, times=[0, 1000])
