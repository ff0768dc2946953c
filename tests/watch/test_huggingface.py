"""A Trainer that is killed in the middle and resumed has one unbroken record, that of a training that was not."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.watch.run_script import ROOT, environment, run_script


def test_killed_and_resumed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.watch.scripts.trainer", "whole", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, env=environment(), cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-4000:]
    result = run_script("trainer", "resume", tmp_path)
    whole, before, after = result["whole"], result["before"], result["after"]
    assert before["steps"][-1] == 13 and not before["done"]
    assert after["id"] == before["id"] == result["id"]
    assert after["done"] and whole["done"]
    assert after["steps"] == whole["steps"]
    for name in ("loss", "induction"):
        np.testing.assert_allclose(after[name], whole[name], rtol=1e-6)
    assert whole["settings"] == {"batch": 8, "context": 24, "learning_rate": 5e-05, "seed": 3}
