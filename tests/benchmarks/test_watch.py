"""Forecasts at half of a plateau, by the command itself: from a run alone, and with the other seeds of a lab. Planted plateaus."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.report import Report
from benchmarks.watch import SEEDS, at_half, report_forecasts, trained

from daybreak.lab import ObservedRun

PLATEAUS = dict(zip(SEEDS, (1000, 1100, 1050), strict=True))


def _plant(lab: Path, name: str, seed: int, plateau: int, batch: int = 8) -> None:
    run = ObservedRun.begin(lab, name, {"batch": batch, "seed": seed}, curve="induction", level=0.3, direction="up")
    steps = np.arange(0, plateau + 50, 50)
    run.extend(steps, {"induction": np.where(steps < plateau, 0.01, 0.3).astype(np.float32)[:, None]})
    run.finish()


def test_a_seed_is_forecast_by_the_other_two(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    assert trained(lab) == {}
    for seed, plateau in PLATEAUS.items():
        _plant(lab, "trainer", seed, plateau)
    _plant(lab, "plain-loop", SEEDS[0], 5000, batch=16)
    runs = trained(lab)
    assert {seed: plateau for seed, (_, plateau, _) in runs.items()} == PLATEAUS
    found = at_half(lab, *runs[SEEDS[2]])
    assert found["truth"] == 1050
    assert "none" in found["alone"]
    assert found["with_lab"]["other_runs"] == 2
    assert found["with_lab"]["error"] == pytest.approx(0, abs=1)
    assert found["with_lab"]["holds"]
    assert at_half(lab, "never", 8000.0, True) == {"run": "never", "truth": None}


def test_rows_count_what_was_promised() -> None:
    document = Report("watch")
    good, far = {"median": 1.0, "error": -20.0, "holds": True}, {"median": 1.0, "error": 40.0, "holds": False}
    runs = [{"truth": 1000.0, "alone": {"none": "why"}, "with_lab": x} for x in (good, good, far)]
    report_forecasts(document, [*runs[1:], runs[0] | {"truth": None}])
    rows = {row["name"]: (row["median"], row["met"]) for row in document.rows}
    assert rows["from the run alone: forecasts at half of the plateau"] == (0, None)
    assert rows["with the two other seeds in the lab: within 25 % of the truth"] == (1, False)
    report_forecasts(document := Report("watch"), runs)
    rows = {row["name"]: (row["median"], row["met"]) for row in document.rows}
    assert rows["with the two other seeds in the lab: the 80 % interval holds the truth"] == (2, True)
    assert rows["with the two other seeds in the lab: size of the error"][0] == pytest.approx(20)
