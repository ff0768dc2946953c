"""Errors and exit codes of every verb: 2 and one sentence for a wrong request, 1 for failed work, 130 when interrupted."""

import json
from pathlib import Path

import pytest

from daybreak import __version__
from daybreak.cli import main
from daybreak.cli._answer import _whole
from daybreak.cli._help import VERBS
from daybreak.cli.doctor import Doctor

WRONG = [
    ("theory --T 1 --d 64", "T = 1 is not allowed"),
    ("theory --T 64 --d 0", "d = 0 is not allowed"),
    ("theory --T 64 --d 8 --B 64", "B = 64 is not allowed"),
    ("theory --T 64 --d 8 --p 1", "p = 1 is not allowed"),
    ("theory --T 64 --d 8 --p nan", "p = nan is not allowed"),
    ("theory --T 64 --d 8 --level 0", "level = 0 is not allowed"),
    ("theory --T 64 --d 8 --level nan", "level = nan is not allowed"),
    ("theory --T 64 --d 8 --logits loose", "Expected one of ('tied', 'free')"),
    ("theory --T many --d 8", "'many' is not a whole number"),
    ("theory --T 2.5 --d 8", "'2.5' is not a whole number"),
    ("theory --T inf --d 8", "'inf' is not a whole number"),
    ("theory --T 64", "Missing from daybreak theory: --d"),
    ("theory --T 64 --d 8 --plt x.png", "Perhaps you meant --plot"),
    ("theory --T 64 --d 8 --plot x.gif", "must end in .png, .pdf or .svg"),
    ("theory --T 64 --d 8 --plot nowhere/x.png", "must be a folder"),
    ("reproduce fig99", "study 'fig99' is unknown"),
    ("reproduce fig1a --scale huge", "Expected one of ('smoke', 'laptop', 'paper')"),
    ("reproduce fig1a --out a_file", "it is a file"),
    ("demo --out a_file", "it is a file"),
    ("dawn", f"'dawn' is not a verb. Available subcommands: {', '.join(VERBS)}. See daybreak --help."),
    ("trian", "Perhaps you meant train."),
    ("--json theory --T 64 --d 8", "'--json' is not a verb."),
    ("--version --jsn", "'--version' is not a verb."),
    ("runs lst", "Available subcommands: list, show, export, delete. See daybreak runs --help."),
    ("train markov --task.m 0", "must be above 0. See daybreak train --help."),
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_file").write_text("")


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_wrong_request_is_one_sentence_and_writes_nothing(line: str, message: str, capsys) -> None:
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("daybreak: ")
    assert err.endswith(".\n")
    assert [path.name for path in Path().iterdir()] == ["a_file"]


def test_failed_work_is_one_sentence_and_exit_1(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(Doctor, "answer", lambda self: 1 / 0)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().err == (
        "daybreak: ZeroDivisionError: division by zero (set DAYBREAK_TRACEBACK=1 to see where)\n"
    )
    monkeypatch.setenv("DAYBREAK_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["doctor"])


@pytest.mark.parametrize("T", ["512", "5.12e2"])
def test_json_is_one_document(T: str, capsys) -> None:
    assert main(["theory", "--T", T, "--d", "64", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert not err
    assert data["T"] == 512
    assert data["plateau"] == pytest.approx(5319.27, rel=1e-5)
    assert data["closed_forms"]["plateau_estimate"]["relative_difference"] == pytest.approx(-0.0046, abs=1e-3)


def test_readable_answer(capsys) -> None:
    assert main(["theory", "--T", "512", "--d", "64", "--plot", "flow.svg"]) == 0
    out = capsys.readouterr().out
    assert "gradient flow" in out
    assert "5,319.3" in out
    assert "+238.3%" in out
    assert Path("flow.svg").read_text().startswith("<?xml")


def test_listing(capsys) -> None:
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["studies"]
    assert {"name", "paper", "title", "minutes", "scales"} == set(listed[0])
    assert main(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(study["name"] in shown for study in listed)


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"daybreak {__version__}\n"
    assert main(["--version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": __version__}


def test_help_of_every_verb_has_an_example(capsys) -> None:
    for verb in (*VERBS, "train recall", "runs list", "runs show", "runs export"):
        with pytest.raises(SystemExit) as stop:
            main([*verb.split(), "--help"])
        assert not stop.value.code
        assert f"Example: daybreak {verb}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "number"), [("9007199254740993", 2**53 + 1), ("1e7", 10**7), ("-3", -3), ("64.0", 64)]
)
def test_whole_numbers_are_read_exactly(text: str, number: int) -> None:
    assert _whole(text) == number
