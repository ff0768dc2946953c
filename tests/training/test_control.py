"""The controller of repetition: when it takes repetition away, and when it brings it back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.training import Schedule, Stop
from daybreak.training.control import RepetitionControl
from daybreak.training.presets import PRESETS

ADAPTIVE = Schedule(name="adaptive")


def _rows(train_loss: list[float], clean_loss: list[float] | None = None) -> list[dict]:
    clean = clean_loss or train_loss
    return [
        {"train_loss": np.float32(x), "clean_loss": np.float32(y), "attention": np.full((1, 1), 0.1)}
        for x, y in zip(train_loss, clean, strict=True)
    ]


def _decisions(control: RepetitionControl, rows: list[dict]) -> list[bool]:
    made = []
    for i, row in enumerate(rows):
        control.see(10 * i, row)
        made.append(control.repeats)
    return made


def test_diversity_is_restored_at_the_transition_and_stays() -> None:
    control = RepetitionControl(ADAPTIVE, level=0.1, budget=1000)
    falling = [0.5] * 10 + [0.3, 0.09, 0.05] + [0.04] * 30
    made = _decisions(control, _rows(falling, [0.5] * 14 + [0.2] * 29))
    assert made == [True] * 12 + [False] * 31


def test_repetition_returns_if_the_learner_is_stuck_again() -> None:
    """Clean loss still on its plateau after as many steps as repetition took; it then has as long to leave it."""
    control = RepetitionControl(ADAPTIVE, level=0.1, budget=1000)
    made = _decisions(control, _rows([0.5] * 10 + [0.05] * 20, [0.5] * 30))
    off = made.index(False)
    assert off == 11
    assert made[off : 2 * off] == [False] * off
    assert made[2 * off :] == [True] * (30 - 2 * off)


@given(st.lists(st.floats(0.0, 1.0, width=32), min_size=20, max_size=80))
def test_whatever_the_losses_it_never_flutters(losses: list[float]) -> None:
    """Between two changes of mind lie at least as many evaluations as it takes to see a plateau."""
    made = np.array(_decisions(RepetitionControl(ADAPTIVE, level=0.1, budget=1000), _rows(losses)))
    turns = np.flatnonzero(made[1:] != made[:-1])
    assert np.all(np.diff(turns) >= 6)


def test_a_budget_that_suffices_is_not_interfered_with() -> None:
    """Attention that grows towards a transition at step 600, as seen by runs with different budgets."""
    from scipy import special

    steps = np.arange(0, 410, 10)
    odds = np.exp(special.erfinv(steps / 600) ** 2) / 63
    rows = [
        {"train_loss": 0.5, "clean_loss": 0.5, "attention": np.full((1, 1), x)} for x in (odds / (1 + odds)).tolist()
    ]
    assert not any(_decisions(RepetitionControl(Schedule(name="budget"), level=0.1, budget=5000), rows))
    assert any(_decisions(RepetitionControl(Schedule(name="budget"), level=0.1, budget=450), rows))


def test_without_evidence_it_waits_for_a_quarter_of_the_budget() -> None:
    made = _decisions(RepetitionControl(Schedule(name="budget"), level=0.1, budget=800), _rows([0.5] * 40))
    assert made.index(True) == 20


def _attending(attention: list[float]) -> list[dict]:
    """A loss that falls all the time, as that of text does, and two heads of which one attends."""
    return [
        {"train_loss": 5.0 - 0.01 * i, "clean_loss": 5.0 - 0.01 * i, "attention": np.array([[0.01, x]])}
        for i, x in enumerate(attention)
    ]


def test_attention_decides_if_the_stop_rule_watches_it() -> None:
    """Off after two evaluations at the level; a single one does not count."""
    control = RepetitionControl(ADAPTIVE, level=0.3, budget=1000, watch="attention")
    seen = [0.01] * 5 + [0.35, 0.2, 0.35, 0.4] + [0.2] * 20
    assert _decisions(control, _attending(seen)) == [True] * 8 + [False] * 21


def test_repetition_returns_if_attention_is_lost() -> None:
    control = RepetitionControl(ADAPTIVE, level=0.3, budget=1000, watch="attention")
    made = _decisions(control, _attending([0.01] * 3 + [0.4] * 5 + [0.14, 0.2, 0.14, 0.14, 0.14]))
    assert made == [True] * 4 + [False] * 7 + [True] * 2


@given(st.lists(st.floats(0.0, 1.0, width=32), min_size=5, max_size=60))
def test_whatever_attention_does_it_never_flutters(attention: list[float]) -> None:
    made = np.array(
        _decisions(RepetitionControl(ADAPTIVE, level=0.3, budget=1000, watch="attention"), _attending(attention))
    )
    assert np.all(np.diff(np.flatnonzero(made[1:] != made[:-1])) >= 2)


def test_without_a_level_there_is_nothing_to_wait_for() -> None:
    with pytest.raises(RequestError, match="schedule = 'adaptive' is not allowed at level = 0: it waits for the level"):
        replace(PRESETS["text-induction"], schedule=ADAPTIVE, stop=Stop(level=0.0, watch="attention"))
