"""Training that is not ours, by the command: files, growing files, observed runs, laws over them, and our runs for other tools."""

import io
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from daybreak.cli import main
from daybreak.explorer import Workspace, figures
from daybreak.explorer.app import VIEWS
from daybreak.explorer.forecast import ForecastState
from daybreak.explorer.runs_state import RunsState
from daybreak.lab import Lab, ObservedRun
from daybreak.watch.curves import read
from tests.cli.asking import answer
from tests.end_to_end.test_command import COMMAND, HEED
from tests.lab import made as ours
from tests.watch import made

WANTED = ("--value", "loss", "--level", "1", "--probe", "induction")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _observe(settings: dict, middle: float, lab: str = "lab", last: int = 1000, *, done: bool = True) -> str:
    """An observed run whose loss falls through 1 at a step."""
    run = ObservedRun.begin(lab, "mine", settings, level=1.0)
    steps = np.arange(0, last, 5)
    run.extend(steps, {"loss": (2 / (1 + np.exp((steps - middle) / 4))).astype(np.float32)})
    if done:
        run.finish()
    return run.id


@pytest.mark.parametrize("name", ["a.csv", "board"])
def test_a_file_is_forecast_and_drawn(name: str, capsys) -> None:
    made.FORMATS[name](Path(name))
    data = answer(capsys, "forecast", name, *WANTED, "--at", "330", "--plot", "f.png")
    assert (data["file"], data["outcome"], data["at"], data["direction"]) == (name, "forecast", 330, "down")
    assert (data["value"], data["probes"]) == (["train/loss"], ["induction_1_1", "induction_1_2"])
    assert data["interval"][0] < made.TRUTH < data["interval"][1]
    assert data["truth"]["step"] == pytest.approx(made.TRUTH, abs=1)
    assert Path("f.png").read_bytes().startswith(b"\x89PNG")
    assert main(["forecast", name, *WANTED, "--at", "330"]) == 0
    said = capsys.readouterr().out
    assert "It emerges when train/loss falls to 1." in said
    assert "Used: column 'train/loss' by 'step'. Attention: induction_1_1 and 1 more." in said
    assert "80 % between" in said
    assert answer(capsys, "watch", name, *WANTED)["outcome"] == "emerged"


def test_a_probe_itself_can_be_what_emerges(capsys) -> None:
    made.csv(Path("a.csv"))
    data = answer(capsys, "forecast", "a.csv", "--value", "induction", "--level", "0.5", "--at", "330")
    assert (data["direction"], data["heads"], data["outcome"]) == ("up", 2, "forecast")
    assert data["truth"]["step"] == pytest.approx(made.TAKEOFF, rel=0.05)


def test_columns_that_could_control_the_terminal_do_not(capsys) -> None:
    Path("a.csv").write_text("step,\x1b[31mloss\n0,3\n1,2\n")
    assert main(["forecast", "a.csv", "--level", "1"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_growing_file_is_followed_until_it_has_emerged() -> None:
    """In a pipe: a line per change, each a forecast, then the answer; exit code 0."""
    lines = made.jsonl(Path("whole.jsonl")).read_text().splitlines(keepends=True)
    file = Path("a.jsonl")
    file.write_text("")
    command = [*COMMAND, "watch", "a.jsonl", "--follow", "--every", "0.1", *WANTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "it is empty" in process.stdout.readline()
        seen = []
        for start in range(0, len(lines), 20):
            with file.open("a") as growing:
                growing.write("".join(lines[start : start + 20]))
                growing.write('{"step": 99')  # torn: the next line goes on behind it
                growing.flush()
                growing.truncate(growing.tell() - 11)
            seen.append(process.stdout.readline())
            if "emerged" in seen[-1]:
                break
        # Not `communicate`: it would not see what `readline` has taken from the pipe beyond its line.
        rest, err = process.stdout.read(), process.stderr.read()
    assert (err, process.returncode) == ("", 0)
    assert seen[0].startswith("step 190: train/loss 3.")
    assert any("Forecast: step" in x for x in seen)
    assert "It has emerged at step 664." in seen[-1]
    assert "The whole run: it emerged at step 664." in rest


def test_ctrl_c_is_an_ordinary_end() -> None:
    made.csv(Path("a.csv"), last=300)
    command = [sys.executable, "-c", HEED + "sys.exit(main(sys.argv[1:]))", "watch", "a.csv", "--follow", *WANTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("step 300: ")
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert (err, process.returncode) == ("", 0)
    assert "File a.csv until step 300." in out


def test_ctrl_c_during_the_first_line_still_gives_the_last_answer(monkeypatch) -> None:
    """It was lost when the signal came between the line and the next look at the file."""

    class _Interrupted(io.StringIO):
        def flush(self) -> None:
            if "step 300: " in self.getvalue() and not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt

        interrupted = False

    made.csv(Path("a.csv"), last=300)
    monkeypatch.setattr(sys, "stdout", out := _Interrupted())
    assert main(["watch", "a.csv", "--follow", *WANTED]) == 0
    assert out.interrupted
    assert "File a.csv until step 300." in out.getvalue()


def test_an_observed_run_that_still_trains_is_known_to_every_reader(capsys) -> None:
    run = ObservedRun.begin("lab", "my-gpt", {"context": 256, "batch": 8}, level=1.0)
    for row in made.rows(400):
        heads = [[row["induction_1_1"], row["induction_1_2"]]] if "induction_1_1" in row else None
        run.append(int(row["step"]), {"loss": row["train/loss"]} | ({} if heads is None else {"induction": heads}))
    (row,) = answer(capsys, "runs", "list")["runs"]
    assert (row["id"], row["outcome"], row["last_step"], row["context"]) == (run.id, "unfinished", 400, 256)
    shown = answer(capsys, "runs", "show", run.id[:8], "--plot", "s.png")
    assert shown["note"] == "An observed run: something else trained it."
    assert shown["curves"]["induction_1_2"][1] is None
    assert shown["last_step"] == 400
    forecast = answer(capsys, "forecast", run.id)
    assert (forecast["outcome"], forecast["curve"], forecast["heads"]) == ("forecast", "loss", 2)
    assert forecast["interval"][0] < made.TRUTH < forecast["interval"][1]
    assert answer(capsys, "watch", run.id)["median"] == forecast["median"]
    assert main(["runs", "show", run.id]) == 0
    said = capsys.readouterr().out
    assert "induction, largest of all heads" in said
    run.finish()
    assert answer(capsys, "watch", run.id, "--follow", "--every", "0.1")["outcome"] == "forecast", "it is done: no wait"
    assert answer(capsys, "runs", "delete", run.id, "--yes") == {"lab": "lab", "deleted": [run.id], "left": []}
    assert not list(Path("lab/runs").iterdir())


def test_other_seeds_predict_an_observed_run_from_its_start(capsys) -> None:
    """Planted: two seeds emerge at 500 and 550; a third is flat at step 100, by itself and with another batch."""
    _observe({"batch": 8, "seed": 0}, 500)
    _observe({"batch": 8, "seed": 1}, 550)
    going = _observe({"batch": 8, "seed": 2}, 10**6, last=100, done=False)
    data = answer(capsys, "forecast", going)
    assert (data["outcome"], data["law"]["rows"]) == ("forecast", 2)
    assert data["median"] == pytest.approx(524, abs=5)
    assert data["interval"][0] < 500 < 550 < data["interval"][1]
    assert answer(capsys, "forecast", going, "--law", "none")["outcome"] == "not enough evidence"
    other = _observe({"batch": 16, "seed": 2}, 10**6, last=100, done=False)
    data = answer(capsys, "forecast", other)
    assert (data["outcome"], data["law"]) == ("not enough evidence", None)
    assert "differs only in the seed" in data["no_law"]
    command = [*COMMAND, "watch", going, "--follow", "--every", "0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()  # as Ctrl-C, also where tests run in the background and ignore that
    assert "step 95: loss 2. Forecast: step 52" in line


def test_a_law_is_fitted_over_settings_of_ones_own(capsys) -> None:
    """Planted: 3 · context^0.8 steps, three runs each, whatever they are called."""
    rng = np.random.default_rng(0)
    for context in (64, 128, 256, 512):
        for _ in range(3):
            _observe({"context": context}, 3 * context**0.8 * np.exp(0.02 * rng.normal()))
    _observe({"context": 64}, 10**6)  # does not emerge
    fitted = answer(capsys, "fit", "--law", "C * context**a", "--where", "outcome = 'emerged'")
    low, high = fitted["law"]["intervals"]["a"]
    assert low < 0.8 < high
    assert high - low < 0.1
    assert (fitted["runs"], fitted["configurations"]) == (12, 4)
    going = _observe({"context": 1024}, 10**6, last=100, done=False)
    forecast = answer(capsys, "forecast", going, "--law", "C * context**a")
    assert forecast["law"]["rows"] == 13
    data = answer(capsys, "fit", "--law", "C * context**a")
    assert data["censored"] == 1


def test_observed_runs_live_next_to_ours(capsys) -> None:
    lab = Lab("lab")
    runs = ours.fill(lab)
    lab.close()
    name = _observe({"context": 64, "T": 32, "model": "gpt"}, 300)
    rows = {x["id"]: x for x in answer(capsys, "runs", "list")["runs"]}
    assert (rows[name]["T"], rows[name]["model"], rows[runs[0].id]["T"]) == (32, "gpt", 64)
    fitted = answer(capsys, "fit", "--law", "C", "--where", "task = 'single-location'")
    assert fitted["runs"] == 5


@pytest.mark.parametrize("done", [True, False])
def test_the_page_shows_observed_runs(tmp_path: Path, done: bool) -> None:
    name = _observe({"context": 64, "T": "long"}, 300, done=done)
    workspace = Workspace(tmp_path / "lab", tmp_path / "results")
    drawing = VIEWS["runs"].draw(workspace, RunsState(), figures.LIGHT)
    (line,) = drawing.figures["curves"]["data"]
    assert len(line["x"]) == 200
    assert drawing.figures["curves"]["layout"]["yaxis"]["title"]["text"] == "loss"
    assert "observed run" in str(drawing.text)
    drawing = VIEWS["forecast"].draw(workspace, ForecastState(run=name, share=100), figures.LIGHT)
    assert not drawing.problem
    assert len(drawing.figures["curve"]["data"][0]["x"]) == 200
    before = workspace.stamp()
    if not done:
        ObservedRun.resume("lab", name, 995).append(996, {"loss": 0.0})
        assert workspace.stamp() != before
        assert workspace.run_curves(name).steps[-1] == 996


def test_a_file_is_imported_once(capsys) -> None:
    made.board(Path("board"))
    line = (
        "runs",
        "import",
        "board",
        "--value",
        "loss",
        "--level",
        "1",
        "--setting",
        "context=64",
        "--setting",
        "gpu=x y",
    )
    first = answer(capsys, *line)
    assert (first["new"], first["outcome"], first["rows"]) == (True, "emerged", 101)
    assert first["curves"]["train/loss"] == "train_loss"
    assert answer(capsys, *line) == first | {"new": False}
    (row,) = answer(capsys, "runs", "list", "--where", "context = 64 and gpu = 'x y'")["runs"]
    assert row["plateau"] == pytest.approx(made.TRUTH, abs=1)
    assert main([*line]) == 0
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["tensorboard", "csv", "parquet"])
def test_our_runs_open_in_their_tools_and_come_back(form: str, capsys) -> None:
    lab = Lab("lab")
    runs = ours.fill(lab, 2)
    lab.close()
    lines = ("runs", "export", "out", "--format", form)
    data = answer(capsys, *lines)
    assert sorted(data["written"]) == sorted(run.id for run in runs)
    before = {x: x.read_bytes() for x in Path("out").rglob("*") if x.is_file()}
    assert answer(capsys, *lines) == data
    assert {x: x.read_bytes() for x in Path("out").rglob("*") if x.is_file()} == before, "the same files"
    found = read(Path("out") / (runs[0].id if form == "tensorboard" else f"{runs[0].id}.{form}"))
    record = lab.load(runs[0].id).record
    assert record is not None
    np.testing.assert_array_equal(found.steps, record.steps)
    np.testing.assert_allclose(found.columns["clean_loss"], record.curves["clean_loss"], rtol=1e-6)
    head = "attention/2_3" if form == "tensorboard" else "attention_2_3"
    np.testing.assert_allclose(found.columns[head], record.curves["attention"][:, 1, 2], rtol=1e-6)


def test_training_is_logged_while_it_goes_on_and_whole_in_the_end(capsys) -> None:
    line = [
        "train",
        "toy",
        "--task.T",
        "8",
        "--task.d",
        "4",
        "--stop.budget",
        "60",
        "--stop.every",
        "20",
        "--seeds",
        "2",
    ]
    data = answer(capsys, *line, "--log", "tensorboard:board", "tensorboard:again")
    for run in data["runs"]:
        record = Lab("lab").load(run["id"]).record
        assert record is not None
        for folder in ("board", "again"):
            found = read(Path(folder) / run["id"])
            np.testing.assert_array_equal(found.steps, record.steps)
            np.testing.assert_allclose(found.columns["clean_loss"], record.curves["clean_loss"], rtol=1e-6)
            heads = record.curves["attention"].reshape(len(record.steps), -1).max(axis=1)
            np.testing.assert_allclose(found.columns["attention"], heads, rtol=1e-6)
    assert answer(capsys, *line, "--log", "tensorboard:third")["runs"], "nothing is trained, and all is logged"
    assert len(read(Path("third") / data["runs"][0]["id"]).steps) == 4


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("trackio:x", "the package 'trackio' is not installed. 'pip install trackio' does it."),
        ("tensorbord:x", "perhaps you meant tensorboard"),
        ("tensorboard", "write tensorboard:DIR"),
        ("a_file:x", "choose one of tensorboard:DIR, wandb:PROJECT"),
        ("tensorboard:a_file", "is a file"),
    ],
)
def test_a_tracker_that_is_not_there_is_refused_before_any_training(log: str, sentence: str, capsys) -> None:
    Path("a_file").write_text("x")
    assert main(["train", "toy", "--log", log]) == 2
    assert sentence in capsys.readouterr().err
    assert [x.name for x in Path().iterdir()] == ["a_file"]


def test_advice_of_a_lab_with_observed_runs_only_says_what_is_missing(capsys) -> None:
    _observe({"context": 64}, 300)
    assert main(["advise", "--T", "64", "--d", "32", "--lab", "lab"]) == 2
    assert "has no run of single location" in capsys.readouterr().err
