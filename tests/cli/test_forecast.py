"""`daybreak forecast` on real runs of the toy model: finished, unfinished, with and without a law, and what it refuses."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from daybreak.cli import main
from daybreak.lab import Lab
from daybreak.models import ToyAttention
from daybreak.tasks import SingleLocation
from daybreak.training import Optimizer, Record, Run, Stop, evaluations, train
from tests.cli.asking import answer
from tests.end_to_end.test_command import COMMAND
from tests.lab import made


def _run(seed: int, T: int, level: float = 0.1) -> Run:
    task = SingleLocation(T=T, d=16, position="fixed", feature=False)
    stop = Stop(budget=1000, every=5, level=level, margin=0.1)
    return Run(task, ToyAttention(), Optimizer(name="sgd", learning_rate=1.0), stop, seed, batch=64, evaluation=64)


FINISHED = [_run(seed, T) for T in (16, 48) for seed in (0, 1)]
GOING = _run(7, 48)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two configurations of two seeds, done; one run of the last that was stopped in the middle of its plateau."""
    lab = Lab(tmp_path_factory.mktemp("forecast") / "lab").open()
    for T in (16, 48):
        runs = [run for run in FINISHED if run.task.interface.length == T]
        for run, record in zip(runs, train(runs), strict=True):
            lab.save(run, record, seconds=1.0, command="pytest", device="a test")
    for progress in evaluations([GOING]):
        if progress.steps[0] >= 150:
            lab.save_checkpoint(GOING, progress.checkpoint(0))
            break
    lab.save_failure(made.run(99), "Traceback\nValueError: no", seconds=1.0, command="pytest", device="a test")
    lab.save_checkpoint(made.run(98), b"x")
    return lab.path


@pytest.fixture
def here(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lab").symlink_to(trained)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_finished_run_as_of_a_step(here: Path, capsys) -> None:
    run = FINISHED[-1]
    truth = answer(capsys, "forecast", run.id)
    assert truth["outcome"] == "emerged"
    assert truth["step"] == truth["truth"]["step"]
    half = str(int(0.6 * truth["step"]))
    alone = answer(capsys, "forecast", run.id, "--at", half, "--law", "none")
    assert [x["source"] for x in alone["evidence"]] == ["attention"]
    assert alone["median"] == pytest.approx(truth["step"], rel=0.35)
    assert alone["no_law"] == "--law none was given."
    with_law = answer(capsys, "forecast", run.id, "--at", half)
    assert [x["source"] for x in with_law["evidence"]] == ["law", "attention"]
    assert with_law["law"]["form"] == "C * T**a", "d does not vary"
    assert with_law["law"]["rows"] == len(FINISHED) - 1
    width = {name: np.log(x["interval"][1] / x["interval"][0]) for name, x in (("law", with_law), ("alone", alone))}
    assert width["law"] < width["alone"]
    early = answer(capsys, "forecast", run.id, "--at", "5", "--law", "none")
    assert (early["outcome"], "attention has not grown" in early["reason"]) == ("not enough evidence", True)


def test_runs_of_another_task_do_not_hide_the_law(here: Path, trained: Path, capsys) -> None:
    lab = Lab(shutil.copytree(trained, here / "both"))
    lab.save(made.recall(5), made.record(accuracy=True), **made.SOURCE)
    data = answer(capsys, "forecast", FINISHED[-1].id, "--at", "200", "--lab", "both")
    assert data["law"]["rows"] == len(FINISHED) - 1


def test_a_run_that_still_trains(here: Path, capsys) -> None:
    data = answer(capsys, "forecast", GOING.id, "--law", "C * T**b")
    assert (data["outcome"], data["done"], data["at"], data["truth"]) == ("forecast", False, 150, None)
    lengths = [answer(capsys, "forecast", run.id)["step"] for run in FINISHED if run.task.interface.length == 48]
    assert data["median"] == pytest.approx(np.mean(lengths), rel=0.3)


def test_what_a_person_reads_and_sees(here: Path, capsys) -> None:
    assert main(["forecast", FINISHED[-1].id[:12], "--at", "200", "--plot", "forecast.png"]) == 0
    said = capsys.readouterr().out
    assert "until step 200. It emerges when clean loss reaches 0.1." in said
    assert "80 % between" in said
    assert "The law: plateau = " in said
    assert "The whole run: it emerged at step" in said
    assert Path("forecast.png").read_bytes().startswith(b"\x89PNG")
    assert main(["forecast", FINISHED[-1].id, "--at", "0", "--level", "0.2", "--plot", "early.png"]) == 0
    said = capsys.readouterr().out
    assert "Not enough evidence: " in said
    assert "No law was used: the plateaus in the lab were measured at the level of each stop rule, not at 0.2." in said


def test_both_commands_as_a_user_starts_them(here: Path) -> None:
    for arguments in (("forecast", GOING.id), ("fit", "--law", "C * T**b")):
        done = subprocess.run(
            [*COMMAND, *arguments, "--json"], capture_output=True, text=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["law"]["rows"] == len(FINISHED)


def test_too_few_evaluations_are_named_with_what_would_be_enough(here: Path, capsys) -> None:
    steps = np.arange(0, 401, 80)
    rise = special.erfinv(steps / 800) ** 2
    attention = np.tile(special.expit(rise - np.log(63))[:, None, None], (1, 2, 4)).astype(np.float32)
    flat = np.full(steps.size, 0.5, np.float32)
    curves = {"clean_loss": flat, "train_loss": flat, "attention": attention, "entropy": attention}
    run = made.run(stop=Stop(every=80, budget=400))
    Lab("few").open().save(run, Record(steps, curves, "censored"), **made.SOURCE)
    data = answer(capsys, "forecast", run.id, "--lab", "few")
    assert data["outcome"] == "not enough evidence"
    assert data["evaluations"] > 6
    assert data["every"] in (10, 20, 50)
    assert data["no_law"].startswith("the lab has no other finished run that differs only in d, T, B or the seed")
    assert main(["forecast", run.id, "--lab", "few"]) == 0
    said = capsys.readouterr().out
    assert "attention seems to grow, but 6 evaluations do not tell that from noise" in said
    assert f"train with --stop.every {data['every']}." in said
    assert main(["forecast", run.id, "--lab", "few", "--law", "C"]) == 2
    assert capsys.readouterr().err.endswith(" that differs only in the seed: train one first.\n"), "--law was given"


def test_a_run_unlike_the_others_is_not_forecast_with_their_certainty(here: Path, capsys) -> None:
    lab = Lab("two").open()
    for seed, middle in ((0, 267.0), (1, 273.0)):
        lab.save(made.run(seed, T=16, d=16), made.record(middle), **made.SOURCE)
    run = made.run(0, T=32, d=24)
    lab.save(run, made.record(694.0), **made.SOURCE)
    data = answer(capsys, "forecast", run.id, "--lab", "two", "--at", "20")
    assert data["truth"]["step"] == pytest.approx(738, abs=5)
    low, high = data["interval"]
    assert low < data["truth"]["step"] < high
    assert {x["name"]: x["factor"] for x in data["law"]["beyond"]} == {"T": 2.0, "d": 1.5}
    assert set(data["law"]["borrowed"]) == {"T", "d"}
    assert main(["forecast", run.id, "--lab", "two", "--at", "20"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "The other runs do not vary in d or T: d^1.29 (± 0.39) and T^0.8 (± 0.3), taken from paper A, figure 3." in said
    )
    assert "T = 32 is 2.0 times beyond the runs that the law was fitted on" in said


WRONG = [
    (("zzz",), "no run in lab 'lab' starts with 'zzz'"),
    (("",), "its value is empty"),
    ((FINISHED[0].id, "--at", "-5"), "at = -5 is not allowed"),
    ((FINISHED[0].id, "--at", "100000"), "at = 100000 is not allowed: run"),
    ((FINISHED[0].id, "--level", "0"), "level = 0 is not allowed"),
    ((FINISHED[0].id, "--level", "nan"), "level = nan is not allowed"),
    ((FINISHED[0].id, "--law", "C * Z**a"), "'Z', which is no column"),
    ((FINISHED[0].id, "--plot", "x.gif"), "must end in .png, .pdf or .svg"),
    ((FINISHED[0].id, "--lab", "nowhere"), "there is no lab"),
    ((made.run(99).id,), f"run {made.run(99).id} failed and has no curves"),
    ((made.run(98).id,), f"the checkpoint of run {made.run(98).id} is unusable"),
    ((), "RUN"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(here: Path, capsys, arguments, sentence: str) -> None:
    before = sorted(here.iterdir())
    assert main(["forecast", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert sentence in err
    assert sorted(here.iterdir()) == before
