"""The command itself, as a user starts it."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daybreak.cli._help import VERBS
from daybreak.lab import Lab
from tests.lab import made

COMMAND = [sys.executable, "-W", "error", "-m", "daybreak"]


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_reproduce_from_a_cold_start(tmp_path: Path) -> None:
    done = _run("reproduce", "fig1c", "--scale", "smoke", "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["reproduced"]
    assert one["study"] == "emergence/fig1c"
    assert (tmp_path / one["folder"] / "figure.png").exists()
    shown = _run("reproduce", "fig1c", "--scale", "smoke", "--out", "out", cwd=tmp_path)
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


HEAVY = {"jax", "scipy", "pyarrow", "matplotlib", "duckdb"}
PARSER = {"tyro", "rich", "numpy"}
LIGHT = [(line, HEAVY | PARSER) for line in ("", "--help", "--version", "--version --json", "trian")]
LIGHT += [(f"{verb} --help", HEAVY) for verb in VERBS if verb != "train"]  # its options are those of the models
LIGHT += [(f"runs {verb} --help", HEAVY) for verb in ("list", "show", "export")]


@pytest.mark.parametrize(("line", "unwanted"), LIGHT)
def test_help_and_version_load_no_heavy_package(line: str, unwanted: set[str], tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "daybreak", *line.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (2 if line == "trian" else 0), done.stderr
    loaded = {row.split("|")[-1].strip().partition(".")[0] for row in done.stderr.splitlines()}
    assert "daybreak" in loaded
    assert not loaded & unwanted


def test_help_where_stdout_is_not_utf8(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND,
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"* theory" in done.stdout


# Tests that run in the background ignore SIGINT; a user's terminal does not.
HEED = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom daybreak.cli import main\n"
INTERRUPTED = "daybreak: Interrupted. Run the same command again to go on.\n"


def test_interrupted_it_prints_one_sentence_and_exits_130(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HEED + "sys.exit(main(['reproduce', 'fig9']))"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (tmp_path / "results").exists():  # made when the study starts
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == INTERRUPTED


def test_an_interrupt_while_a_library_is_imported_waits_for_the_import(tmp_path: Path) -> None:
    """Interrupted in the middle of its import, NumPy raises an ImportError, or crashes."""
    code = """
import os

def interrupt(event, arguments):
    global pressed
    if event == "import" and arguments[0] == "numpy._core._multiarray_umath" and not pressed:
        pressed = True
        os.kill(os.getpid(), signal.SIGINT)

pressed = False
sys.addaudithook(interrupt)
code = main(["train", "toy", "--lab", "lab"])
sys.exit(code if pressed else "NumPy was not imported")
"""
    done = subprocess.run(
        [sys.executable, "-c", HEED + code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 130
    assert re.fullmatch(r"daybreak: Interrupted.* Run the same command again to go on\.\n", done.stderr), done.stderr


def test_an_interrupt_where_python_cannot_raise_is_sent_again(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("line", ["runs list", "runs list --json", "theory --T 64 --d 8", "runs --help", "--help"])
def test_a_reader_that_leaves_is_no_error(line: str, tmp_path: Path) -> None:
    """As with `| head -1`: the reader has what it wanted, and closes the pipe."""
    made.fill(Lab(tmp_path / "lab"))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [*COMMAND, *line.split()], cwd=tmp_path, stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_interrupt_before_the_command_begins_is_a_sentence_too(tmp_path: Path) -> None:
    code = """
import os
def interrupt(event, arguments):
    if event == "import" and arguments[0] == "daybreak.cli._help":
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
sys.exit(main(["--version"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", HEED + code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("--version >&-", 0, ""),
        ("theory --T 64 --d 8 --json >&-", 0, ""),
        ("nonsense 2>&-", 2, ""),
        ("nonsense >&- 2>&-", 2, ""),
        ("nonsense 2>/dev/full", 2, ""),
        ("theory --T 64 --d 8 >/dev/full", 1, "daybreak: No space left on device.\n"),
    ],
)
def test_output_that_goes_nowhere(line: str, code: int, message: str, tmp_path: Path) -> None:
    command = f"{shlex.join(COMMAND)} {line}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)


@pytest.mark.parametrize("line", ["runs show {ID}", "runs show {ID} --json", "advise --T 64 --d 32", "théorie"])
def test_an_answer_where_the_terminal_is_not_utf8(line: str, tmp_path: Path) -> None:
    runs = made.fill(Lab(tmp_path / "lab"), 1)
    done = subprocess.run(
        [*COMMAND, *line.format(ID=runs[0].id).split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    text = done.stdout.decode("ascii")
    assert b"UnicodeEncodeError" not in done.stderr
    assert done.returncode == (2 if line == "théorie" else 0)
    assert ("--json" not in line) or json.loads(text)["id"] == runs[0].id


def test_what_a_batch_system_sends_counts_as_ctrl_c(tmp_path: Path) -> None:
    code = """
import os, time
from daybreak.cli.doctor import Doctor

def answer(self):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(100)

Doctor.answer = answer
sys.exit(main(["doctor"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", HEED + code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, INTERRUPTED)
