"""The command itself, as a user starts it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "daybreak"]


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_reproduce_from_a_cold_start(tmp_path: Path) -> None:
    done = _run("reproduce", "fig1c", "--scale", "smoke", "--out", "found", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["reproduced"]
    assert one["study"] == "emergence/fig1c"
    assert (tmp_path / one["folder"] / "figure.png").exists()
    shown = _run("reproduce", "fig1c", "--scale", "smoke", "--out", "found", cwd=tmp_path)
    assert "2 holds, 1 fails" in shown.stdout
    assert not shown.stderr.strip(), "progress is silent where there is no terminal"


def test_doctor(tmp_path: Path) -> None:
    done = _run("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["self_check"]["passed"] is True


def test_a_wrong_request(tmp_path: Path) -> None:
    done = _run("theory", "--T", "1", "--d", "64", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "daybreak: T = 1 is not allowed: the sequence length must be at least 2.\n"


def test_help_does_not_wait_for_jax(tmp_path: Path) -> None:
    code = "import sys, daybreak.cli._shell; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=60, check=False).returncode == 0


# Where the tests themselves run in the background, SIGINT would be ignored; in a user's terminal it is not.
HEED = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom daybreak.cli import main\n"
INTERRUPTED = "daybreak: Interrupted. Run the same command again to go on.\n"


def test_interrupted_it_says_so_and_exits_130(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HEED + "sys.exit(main(['reproduce', 'fig9']))"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (tmp_path / "results").exists():  # made when the study starts
            time.sleep(0.1)
        while (
            process.poll() is None
        ):  # one that lands while a library sets itself up is lost, and a person presses again
            os.kill(process.pid, signal.SIGINT)
            time.sleep(2)
        _, err = process.communicate(timeout=120)
    assert process.returncode in (130, -signal.SIGINT)  # pressed again in Python's last moments: to a shell 130 as well
    assert err == INTERRUPTED


def test_an_interrupt_that_lands_where_python_cannot_raise_comes_again(tmp_path: Path) -> None:
    code = """
import time
from daybreak.cli.doctor import Doctor

class Gone:
    def __del__(self):
        raise KeyboardInterrupt

def answer(self):
    Gone()
    time.sleep(100)

Doctor.answer = answer
sys.exit(main(["doctor"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", HEED + code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    line = f"'{sys.executable}' -m daybreak reproduce --list | head -1"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("Figures, and")
    assert "Traceback" not in done.stderr
