"""`daybreak advise`: numbers with their sources, and requests that make no sense."""

from pathlib import Path

import pytest

from daybreak.cli import main
from tests.cli.asking import answer


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_answers_where_there_is_nothing_but_the_paper(capsys) -> None:
    data = answer(capsys, "advise", "--T", "64", "--d", "32")
    assert data["plateau"] == pytest.approx(0.76 * 32**1.29 * 64**0.8)
    assert data["law"]["source"] == "paper A, figure 3"
    assert {gain["source"] for option in data["options"] for gain in option["gains"]} == {"theory", "paper A, figure 3"}
    assert main(["advise", "--T", "64", "--d", "32"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "Without repetition: 1,851 steps",
        "constant B = 4",
        "Recommended: adaptive",
        data["command"],
        "times faster",
        "Note:",
    ):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--T", "4", "--d", "8"), "T = 4 is not allowed"),
        (("--T", "64", "--d", "0"), "d = 0 is not allowed"),
        (("--T", "64", "--d", "8", "--law", "fig99"), "law = 'fig99' is unknown"),
        (("--T", "64", "--d", "8", "--law", "fig3", "--lab", "lab"), "together with --lab"),
        (("--T", "64", "--d", "8", "--lab", "nowhere"), "there is no lab"),
        (("--T", "many", "--d", "8"), "many"),
    ],
)
def test_a_wrong_request_is_refused_in_a_sentence(capsys, arguments: tuple[str, ...], words: str) -> None:
    assert main(["advise", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert words in err
    assert "Traceback" not in err
