"""`daybreak reproduce`: lists how figures stand, refuses without writing, and says what the paper's scale would cost."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from daybreak import studies
from daybreak.cli import main
from daybreak.cli.reproduce import Reproduce, show
from daybreak.lab import Lab, device
from tests.lab import made


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_names_every_figure_with_cost_and_state(capsys) -> None:
    studies.reproduce(studies.find("fig1b"), "smoke", Path("results"))
    assert main(["reproduce", "--list", "--out", "results", "--json"]) == 0
    listed = {x["name"]: x for x in json.loads(capsys.readouterr().out)["studies"]}
    for figure in ("1a", "1b", "1c", "2-left", "2-right", *range(3, 18)):
        assert f"fig{figure}" in listed
    assert listed["fig1b"]["scales"]["smoke"] == {"results": True, "runs": 0, "trained": 0, "in_tables": None}
    three = listed["fig3"]
    assert three["minutes"].keys() == three["scales"].keys() == {"smoke", "laptop", "paper"}
    assert three["scales"]["laptop"]["trained"] == 0 < three["scales"]["laptop"]["runs"]
    assert main(["reproduce", "--list", "--out", "results"]) == 0
    text = capsys.readouterr().out
    assert "6 s, done" in text
    assert "runs" in text


def test_what_was_measured_is_judged_again_from_its_tables(capsys) -> None:
    for name in ("fig1b", "fig1c"):
        studies.reproduce(studies.find(name), "smoke", Path("results"))
    claims = {path: path.read_bytes() for path in Path("results").glob("*/*/smoke/claims.json")}
    for path in claims:
        path.unlink()
    assert main(["reproduce", "--from-tables", "--scale", "smoke", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [x["study"] for x in answer["reproduced"]] == ["emergence/fig1b", "emergence/fig1c"]
    for path, before in claims.items():
        assert json.loads(path.read_bytes())["claims"] == json.loads(before)["claims"]


def test_verdicts_are_shown_and_counted(tmp_path: Path, capsys) -> None:
    note = "The sentence is about T ≥ 128. To reach it costs about 12 hours on two cores."
    claims = [studies.Claim(x, "It is sharp.", "", "", x, note) for x in studies.VERDICTS]  # pyright: ignore[reportArgumentType]
    study = studies.find("fig1b")
    done = studies.Reproduction(study, "smoke", studies.Findings((*claims, claims[-1])), tmp_path, 0.0, 0, 0.0)
    show(Console(width=200), [done], tmp_path / "report.html")
    shown = capsys.readouterr().out
    assert "outside  outside  It is sharp." in shown
    assert "1 holds, 1 fails, 1 undecided, 2 outside" in shown


def test_the_list_states_what_is_left_on_this_machine(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a step takes a second. All but one run of the study are in the lab, so its budget is left."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(Path("programs").absolute()))
    study = studies.find("b-fig4-left")
    assert isinstance(study.data, studies.TrainedData)
    first, *others = study.data.runs("smoke")
    lab = Lab("lab").open()
    for run in others:
        lab.save(run, made.record(), seconds=1.0, command="by hand", device=device(), step_seconds=1.0)
    arguments = ["reproduce", "--list", "--scale", "smoke"]
    assert main([*arguments, "--json"]) == 0
    listed = {x["name"]: x["left"] for x in json.loads(capsys.readouterr().out)["studies"]}
    assert listed["b-fig4-left"]["scale"] == "smoke"
    assert listed["b-fig4-left"]["seconds_at_most"] == pytest.approx(first.stop.budget)
    assert listed["fig3"] is None, "no rate is known, and none is measured"
    assert main([*arguments, "b-fig4-left"]) == 0
    shown = capsys.readouterr().out
    assert "here," in shown, "cells are folded in a narrow terminal"
    assert "3/4" in shown
    assert "fig3" not in shown


def test_the_papers_scale_says_first_what_it_costs(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    # It would take minutes, for networks of this size.
    monkeypatch.setattr("daybreak.lab.compute.calibration.calibrate", lambda *_: 0)
    Reproduce(scale="paper")._estimate([studies.find("fig1c"), studies.find("fig11")])
    text = " ".join(capsys.readouterr().err.split())  # where lines end depends on the numbers
    assert text.startswith("25 runs to train, ")
    assert "on a GPU" in text
    Reproduce(scale="paper")._estimate([studies.find("fig1c")])
    assert not capsys.readouterr().err
