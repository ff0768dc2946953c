"""Closed forms of the heads against the Jacobian of the flow and against its trajectories."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.theory.heads import HeadFlow, System, _velocity

FLOWS: list[HeadFlow] = ["logits", "published"]


_slopes = jax.jit(jax.jacfwd(_velocity), static_argnums=2)


def _jacobian(values: np.ndarray, logits: np.ndarray, system: System, flow: HeadFlow) -> np.ndarray:
    with jax.enable_x64():
        state = jnp.asarray(np.concatenate([values.ravel(), logits.ravel()]))
        return np.asarray(_slopes(state, jax.tree.map(jnp.asarray, system), flow))


@st.composite
def pairs(draw) -> theory.Patterns:
    blocks = draw(st.lists(st.integers(1, 6), min_size=2, max_size=2))
    weak = draw(st.floats(0.3, 3))
    strong = draw(st.floats(1.2, 3)) * weak * max(1, np.sqrt(blocks[0] / blocks[1]))
    return theory.patterns([strong, weak], blocks, T=sum(blocks) + draw(st.integers(1, 100)))


@given(pairs(), st.integers(2, 5), st.sampled_from(FLOWS))
@settings(max_examples=12)
def test_differences_between_heads_grow_at_the_closed_rate(task: theory.Patterns, H: int, flow: HeadFlow) -> None:
    """Two derivations: the closed form, and the fastest mode of the whole Jacobian with its sum over heads zero."""
    sigma, (first, _) = 1e-4, task.blocks
    sizes = np.append(task.blocks, task.T - task.blocks.sum()).astype(float)
    outside = task.T - first
    s = np.array([(1 - sigma * outside) / first, sigma, sigma])
    v = task.strengths * s[:2] / (H * np.sum(sizes * s**2))  # where values rest while attention is held
    system = System(task.strengths[:, None] * np.eye(2, 3) / task.blocks[:, None], sizes, np.ones(H))
    jacobian = _jacobian(np.tile(v, (H, 1)), np.tile(np.log(s), (H, 1)), system, flow)
    eigenvalues, modes = np.linalg.eig(jacobian)
    sums = np.abs(modes[: 2 * H].reshape(H, 2, -1).sum(axis=0)).max(axis=0)
    sums += np.abs(modes[2 * H :].reshape(H, 3, -1).sum(axis=0)).max(axis=0)
    growth = np.real(eigenvalues[sums < 1e-6]).max()
    assert growth == pytest.approx(theory.saddle_rate(task, sigma, flow=flow), rel=0.05)


@pytest.mark.parametrize("flow", FLOWS)
def test_differences_along_a_trajectory_grow_at_the_closed_rate(flow: HeadFlow) -> None:
    task = theory.patterns([3, 1.5], [1, 2], T=8)
    end = 0.5 * float(theory.saddle_time(task, 3, 1e-12, flow=flow))
    line = theory.head_flow(task, 3, eps=1e-12, flow=flow, times=np.linspace(0, end, 400))
    apart = np.log(np.abs(line.values[:, 0, 1] - line.values[:, 1, 1])[200:])
    sigma = line.mass[200:, 0, 1] / 2
    expected = np.trapezoid(theory.saddle_rate(task, sigma, flow=flow), line.t[200:])
    assert apart[-1] - apart[0] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize(("blocks", "T", "heads"), [(1, 8, 2), ([1, 3], 12, 3)])
def test_the_plateau_grows_as_the_square_of_the_logarithm_of_the_noise(
    flow: HeadFlow, blocks, T: int, heads: int
) -> None:
    """√t is linear in ln 1/ε with a slope that nothing is fitted to; constant terms drop out."""
    task = theory.patterns([2, 1], blocks, T=T)
    eps = np.array([1e-9, 1e-12])
    noise = np.zeros((heads, T))
    noise[:, task.labels == 1] = np.random.default_rng(0).uniform(-1, 1, heads)[:, None]
    times = [theory.head_flow(task, heads, start=x * noise, flow=flow).transitions[1] for x in eps]
    closed = np.sqrt(theory.saddle_time(task, heads, eps, flow=flow))
    assert np.diff(np.sqrt(times)) == pytest.approx(np.diff(closed), rel=0.05)


def test_attention_ages_as_stated() -> None:
    """σ² = H |block 1| / (2TDt), published σ = H/(Dt), with D = m_1² − m_2² |block 1|/|block 2|."""
    task, H, t = theory.patterns([3, 1], [2, 1], T=9), 4, np.array([0, 1e6])
    D = 9 - 2
    sigma = theory.head_flow(task, H, eps=0, times=t).mass[-1, 0, 1]
    assert sigma == pytest.approx(np.sqrt(H * 2 / (2 * 9 * D * 1e6)), rel=0.01)
    sigma = theory.head_flow(task, H, eps=0, flow="published", times=t).mass[-1, 0, 1]
    assert sigma == pytest.approx(H / (D * 1e6), rel=0.01)


@pytest.mark.parametrize("flow", FLOWS)
@given(st.floats(0.3, 10), st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=8)
def test_start_rates_are_the_unstable_eigenvalues_for_long_sequences(
    flow: HeadFlow, m: float, block: int, heads: int
) -> None:
    T = 10**8
    task = theory.patterns([m], block, T=T)
    system = System(np.array([[m / block, 0.0]]), np.array([float(block), float(T - block)]), np.array([float(heads)]))
    jacobian = _jacobian(np.zeros((1, 1)), np.zeros((1, 2)), system, flow)
    rate = theory.start_rates(task, heads, flow=flow)[0]
    assert np.linalg.eigvals(jacobian).real.max() == pytest.approx(rate, rel=1e-3)


def test_published_is_faster_by_the_number_of_blocks_that_fit() -> None:
    task = theory.patterns([4, 2, 1], 3, T=24)
    slow, fast = (theory.saddle_time(task, 3, 1e-6, flow=flow) for flow in FLOWS)
    assert slow / fast == pytest.approx(24 / 3)


def test_one_head_never_leaves_and_unordered_patterns_are_ordered() -> None:
    assert theory.saddle_time(theory.patterns([2, 1]), 1, 1e-6) == np.inf
    shuffled, ordered = theory.patterns([1, 4, 2]), theory.patterns([4, 2, 1])
    assert theory.saddle_time(shuffled, 3, 1e-6, pattern=3) == theory.saddle_time(ordered, 3, 1e-6, pattern=3)


def test_refusals(as_a_user: None) -> None:
    task = theory.patterns([2, 1])
    with pytest.raises(RequestError, match="sigma = 0 is not allowed"):
        theory.saddle_rate(task, 0)
    with pytest.raises(RequestError, match="eps = 0 is not allowed"):
        theory.saddle_time(task, 2, 0)
    with pytest.raises(RequestError, match="pattern = 3 is not allowed"):
        theory.saddle_rate(task, 0.1, pattern=3)
    with pytest.raises(RequestError, match="flow = 'true' is unknown"):
        theory.start_rates(task, 2, flow="true")  # pyright: ignore[reportArgumentType]
    with pytest.raises(RequestError, match="heads = 0 is not allowed"):
        theory.saddle_time(task, 0, 0.1)
    correlated = theory.patterns([2, 1], gram=[[1, 0.1], [0.1, 1]])
    with pytest.raises(RequestError, match="for orthogonal features"):
        theory.start_rates(correlated, 2)
