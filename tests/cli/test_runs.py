"""`daybreak runs`: what a person reads, what a program reads, and what is refused."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak.cli import main
from daybreak.cli._listing import page
from daybreak.errors import RequestError
from daybreak.lab import Lab, listing
from daybreak.lab.lock import locked
from daybreak.training import Record, Stop, to_json
from daybreak.training.checkpoint import pack
from tests.lab import made

# Root may read everything; without these two capabilities it may not.
_DROPPED = "-dac_override,-dac_read_search"
AS_A_USER = ["setpriv", "--bounding-set", _DROPPED, "--inh-caps", _DROPPED] if os.geteuid() == 0 else []


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Six runs of one task, one of another, one that failed, one unfinished, in a folder called lab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lab = Lab("lab").open()
    for d in (16, 32, 64):
        for seed in (0, 1):
            lab.save(made.run(seed, d=d), made.record(3.0 * d + seed), **made.SOURCE)
    lab.save(made.run(T=128), made.record(2000.0, outcome="censored"), **made.SOURCE)
    lab.save_failure(made.run(T=256), "Traceback\n[red]ValueError[/]: \x1b[31mno", **made.SOURCE)
    lab.save_checkpoint(made.run(T=512), pack(made.run(T=512).id, {}, made.record(count=13).curves))
    lab.close()
    return lab


def _say(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["runs", *arguments]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out


def test_a_list_says_what_differs_and_once_what_does_not(lab: Lab, capsys) -> None:
    said = _say(capsys, "list")
    lines = said.splitlines()
    assert all(len(line) <= 80 for line in lines)
    head = next(i for i, line in enumerate(lines) if line.startswith("run "))
    assert lines[head].split() == ["run", "T", "d", "seed", "outcome", "plateau", "steps", "loss"]
    assert "task single-location" in lines[0]
    assert " T " not in " ".join(lines[:head])
    rows = [line.split() for line in lines[head + 1 : -1]]
    assert [row[1:4] for row in rows[:3]] == [["64", "16", "0"], ["64", "16", "1"], ["64", "32", "0"]]
    assert rows[-3][4:7] == ["censored", "≥", "780"]
    assert rows[-2][4:] == ["failed"]
    assert rows[-1][1:] == ["512", "16", "0", "unfinished", "240"]
    assert lines[-1] == "9 runs: 1 unfinished, 6 emerged, 1 censored, 1 failed."


def test_without_an_action_it_lists(lab: Lab, capsys) -> None:
    assert _say(capsys) == _say(capsys, "list")


def test_a_list_for_programs(lab: Lab, capsys) -> None:
    data = json.loads(_say(capsys, "list", "--where", "d = 32 and T = 64", "--json"))
    assert sorted((row["d"], row["seed"], row["outcome"]) for row in data["runs"]) == [
        (32, s, "emerged") for s in (0, 1)
    ]
    assert data["unfinished"] == [made.run(T=512).id]
    assert data["damaged"] == []


def test_settings_that_find_no_room_are_named() -> None:
    rows = [
        {
            "id": f"{i:016x}",
            **{f"setting_{j}": i for j in range(9)},
            "outcome": "emerged",
            "plateau": 1.0,
            "censored": False,
        }
        | {"last_step": 9, "final_clean_loss": 0.1, "final_clean_accuracy": None}
        for i in range(3)
    ]
    runs = pa.Table.from_pylist(rows)
    lines, left_out = page(runs, 80)
    assert max(map(len, lines)) <= 80
    shown = lines[0].split()
    assert {f"setting_{j}" for j in range(9)} == {*left_out, *(x for x in shown if x.startswith("setting"))}
    assert left_out
    assert listing.settings(runs)[0] == {}


def test_nothing_to_list(lab: Lab, capsys, tmp_path: Path) -> None:
    assert "No runs for which the condition holds in lab 'lab'." in _say(capsys, "list", "--where", "T = 9")
    Lab("empty").open()
    assert _say(capsys, "list", "--lab", "empty") == "No runs in lab 'empty'.\n"
    assert _say(capsys, "list", "--lab", "empty", "--where", "T = 9").startswith("No runs")
    assert json.loads(_say(capsys, "export", "none.json", "--lab", "empty", "--json"))["rows"] == 0
    assert json.loads(Path("none.json").read_text()) == []


def test_damage_is_reported_where_runs_are_listed(lab: Lab, capsys) -> None:
    name = made.run(d=16).id
    (lab.path / "runs" / name / "curves.parquet").write_bytes(b"PAR1")
    said = _say(capsys, "list")
    assert f"Left out: lab/runs/{name} (curves.parquet is not what was written)" in said
    assert "8 runs: 1 unfinished, 5 emerged" in said
    lab.open().close()
    said = _say(capsys, "list")
    assert f"Damaged and set aside: lab/damaged/{name}.1 (curves.parquet is not what was written)" in said


def test_a_run_is_shown_with_its_settings_and_curves(lab: Lab, capsys) -> None:
    run = made.run(1, d=32)
    said = _say(capsys, "show", run.id[:10], "--plot", "curves.png")
    assert said.startswith(f"{run.id}  emerged\n")
    for part in ("task       single-location, T 64, d 32", "optimizer  adam, learning_rate 0.0001", "seed 1", "a test"):
        assert part in said
    assert re.search(r"plateau    1\d\d steps, between evaluations at 140 and 160\n  trained    for 780 steps\n", said)
    assert said.count("┤") == 16
    assert said.count("┴") == 3
    assert "attention to relevant positions, layer " in said
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")
    assert all(len(line) <= 80 for line in said.splitlines())


def test_a_run_for_programs_has_all_of_it(lab: Lab, capsys) -> None:
    curves = made.record().curves
    curves["clean_loss"][-1] = np.nan
    wild = made.run(77)
    lab.open().save(wild, Record(made.record().steps, curves, "diverged"), **made.SOURCE)
    data = json.loads(_say(capsys, "show", wild.id, "--json"))
    assert (data["run"]["seed"], data["outcome"], data["provenance"]["command"]) == (77, "diverged", "daybreak train")
    assert len(data["curves"]["step"]) == len(data["curves"]["attention_2_3"]) == 40
    assert data["curves"]["clean_loss"][-1] is None
    assert "diverged" in _say(capsys, "show", wild.id)


def test_text_from_files_is_shown_as_text(lab: Lab, capsys) -> None:
    said = _say(capsys, "show", made.run(T=256).id)
    assert "[red]ValueError[/]: [31mno" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_exports_hold_the_same_rows(lab: Lab, capsys, suffix: str) -> None:
    def read(path: str) -> list[dict]:
        if suffix == "csv":
            return list(csv.DictReader(Path(path).read_text().splitlines()))
        return parquet.read_table(path).to_pylist() if suffix == "parquet" else json.loads(Path(path).read_text())

    said = _say(capsys, "export", f"runs.{suffix}", "--where", "outcome = 'emerged'")
    assert said == f"runs.{suffix}: 6 rows of 6 runs.\n"
    rows = read(f"runs.{suffix}")
    assert sorted((int(row["d"]), int(row["seed"])) for row in rows) == [(d, s) for d in (16, 32, 64) for s in (0, 1)]
    assert float(rows[0]["plateau"]) > 0

    _say(capsys, "export", f"curves.{suffix}", "--curves")
    rows = read(f"curves.{suffix}")
    assert list(rows[0]) == ["id", "step", "curve", "value"]
    name = made.run(1, d=32).id
    record = lab.load(name).record
    assert record is not None
    found = [float(x["value"]) for x in rows if x["id"] == name and x["curve"] == "attention_1_3"]
    np.testing.assert_array_equal(np.array(found, np.float32), record.curves["attention"][:, 0, 2])
    assert len({row["id"] for row in rows}) == 7
    assert not list(Path().glob(".*.part"))


WRONG = [
    ("list --lab nowhere", "there is no lab in folder 'nowhere'"),
    ("list --lab a_file", "there is no lab"),
    ("list --where nonsense=1", "where = 'nonsense=1' is not allowed: there is no column 'nonsense'"),
    ("list --where T=1;T=2", "where = 'T=1;T=2' is not allowed"),
    ("show xyz", "no run in lab 'lab' starts with 'xyz'"),
    ("show", "ID"),
    ("show 0 --plot x.gif", "must end in .png, .pdf or .svg"),
    ("export runs.txt", "must end in .csv, .parquet or .json"),
    ("export nowhere/runs.csv", "'nowhere' must be a folder"),
    ("burn", "Available subcommands"),
    ("delete", "no run was named"),
    ("delete xyz", "no run in lab 'lab' starts with 'xyz'"),
    (f"delete {made.run(d=16).id} xyz --yes", "no run in lab 'lab' starts with 'xyz'"),
    (f"delete {made.run(d=16).id}", "There is no terminal to ask on: give --yes"),
    ("delete --yes --where T=9", "fulfils the condition 'T=9'"),
    ("delete --yes --where nonsense=1", "where = 'nonsense=1' is not allowed"),
]


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(lab: Lab, capsys, line: str, said: str) -> None:
    Path("a_file").write_text("")
    before = sorted(Path().iterdir())
    assert main(["runs", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert said in err
    assert sorted(Path().iterdir()) == before


def test_a_run_that_failed_has_no_picture(lab: Lab, capsys) -> None:
    assert main(["runs", "show", made.run(T=256).id, "--plot", "x.png"]) == 2
    assert "failed and has no curves" in capsys.readouterr().err
    assert not Path("x.png").exists()


def test_an_unfinished_run_is_shown_as_far_as_it_got(lab: Lab, capsys) -> None:
    run = made.run(T=512)
    said = _say(capsys, "show", run.id[:10], "--plot", "so_far.png")
    assert said.startswith(f"{run.id}  unfinished\n")
    assert "task       single-location, T 512, d 16" in said
    assert "trained    for 240 steps" in said
    assert said.count("┤") == 16
    assert Path("so_far.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(_say(capsys, "show", run.id, "--json"))
    assert (data["run"], data["outcome"], data["last_step"]) == (to_json(run), "unfinished", 240)
    assert data["curves"]["step"] == [20 * i for i in range(13)]
    assert len(data["curves"]["attention_2_3"]) == 13

    begun = made.run(T=999)
    lab.open().save_checkpoint(begun, b"x")
    said = _say(capsys, "show", begun.id)
    assert f"the checkpoint of run {begun.id} is unusable" in said
    assert "T 999" in said
    assert json.loads(_say(capsys, "show", begun.id, "--json"))["last_step"] is None


def test_unfinished_runs_are_listed_and_chosen_like_others(lab: Lab, capsys) -> None:
    data = json.loads(_say(capsys, "list", "--where", "T > 200", "--json"))
    assert [(row["T"], row["outcome"], row["last_step"]) for row in data["runs"]] == [
        (512, "unfinished", 240),
        (256, "failed", None),
    ]
    assert data["unfinished"] == [made.run(T=512).id]
    assert "unfinished" not in _say(capsys, "list", "--where", "T = 64")


def test_runs_without_a_level_have_completed(lab: Lab, capsys) -> None:
    run = made.run(5, stop=Stop(level=0.0))
    lab.open().save(run, made.record(outcome="completed"), **made.SOURCE)
    lab.close()
    said = _say(capsys, "show", run.id)
    assert said.startswith(f"{run.id}  completed\n")
    assert "plateau" not in said
    said = _say(capsys, "list", "--where", "level = 0")
    assert said.splitlines()[-1] == "1 run for which the condition holds: 1 completed."
    assert "≥" not in said


def test_the_seed_keeps_its_column_where_tasks_are_mixed(lab: Lab, capsys) -> None:
    lab.open()
    for seed in (3, 4):
        lab.save(made.recall(seed), made.record(accuracy=True), **made.SOURCE)
    lines = _say(capsys, "list").splitlines()
    head = next(line for line in lines if line.startswith("run "))
    assert "seed" in head.split()
    assert len(lines[0]) <= 80


def test_deleting_names_asks_and_deletes_only_what_is_the_labs_own(lab: Lab, capsys, monkeypatch) -> None:
    gone, noted, kept = (made.run(seed, d=d) for seed, d in ((0, 16), (0, 32), (1, 16)))
    (lab.path / "runs" / noted.id / "notes.txt").write_text("precious")
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    for typed, left in (("n\n", 9), ("", 9), ("yes\n", 8)):
        monkeypatch.setattr(sys.stdin, "readline", lambda typed=typed: typed)
        assert main(["runs", "delete", gone.id[:10]]) == 0
        out, err = capsys.readouterr()
        assert f"  {gone.id}  outcome emerged, task single-location, T 64, d 16, seed 0\n" in err
        assert err.endswith("Delete this run from lab 'lab' for good? [y/N] ")
        assert out == ("1 run deleted.\n" if left == 8 else "Nothing was deleted.\n")
        assert len(json.loads(_say(capsys, "list", "--json"))["runs"]) == left
    assert not (lab.path / "runs" / gone.id).exists()

    data = json.loads(_say(capsys, "delete", noted.id, "--where", "T > 200", "--yes", "--json"))
    assert data["deleted"] == [noted.id, made.run(T=512).id, made.run(T=256).id]
    assert data["left"] == [f"lab/runs/{noted.id}/notes.txt"]
    assert (lab.path / "runs" / noted.id / "notes.txt").read_text() == "precious"
    rows = json.loads(_say(capsys, "list", "--json"))["runs"]
    assert {kept.id} < {row["id"] for row in rows}
    assert len(rows) == 5


def test_states_are_deleted_and_measurements_stay(lab: Lab, capsys) -> None:
    names = [x.name for x in sorted((lab.path / "runs").iterdir())][:2]
    for name in names:
        (lab.path / "runs" / name / "state.safetensors").write_bytes(b"x" * 1_500_000)
    before = lab.query().num_rows
    assert main(["runs", "delete", names[0][:8], "--states"]) == 0
    assert "1.5 MB freed" in capsys.readouterr().out
    assert [(lab.path / "runs" / name / "state.safetensors").exists() for name in names] == [False, True]
    assert main(["runs", "delete", "--states", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freed"] == 1_500_000
    assert Lab(lab.path).query().num_rows == before


def test_nothing_is_deleted_while_another_process_writes(lab: Lab, capsys) -> None:
    with locked(lab.path):
        assert main(["runs", "delete", made.run(d=16).id, "--yes"]) == 2
    assert "is in use" in capsys.readouterr().err
    assert lab.load(made.run(d=16).id).result.outcome == "emerged"


@pytest.mark.parametrize(("settings", "curves", "what"), made.UNKNOWN)
def test_a_run_whose_task_is_not_known_here_is_read_as_what_it_is(lab: Lab, capsys, settings, curves, what) -> None:
    name = made.store(lab, settings, curves)
    assert len(json.loads(_say(capsys, "list", "--json"))["runs"]) == 10
    said = _say(capsys, "show", name, "--plot", "unknown.png")
    assert f"A record whose {what}" in " ".join(said.split())
    assert "is not known here." in said
    assert "┤" in said
    assert Path("unknown.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(_say(capsys, "show", name, "--json"))
    assert data["run"] == settings
    assert len(data["curves"]["step"]) == 40
    _say(capsys, "export", "all.csv", "--curves")
    assert name in Path("all.csv").read_text()
    _say(capsys, "export", "all.json")
    assert name in Path("all.json").read_text()
    with pytest.raises(RequestError, match="is not allowed" if "seed" in what else "is not known here: install"):
        _ = lab.load(name).run
    if curves.keys() & {"clean_loss", "clean_accuracy"}:
        at = json.loads(_ask(capsys, "forecast", name, "--at", "200", "--plot", "f.png", "--json"))
        assert (at["run"], at["level"]) == (name, 0.1)
        assert Path("f.png").exists()
    else:
        assert main(["forecast", name]) == 2
        assert "neither a clean accuracy nor a clean loss" in capsys.readouterr().err


def _ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_an_unfinished_run_of_an_unknown_task_is_shown_and_forecast(lab: Lab, capsys) -> None:
    settings, curves, what = made.UNKNOWN[0]
    name = made.store(lab, settings, curves)
    folder = lab.path / "runs" / name
    (folder / "result.json").unlink()
    (folder / "checkpoint.safetensors").write_bytes(pack(name, {}, made.record(count=13).curves))
    rows = json.loads(_say(capsys, "list", "--json", "--where", "task = 'needle'"))["runs"]
    assert [(row["id"], row["outcome"], row["last_step"]) for row in rows] == [(name, "unfinished", 240)]
    assert f"A record whose {what} is not known here." in _say(capsys, "show", name)
    assert json.loads(_ask(capsys, "forecast", name, "--json"))["at"] == 240


def test_options_without_an_action_are_those_of_the_list(lab: Lab, capsys) -> None:
    assert _say(capsys, "--where", "d = 32", "--json") == _say(capsys, "list", "--where", "d = 32", "--json")
    assert main(["runs", "--wher", "d = 32"]) == 2
    assert "Perhaps you meant --where. See daybreak runs --help." in capsys.readouterr().err


def test_damage_of_the_run_that_is_shown_is_told_once(lab: Lab, tmp_path: Path) -> None:
    name = made.run(d=16).id
    (lab.path / "runs" / name / "curves.parquet").write_bytes(b"PAR1")
    command = [sys.executable, "-m", "daybreak", "runs", "show", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("is damaged"), done.stderr.count("\n")) == (1, 1, 1)


@pytest.mark.skipif(bool(AS_A_USER) and not shutil.which("setpriv"), reason="root may read everything")
def test_a_run_that_may_not_be_read_does_not_hide_the_others(lab: Lab, tmp_path: Path) -> None:
    """Its folder belongs to somebody else."""
    name = made.run(d=16).id
    folder = lab.path / "runs" / name
    folder.chmod(0)
    try:
        command = [*AS_A_USER, sys.executable, "-m", "daybreak", "runs", "list"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    finally:
        folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert "8 runs: 1 unfinished, 5 emerged" in done.stdout
    assert f"Left out: lab/runs/{name} (Permission denied)" in done.stdout
