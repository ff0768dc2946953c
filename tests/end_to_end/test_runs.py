"""A run trained for real, kept, and looked at with the command as a user starts it."""

import json
import subprocess
import sys
from pathlib import Path

from daybreak.lab import Lab
from daybreak.models import ToyAttention
from daybreak.tasks import SingleLocation
from daybreak.training import Optimizer, Run, Stop, train
from tests.end_to_end.test_command import COMMAND


def test_from_training_to_the_terminal(tmp_path: Path) -> None:
    task = SingleLocation(T=8, d=8, position="fixed", feature=False)
    stop = Stop(budget=300, every=10, level=0.2, margin=0.5)
    runs = [
        Run(task, ToyAttention(), Optimizer(name="sgd", learning_rate=1.0), stop, seed, batch=32, evaluation=64)
        for seed in (0, 1)
    ]
    lab = Lab(tmp_path / "lab").open()
    records = train(runs)
    for run, record in zip(runs, records, strict=True):
        lab.save(run, record, seconds=1.0, command="pytest")

    def ask(*arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, "runs", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    rows = json.loads(ask("list", "--json", "--where", "outcome = 'emerged' and device like 'cpu%' and d = 8"))["runs"]
    assert {row["id"] for row in rows} == {run.id for run in runs}
    assert all(row["plateau_low"] < row["plateau"] <= row["plateau_high"] < row["last_step"] for row in rows)
    assert "⠁" <= max(ask("show", runs[0].id[:12], "--plot", "curves.png")) <= "⣿"
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert f"{sum(len(record.steps) for record in records) * 4:,} rows of 2 runs" in ask("export", "c.csv", "--curves")


def test_a_list_does_not_wait_for_jax(tmp_path: Path) -> None:
    Lab(tmp_path / "lab").open()
    code = (
        "import sys; from daybreak.cli import main; assert main(['runs', 'list']) == 0; sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=60, check=False).returncode == 0
