"""The examples run, on a text of one's own, and leave a finished run with their settings in the lab."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.watch.run_script import ROOT, environment


@pytest.mark.parametrize("name", ["plain_loop", "trainer", "lightning_trainer"])
def test_example_runs(name: str, tmp_path: Path) -> None:
    options = ["--text", str(ROOT / "README.md"), "--steps", "4", "--lab", "lab", "--seed", "3"]
    command = [sys.executable, str(ROOT / "examples" / "watch" / f"{name}.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "of the time" in done.stdout.splitlines()[-1]
    (run,) = (tmp_path / "lab" / "runs").iterdir()
    result = json.loads((run / "result.json").read_text())
    settings = json.loads((run / "run.json").read_text())["settings"]
    assert result["outcome"] == "censored" and {"induction", "loss"} <= set(result["final"]) | {"loss"}
    assert settings["seed"] == 3 and settings["batch"] == 16 and settings["context"] == 64
