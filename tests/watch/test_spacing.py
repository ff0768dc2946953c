"""Probes are spaced by a clock that the test moves."""

from itertools import pairwise

import pytest

from daybreak.errors import RequestError
from daybreak.watch.spacing import Spacing


def _simulate(spacing: Spacing, steps: int, seconds: float, cost: float, value=lambda step: 0.01) -> list[int]:
    probed = []
    for step in range(steps):
        if spacing.due(step, seconds if step else 0.0):
            probed.append(step)
            spacing.probed(step, cost, value(step))
    return probed


@pytest.mark.parametrize("cost", [0.001, 0.05, 1.0])
def test_share_is_kept(cost: float) -> None:
    spacing = Spacing(0.01)
    probed = _simulate(spacing, 20_000, 0.1, cost)
    assert len(probed) > 5
    assert spacing.cost <= 0.01
    assert spacing.cost == pytest.approx(len(probed) * cost / (19_999 * 0.1 + len(probed) * cost))


def test_denser_when_something_moves() -> None:
    def rises(step: int) -> float:
        return 0.01 if step < 1000 else 0.01 * 1.01 ** (step - 1000)

    flat = _simulate(Spacing(0.01), 1200, 0.1, 0.005)
    moving = _simulate(Spacing(0.01), 1200, 0.1, 0.005, rises)
    late = [step for step in flat if step >= 1050]
    assert len([step for step in moving if step >= 1050]) >= 2 * len(late) > 0
    assert [step for step in moving if step < 1000] == [step for step in flat if step < 1000]


def test_share_is_kept_by_a_curve_that_always_moves() -> None:
    """Four tenths of the share are left for the first probe, which is not waited for, and for what no clock here sees."""
    spacing = Spacing(0.01)
    probed = _simulate(spacing, 1000, 0.035, 0.0065, lambda step: 0.01 * 1.01**step)
    assert spacing.moving
    assert len(probed) > 25
    assert spacing.cost <= 0.0065


def test_probes_pay_for_rows() -> None:
    """What is spent between probes, on rows of the loss, is in the share; fewer probes are taken for it."""
    rows, none = Spacing(0.01), Spacing(0.01)
    probed = 0
    for step in range(5000):
        if rows.due(step, 0.1):
            probed += 1
            rows.probed(step, 0.02, 0.01 * 1.001**step)
        elif step % 10 == 0:
            rows.worked(0.003)
    alone = _simulate(none, 5000, 0.1, 0.02, lambda step: 0.01 * 1.001**step)
    assert rows.cost <= 0.01
    assert len(alone) / 2 < probed < len(alone)


def test_a_burst_is_not_followed_by_a_gap() -> None:
    """The score moves at the very start, as all do, and then noise moves it around zero."""

    def value(step: int) -> float:
        return 0.015 * 0.97**step if step < 100 else 0.0005 + 0.0002 * (step % 3)

    probed = _simulate(Spacing(0.01, least=0.015), 3000, 0.1, 0.02, value)
    assert max(b - a for a, b in pairwise(probed)) <= 70  # 0.35 of the share pays for one in 57 steps
    late = [b - a for a, b in pairwise(probed) if a > 200]
    assert min(late) >= 40  # noise is not movement: half of the share


def test_an_expensive_probe_waits() -> None:
    assert _simulate(Spacing(0.01), 1000, 0.01, 1.0) == [0, 1]  # ten seconds of training do not pay for a third one


def test_every_is_exact() -> None:
    assert _simulate(Spacing(0.01, every=7), 30, 0.01, 1.0) == [0, 7, 14, 21, 28]


@pytest.mark.parametrize(("share", "every"), [(0.0, None), (1.5, None), (0.01, 0)])
def test_bad_values(share: float, every: int | None) -> None:
    with pytest.raises(RequestError):
        Spacing(share, every)
