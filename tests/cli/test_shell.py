"""What every verb shares: JSON, help, version, and one sentence for failed work. Wrong requests are in `test_wrong`."""

import json
import re
from pathlib import Path

import pytest

from daybreak import __version__
from daybreak.cli import main
from daybreak.cli._answer import _whole
from daybreak.cli._help import VERBS
from daybreak.cli.doctor import Doctor
from daybreak.lab import Lab
from daybreak.models import Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Run
from tests.lab import made
from tests.lab.compute.sweeping import TOY


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_file").write_text("")


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
    assert {"name", "paper", "title", "minutes", "scales", "left"} == set(listed[0])
    assert main(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(study["name"] in shown for study in listed)


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"daybreak {__version__}\n"
    assert main(["--version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": __version__}


def test_help_of_every_verb_has_an_example(capsys) -> None:
    for verb in (*VERBS, "train recall", "runs list", "runs show", "runs export", "runs import", "runs delete"):
        with pytest.raises(SystemExit) as stop:
            main([*verb.split(), "--help"])
        assert not stop.value.code
        help_text = capsys.readouterr().out
        assert f"Example: daybreak {verb}" in help_text
        assert all(line.count("Example: ") <= 1 for line in help_text.splitlines() if "Example: daybreak" in line)
        assert re.findall(r"\S +Example: daybreak", help_text.replace("│", "")) == [], "each is a line of its own"


@pytest.mark.parametrize(
    ("text", "number"), [("9007199254740993", 2**53 + 1), ("1e7", 10**7), ("-3", -3), ("64.0", 64)]
)
def test_whole_numbers_are_read_exactly(text: str, number: int) -> None:
    assert _whole(text) == number


def test_a_table_in_a_pipe_is_as_wide_as_it_needs_and_no_line_is_broken(monkeypatch, capsys) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lab = Lab("lab").open()
    names = ("embedding_scale", "position_scale", "readout_scale", "dropout")
    for i in range(3):
        model = Transformer(**dict.fromkeys(names, 0.123456789 + i / 10))
        lab.save(Run(SingleLocation(T=64 + i, d=16 + i, p=i / 10), model, seed=i), made.record(), **made.SOURCE)
    assert main(["runs", "list"]) == 0
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if line.startswith("run "))
    assert set(names) | {"T", "d", "p", "seed"} <= set(head.split())
    assert "They differ also in" not in out
    assert len(out.splitlines()) == 6, "what they share, headings, three runs, how they ended"


def test_in_a_terminal_lines_break_between_words(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a terminal, to Rich
    assert main(["train", "toy", "--task.T", "4", "--task.d", "2", "--stop.budget", "10", "--stop.every", "10"]) == 0
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    note = out[out.index("plateau: ") : out.index("Next: ")]
    assert max(map(len, note.splitlines())) <= 60
    assert "crossed its level. loss, accuracy, attention:" in " ".join(note.split()), "no word is broken"


def test_numbers_have_enough_digits(capsys) -> None:
    assert main(["theory", "--T", "64", "--d", "8", "--level", "0.200000001"]) == 0
    assert "at 0.200000001 of its start" in capsys.readouterr().out


def test_help_has_no_indentation_of_docstrings(capsys) -> None:
    for name in ("single-location", "toy", "recall", "markov", "markov-full"):
        with pytest.raises(SystemExit):
            main(["train", name, "--help"])
        described = re.findall(
            r"^ \w+ options +$\n -+ $\n(.*?)^  -+$", capsys.readouterr().out, re.MULTILINE | re.DOTALL
        )
        assert len(described) >= 4
        for text in described:
            assert {len(x) - len(x.lstrip()) for x in text.splitlines() if x.strip()} == {2}, text


def test_a_sweep_with_failed_runs_exits_with_1(capsys) -> None:
    Path("toy.toml").write_text(TOY.replace("seeds = 12", "seeds = 1").replace("p = [0.0, 0.2]", "p = 0.0"))
    assert main(["sweep", "toy.toml", "--workers", "1", "--retries", "0", "--patience", "0.001"]) == 1
    out, err = capsys.readouterr()
    assert "1 runs in lab 'lab': 1 failed" in out
    assert err.endswith(
        "1 of 1 runs failed: 'daybreak runs show ID' shows why, and the same command tries them again.\n"
    )
