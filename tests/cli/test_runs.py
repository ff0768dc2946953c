"""`daybreak runs`: what a person reads, what a program reads, and what is refused."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak.cli import main
from daybreak.cli._listing import page
from daybreak.lab import Lab, listing
from daybreak.training import Record
from tests.lab import made


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
    lab.save_checkpoint(made.run(T=512), b"x")
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
    assert rows[-2][4:7] == ["censored", "≥", "780"]
    assert rows[-1][4:] == ["failed"]
    assert lines[-1] == "8 runs: 6 emerged, 1 censored, 1 failed. 1 unfinished."


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
    assert "No runs for which the condition holds in lab." in _say(capsys, "list", "--where", "T = 9")
    Lab("empty").open()
    assert _say(capsys, "list", "--lab", "empty") == "No runs in empty.\n"
    assert _say(capsys, "list", "--lab", "empty", "--where", "T = 9").startswith("No runs")
    assert json.loads(_say(capsys, "export", "none.json", "--lab", "empty", "--json"))["rows"] == 0
    assert json.loads(Path("none.json").read_text()) == []


def test_damage_is_reported_where_runs_are_listed(lab: Lab, capsys) -> None:
    name = made.run(d=16).id
    (lab.path / "runs" / name / "curves.parquet").write_bytes(b"PAR1")
    said = _say(capsys, "list")
    assert f"Damaged and set aside: lab/damaged/{name}.1 (curves.parquet is not what was written)" in said
    assert "7 runs: 5 emerged" in said


def test_a_run_is_shown_with_its_settings_and_curves(lab: Lab, capsys) -> None:
    run = made.run(1, d=32)
    said = _say(capsys, "show", run.id[:10], "--plot", "curves.png")
    assert said.startswith(f"{run.id}  emerged\n")
    for part in ("task       single-location, T 64, d 32", "optimizer  adam, learning_rate 0.0001", "seed 1", "a test"):
        assert part in said
    assert re.search(r"plateau    1\d\d\.\d+ steps, between evaluations at 140 and 160; trained for 780", said)
    assert said.count("┤") == 16
    assert said.count("┴") == 3
    assert "attention to relevant positions, layer " in said
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")
    assert all(len(line) <= 80 for line in said.splitlines())


def test_a_run_for_programs_has_all_of_it(lab: Lab, capsys) -> None:
    curves = made.record().curves
    curves["clean_loss"][-1] = np.nan
    wild = made.run(77)
    lab.save(wild, Record(made.record().steps, curves, "diverged"), **made.SOURCE)
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
