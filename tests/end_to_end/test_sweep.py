"""`daybreak sweep` as a user starts it: two at once, Ctrl-C, and the same command again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.end_to_end.test_command import COMMAND
from tests.lab.compute.sweeping import TOY

# Where the tests themselves run in the background, SIGINT would be ignored; in a user's terminal it is not.
HEED = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from daybreak.cli import main; "


def test_two_at_once_then_interrupted_then_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY.replace("seeds = 12", "seeds = 6"))
    line = ["sweep", "toy.toml", "--workers", "1", "--checkpoint", "0"]
    first = [sys.executable, "-c", HEED + f"sys.exit(main({line!r}))"]
    with subprocess.Popen(first, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob("lab/runs/*/result.json")):
            assert process.poll() is None
            time.sleep(0.05)
        second = subprocess.run(
            [*COMMAND, *line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert second.returncode in (0, 2)
        if second.returncode == 2:  # else the first was done before the second began
            assert second.stderr == (
                f"daybreak: lab = 'lab' is in use: process {process.pid} writes to it. Wait until it is done, or choose another --lab.\n"
            )
        os.kill(process.pid, signal.SIGINT)
        _, message = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT), (
        message
    )  # the last if it was done, and Python no longer listened
    again = subprocess.run(
        [*COMMAND, *line, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert again.returncode == 0, again.stderr
    assert not again.stderr, "progress is silent where there is no terminal"
    answer = json.loads(again.stdout)
    assert answer["runs"] == 12
    assert answer["existing"] + sum(answer["outcomes"].values()) == 12
    assert len(list(tmp_path.glob("lab/runs/*/result.json"))) == 12
