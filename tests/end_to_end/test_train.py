"""`daybreak train` as a user starts it: to the end, killed in the middle, and with what it must refuse."""

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daybreak.lab import Lab
from daybreak.lab.reading.progress import run_curves
from tests.end_to_end.test_command import COMMAND

SMALL = shlex.split(
    "train single-location --task.T 6 --task.d 3 --model.heads 2 --model.width 16 --model.head-width 8 --model.mlp 32 "
    "--optimizer.learning-rate 3e-3 --stop.budget 3000 --stop.every 20 --stop.level 0 --batch 8 --evaluation 32 --seeds 2"
)


def _start(*arguments: str, cwd: Path, lab: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments, "--lab", lab], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def _measured(lab: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(lab.glob("runs/*/curves.parquet"))}


def test_killed_in_the_middle_it_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = (*SMALL, "--json", "--plot", "curves.png", "--keep", "parameters", "maps")
    code, out, err = _finish(_start(*whole, cwd=tmp_path, lab="whole"))
    assert code == 0, err
    assert all(" of 2 runs" in line for line in err.splitlines()), "only progress, after a minute on a slow machine"
    answer = json.loads(out)
    assert [(x["seed"], x["outcome"], x["last_step"]) for x in answer["runs"]] == [
        (0, "completed", 3000),
        (1, "completed", 3000),
    ]
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    saved = Lab(tmp_path / "whole").load(answer["runs"][0]["id"])
    assert saved.model()(saved.model().examples().inputs).shape == (32, 1, 3)
    assert saved.maps().steps[-1] == 3000

    process = _start(*SMALL, "--checkpoint", "0", cwd=tmp_path, lab="killed")
    while len(list(tmp_path.glob("killed/runs/*/checkpoint.safetensors"))) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.kill()
    assert _finish(process)[0] == -signal.SIGKILL
    assert not _measured(tmp_path / "killed"), "killed after it was done: make the run longer"
    (damaged, _) = sorted(tmp_path.glob("killed/runs/*/checkpoint.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:-100])

    code, out, err = _finish(_start(*SMALL, cwd=tmp_path, lab="killed"))
    assert code == 0
    assert f"run {damaged.parent.name} starts over" in err, "a truncated checkpoint is reported"
    assert "cannot be read" in err
    assert "Next: daybreak runs show" in out
    assert _measured(tmp_path / "killed") == _measured(tmp_path / "whole")
    assert not list(tmp_path.glob("killed/runs/*/checkpoint.safetensors"))

    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.json")}
    assert _finish(_start(*SMALL, cwd=tmp_path, lab="killed"))[0] == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.json")} == before


@pytest.mark.parametrize(
    ("stop", "on_ctrl_c"),
    [
        (signal.SIGINT, "signal.default_int_handler"),
        (signal.SIGTERM, "signal.SIG_IGN"),
    ],  # in the background of a script
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_signal_to_stop_saves_the_step_that_was_reached(stop: signal.Signals, on_ctrl_c: str, tmp_path: Path) -> None:
    """Long before the first checkpoint of the rules; interrupted while it trains, in the middle of a step."""
    code = f"from daybreak.cli import main; import signal, sys; signal.signal(2, {on_ctrl_c}); sys.exit(main())"
    endless = [*SMALL[: SMALL.index("--stop.budget")], "--stop.budget", "1000000", "--stop.level", "0", "--seeds", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *endless, "--batch", "8", "--evaluation", "32", "--checkpoint", "1000"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(list(tmp_path.glob("lab/runs/*/checkpoint.safetensors"))) < 2:  # the first, after two seconds
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    lab = Lab(tmp_path / "lab")
    before = {name: len(run_curves(lab, name).steps) for name in lab.unfinished()}
    time.sleep(0.5)
    process.send_signal(stop)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    after = {name: run_curves(lab, name).steps for name in lab.unfinished()}
    assert all(len(after[name]) > count for name, count in before.items())
    steps = " to ".join(f"{step:,}" for step in sorted({int(x[-1]) for x in after.values()}))
    assert err == (
        f"daybreak: Interrupted: 0 of 2 runs are done in lab 'lab', and 2 more are saved up to step {steps}. "
        "Run the same command again to go on.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("single-location --task.T -3", "T = -3 is not allowed"),
        ("single-location --task.position fixed --task.no-feature --task.B 99", "B = 99 is not allowed"),
        ("single-location --model.heads 0", "heads = 0 is not allowed: it must be at least 1"),
        ("single-location --optimizer.learning-rate nan", "learning_rate = nan is not allowed"),
        ("single-location --optimizer.name lion", "Expected one of sgd, adam, adamw"),
        ("single-location --seeds 0", "seeds = 0 is not allowed"),
        ("single-location --stop.budget 0", "budget = 0 is not allowed"),
        ("single-location --batch 1.5", "not a whole number"),
        ("single-location --plot curves.txt", "must end in .png, .pdf or .svg"),
        ("recall --task.N 8 --task.V 4", "V must be at least 8 at N = 8"),
        ("markov --task.weights 0.5 0.4", "must sum to one, but sum to 0.9"),
        ("rcall", "Available subcommands: single-location, toy, recall, markov, markov-full"),
    ],
)
def test_what_cannot_be_trained_is_refused(arguments: str, sentence: str, tmp_path: Path, capsys, monkeypatch) -> None:
    from daybreak.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_a_lab_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lab").write_text("")
    code, out, err = _finish(_start("train", "toy", cwd=tmp_path, lab="lab"))
    assert (code, out) == (2, "")
    assert err == "daybreak: lab = 'lab' is not allowed: it is a file, and a folder is needed.\n"
