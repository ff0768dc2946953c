"""Probes on attention, losses and hidden states whose answer is known."""

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.watch import probes
from daybreak.watch.batch import ProbeBatch, repeated_tokens

BATCH = repeated_tokens(range(100), L=6, sequences=3)
LENGTH = 12


def _to(target: np.ndarray) -> np.ndarray:
    """Attention of two heads: the first attends to `target[i]` from i, the second to all of the past equally."""
    sharp = np.eye(LENGTH)[np.maximum(target, 0)]
    uniform = np.tril(np.ones((LENGTH, LENGTH))) / np.arange(1, LENGTH + 1)[:, None]
    return np.broadcast_to(np.stack([sharp, uniform]), (3, 2, LENGTH, LENGTH)).astype(np.float32)


PLACE = np.arange(LENGTH)
UNIFORM = 1 / np.arange(1, LENGTH + 1)


@pytest.mark.parametrize(
    ("probe", "back", "uniform"),
    [
        (probes.induction, 5, UNIFORM[6:].mean()),
        (probes.previous_token, 1, UNIFORM[2:].mean()),
        (probes.duplicate_token, 6, UNIFORM[7:].mean()),
        (probes.sink, 12, UNIFORM[1:].mean()),
    ],
)
def test_positions(probe: probes.Probe, back: int, uniform: float) -> None:
    """Each finds its own position and not those of the others; uniform attention is at chance."""
    np.testing.assert_allclose(probe(_to(PLACE - back), BATCH), [1, uniform], rtol=1e-6)
    for other in {5, 1, 6, 12} - {back}:
        assert probe(_to(PLACE - other), BATCH)[0] < 0.6  # targets before the start are at position 0


def test_entropy_is_relative_and_without_the_sink() -> None:
    np.testing.assert_allclose(probes.entropy(_to(PLACE - 1), BATCH), [0, 1], atol=1e-9)
    half = 0.5 * _to(PLACE - 12) + 0.5 * _to(PLACE)[:, [1]]  # half of uniform attention moved to the first position
    np.testing.assert_allclose(probes.entropy(half, BATCH)[0], 1, atol=1e-6)


def test_attention_to_relevant_positions() -> None:
    def first_copy(tokens: np.ndarray) -> np.ndarray:
        same = tokens[:, :, None] == tokens[:, None, :]
        return same & (PLACE[None, :, None] > PLACE[None, None, :])

    to = probes.attention_to(first_copy)
    np.testing.assert_allclose(to(_to(PLACE - 6), BATCH), [1, UNIFORM[6:].mean()], rtol=1e-6)
    nothing = probes.attention_to(lambda tokens: np.zeros((3, LENGTH, LENGTH), bool))
    assert np.isnan(nothing(_to(PLACE), BATCH)).all()


def test_copying_is_the_gain_on_the_second_copy() -> None:
    losses = np.r_[np.full(5, 4.0), 9.0, np.full(5, 1.5)]  # the first token of the copy cannot be known
    assert probes.copying(np.tile(losses, (3, 1)), BATCH) == pytest.approx(2.5)


def test_in_context_learning_score() -> None:
    losses = np.tile(np.linspace(5, 3, 600), (2, 1))
    score = probes.in_context_learning()(losses, BATCH)
    assert score == pytest.approx(losses[0, 499] - losses[0, 49])
    assert probes.in_context_learning(10, 20)(losses, BATCH) == pytest.approx(losses[0, 19] - losses[0, 9])
    short = probes.in_context_learning()(losses[:, :100], BATCH)
    assert short == pytest.approx(losses[0, 99] - losses[0, 9])


def test_similarity_of_hidden_states() -> None:
    same = np.ones((2, 5, 3))
    across = np.stack([np.eye(6, 8)] * 2)
    opposite = np.array([[[1.0], [1.0], [-1.0]]])  # the first position does not count
    assert probes.hidden_similarity(same, BATCH) == pytest.approx(1)
    assert probes.hidden_similarity(across, BATCH) == pytest.approx(0)
    assert probes.hidden_similarity(opposite, BATCH) == pytest.approx(-1)
    h = np.random.default_rng(0).normal(size=(1, 7, 4))
    unit = h[0, 1:] / np.linalg.norm(h[0, 1:], axis=1, keepdims=True)
    pairs = (unit @ unit.T)[~np.eye(6, dtype=bool)]
    assert probes.hidden_similarity(h, BATCH) == pytest.approx(pairs.mean())


def test_a_function_that_is_no_probe_is_refused() -> None:
    with pytest.raises(RequestError, match="probe 'mine' is not allowed"):
        probes.reads("mine", lambda x: x)
    assert {name: probes.reads(name, probe) for name, probe in probes.DEFAULT.items()}["copying"] == "losses"


def test_probe_batch_is_the_same_every_time_and_without_repetition_in_a_copy() -> None:
    again = repeated_tokens(range(100), L=6, sequences=3)
    assert (again.tokens == BATCH.tokens).all()
    assert all(
        len(set(row[:6])) == 6 and (row[:6] == row[6:]).all()
        for row in BATCH.tokens.tolist()
        for row in [np.array(row)]
    )
    assert not (BATCH.tokens[0] == BATCH.tokens[1]).all()
    assert set(repeated_tokens([7, 8, 9, 11], L=50).tokens.ravel()) == {7, 8, 9, 11}
    assert repeated_tokens(range(1000), context=31).tokens.shape == (4, 30)
    assert isinstance(BATCH, ProbeBatch) and BATCH.second.tolist() == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(("ids", "context", "why"), [(3, None, "3 token ids"), (100, 7, "a context of 7")])
def test_no_probe_batch(ids: int, context: int | None, why: str) -> None:
    with pytest.raises(RequestError, match=f"no probe batch for {why}"):
        repeated_tokens(range(ids), context=context)
