"""The driver against simulated workers that die, hang and raise: every run once, nothing starves, memory stays flat."""

from pathlib import Path

import pytest
from benchmarks.thousand_workers import simulate

from benchmarks import thousand_workers


def test_every_run_is_measured_once_whatever_workers_do(tmp_path: Path) -> None:
    seen = simulate(tmp_path / "lab", runs=2000, workers=200)
    assert min(seen["of which"].values()) > 0, "some died, some hung, some raised"
    assert seen["measured once"] == seen["expected"] == seen["outcomes"]["emerged"]
    assert seen["outcomes"]["failed"] == seen["runs"] - seen["expected"], "only those that fail whenever they are tried"
    assert seen["workers busy until 90 % are done"] > 0.99
    memory = list(seen["memory_mb"].values())
    assert memory[-1] - memory[1] < 50
    assert len(list((tmp_path / "lab" / "runs").iterdir())) == seen["runs"]


def test_many_runs_that_always_fail_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their last report stays with the driver while others of their cohort report for the first time."""
    monkeypatch.setattr(thousand_workers, "_POISON", 5)
    seen = simulate(tmp_path / "lab", runs=1600, workers=20)
    assert seen["measured once"] == seen["outcomes"]["emerged"] <= seen["expected"] == 1280
    assert 320 <= seen["outcomes"]["failed"] < 330, "those, and a few whose workers died three times"
    assert sum(seen["outcomes"].values()) == seen["runs"]
