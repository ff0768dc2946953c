"""The study of schedules on planted times: speed-ups, their intervals, and verdicts that follow from them."""

from pathlib import Path

import numpy as np
import pytest

from daybreak import studies
from daybreak.studies._study import Table
from daybreak.studies.emergence import schedules
from daybreak.training import Run
from tests.studies.emergence.planted import tables

_STUDY = studies.find("schedules")


def _times(adaptive: float, constant: float, clean_end: float = 0.99, off: float = 0.03) -> Table:
    """Five seeds of each condition; times are those of none, 1000 steps, divided by the given factors, with noise of 3 %."""
    rng, rows = np.random.default_rng(0), []
    for task in ("recall", "regression"):
        best = clean_end if task == "recall" else 1 - clean_end
        for condition, factor in {"none": 1.0, "B = 4": constant, "p = 0.5": 1.1, "adaptive, B = 4": adaptive}.items():
            for seed in range(5):
                time = 1000 / factor * np.exp(0.03 * rng.standard_normal())
                held = condition.startswith("adaptive")
                rows.append(
                    {
                        "task": task,
                        "condition": condition,
                        "seed": seed,
                        "emerged": 0.9 * time,
                        "emerged_censored": False,
                        "mastered": time,
                        "mastered_censored": False,
                        "clean_end": best if held else (0.8 if task == "recall" else 0.2),
                        "train_end": 1.0,
                        "restored": 300.0 * (1 + off) if held else 0.0,
                        "transition": 300.0,
                        "turns": int(held),
                    }
                )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _verdicts(times: Table) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in _STUDY.judge({"times": times, "curves": {}}).claims}


def test_a_planted_speed_up_is_found_within_its_interval() -> None:
    gain, interval = schedules.speed_up(_times(3.0, 2.5), "recall", "adaptive, B = 4", "none")
    assert interval.low < 3.0 < interval.high
    assert interval.low < gain < interval.high
    assert interval.high / interval.low < 1.2


def test_verdicts_follow() -> None:
    good = _verdicts(_times(3.0, 2.5))
    assert good == dict.fromkeys(("R4-recall", "R5-recall", "R4-regression", "R5-regression", "R6"), "holds")
    assert _verdicts(_times(1.2, 2.5))["R4-recall"] == "fails"
    assert _verdicts(_times(2.0, 2.5))["R4-recall"] == "undecided"
    assert _verdicts(_times(1.5, 2.5))["R5-recall"] == "fails", "later than the best constant"
    assert _verdicts(_times(3.0, 2.5, clean_end=0.7))["R5-recall"] == "fails", "loses its final accuracy"
    assert _verdicts(_times(3.0, 2.5, off=0.2))["R6"] == "fails"


def test_tables_are_read_off_records(tmp_path: Path) -> None:
    """Runs with repetition emerge twice as fast, on clean data 10 % later; adaptive ones have no repetition from there on."""

    def clean(run: Run) -> float:
        return 1000.0 if run.task.B == 1 and run.task.p == 0 else 500.0  # pyright: ignore[reportAttributeAccessIssue]

    planted = tables("schedules", tmp_path, clean, lambda run: clean(run) / 1.1)
    times = planted["times"]
    for task in ("recall", "regression"):
        gain, _ = schedules.speed_up(times, task, schedules.best_adaptive(times, task), "none")
        assert gain == pytest.approx(2, rel=0.1)
    adaptive = np.char.startswith(times["condition"].astype(str), "adaptive")
    assert np.all(times["restored"][adaptive] > 0)
    assert np.all(times["restored"][times["condition"] == "none"] == 0)
    switched = times["condition"] == "switch at 300, p = 0.9"
    np.testing.assert_allclose(times["restored"][switched], 300, rtol=0.05)
    findings = _STUDY.judge(planted)
    _STUDY.draw(planted, findings).savefig(tmp_path / "figure.png")
