"""The driver against simulated workers that die, hang and raise: every run once, nothing starves, memory stays flat."""

from pathlib import Path

from benchmarks.thousand_workers import simulate


def test_every_run_is_measured_once_whatever_workers_do(tmp_path: Path) -> None:
    seen = simulate(tmp_path / "lab", runs=2000, workers=200)
    assert min(seen["of which"].values()) > 0, "some died, some hung, some raised"
    assert seen["measured once"] == seen["expected"] == seen["outcomes"]["emerged"]
    assert seen["outcomes"]["failed"] == seen["runs"] - seen["expected"], "only those that fail whenever they are tried"
    assert seen["workers busy until 90 % are done"] > 0.99
    memory = list(seen["memory_mb"].values())
    assert memory[-1] - memory[1] < 50
    assert len(list((tmp_path / "lab" / "runs").iterdir())) == seen["runs"]
