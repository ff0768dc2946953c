"""The online question: it answers yes soon after a loss has fallen, and never on flat noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure import has_left_plateau


def _first(values: np.ndarray, fraction: float = 0.2) -> int | None:
    return next((n for n in range(1, values.size + 1) if has_left_plateau(values[:n], fraction)), None)


def test_it_never_fires_on_a_thousand_curves_of_flat_noise() -> None:
    """Normal and heavy-tailed noise, from 1 % of the loss to as large as the loss itself, asked after every evaluation."""
    rng = np.random.default_rng(7)
    for curve in range(1000):
        noise = rng.standard_normal(60) if curve % 2 else rng.standard_t(3, 60)
        loss = np.abs(0.5 + 0.5 * 10 ** rng.uniform(-2, 0) * noise)
        assert _first(loss) is None, f"curve {curve}"


@given(
    length=st.integers(8, 200),
    drop=st.integers(1, 12),
    noise=st.floats(0, 0.05),
    start=st.floats(0.5, 8.0),
    seed=st.integers(0, 99),
)
def test_it_fires_two_evaluations_after_the_loss_has_come_down(
    length: int, drop: int, noise: float, start: float, seed: int
) -> None:
    """A plateau of any length, with whatever the loss loses in its first two evaluations, then a ramp to nothing."""
    steps = np.arange(length + drop + 8)
    loss = np.interp(steps, [length, length + drop], [0.5, 0.0]) + 0.02
    loss[:2] += [start, start / 8]
    loss *= 1 + noise * np.clip(np.random.default_rng(seed).standard_normal(steps.size), -2, 2)
    fired = _first(loss)
    assert fired is not None
    assert length < fired - 1 <= length + drop + 2


def test_one_wild_evaluation_is_not_a_transition() -> None:
    loss = np.full(40, 0.5)
    loss[20] = 0.01
    assert _first(loss) is None


def test_what_it_cannot_tell_is_no() -> None:
    assert not has_left_plateau([])
    assert not has_left_plateau([0.5, 0.5, 0.01, 0.01])
    assert not has_left_plateau([0.5] * 10 + [np.nan, np.nan])
    with pytest.raises(RequestError, match="fraction"):
        has_left_plateau([0.5] * 10, fraction=1.5)
