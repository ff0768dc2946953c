"""`daybreak advise`: numbers with their sources, and requests that make no sense."""

from pathlib import Path

import pytest

from daybreak.cli import main
from daybreak.lab import Lab
from tests.cli.asking import answer
from tests.lab import made


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_gives_the_same_answer_in_every_folder_and_says_what_it_rests_on(capsys, tmp_path: Path) -> None:
    first = answer(capsys, "advise", "--T", "16", "--d", "8")
    assert first["law"]["source"] == "our runs of fig3"
    made.fill(Lab("lab"))
    Path("results/emergence/fig3/laptop").mkdir(parents=True)
    assert answer(capsys, "advise", "--T", "16", "--d", "8") == first, (
        "a lab or results that happen to be here do not count"
    )
    assert answer(capsys, "advise", "--T", "16", "--d", "8", "--lab", "lab")["law"]["source"] == "5 runs in 'lab'"
    assert main(["advise", "--T", "640", "--d", "8"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "from our runs of fig3. --lab DIR would use runs of your own.",
        "Measured with single-location at T ",
        "This extrapolates: T = 640 is 2.5 times beyond the largest measured, 256.",
        "By the law of paper A, figure 3, 0.76 d^1.29 T^0.8 B^-0.8: 1,9",
        "→ ",
        "Recommended: ",
        "your setting is away from it by T 10 times, d 4 times",
        "Next: daybreak train single-location --task.T 640 --task.d 8",
        "Note:",
    ):
        assert words in shown


def test_recall(capsys) -> None:
    data = answer(capsys, "advise", "recall", "--N", "8", "--V", "64")
    assert (data["task"], data["N"], data["V"]) == ("recall", 8, 64)
    assert data["interval"][0] < data["plateau"] < data["interval"][1]
    assert data["law"]["source"] == "our runs of fig4"
    assert data["recommended"]["gains"][0]["source"] == "our runs of fig5"
    assert main(["advise", "recall", "--N", "8", "--V", "64"]) == 0
    assert "no mistakes" in capsys.readouterr().out, "which level the steps are to"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--T", "4", "--d", "8"), "T = 4 is not allowed"),
        (("--T", "64", "--d", "0"), "d = 0 is not allowed"),
        (("--T", "64", "--d", "8", "--law", "fig99"), "law = 'fig99' is unknown"),
        (("--T", "64", "--d", "8", "--law", "fig3", "--lab", "lab"), "together with --lab"),
        (("--T", "64", "--d", "8", "--lab", "nowhere"), "there is no lab"),
        (("--T", "many", "--d", "8"), "many"),
        (
            ("--T", "64", "--d", "1000000000000"),
            "d = 1000000000000 is not allowed: it must lie between 1 and 1,000,000",
        ),
        (("--T", str(10**18), "--d", "8"), "it must lie between 8 and 1,000,000"),
        (("--T", "1000000", "--d", "8"), "nothing that was measured says what happens there"),
        (("recall", "--N", "100", "--V", "8"), "V must be at least 100 at N = 100"),
        (("text", "--context", "16", "--batch", "8"), "context = 16 is not allowed: it must lie between 20"),
        (("text", "--context", "2000", "--batch", "1000"), "nothing that was measured says what happens there"),
        (("--T", "64", "--d", "8", "--width", "0"), "width = 0 is not allowed"),
        (("--T", "64", "--d", "8", "--results", "afile"), "results = 'afile' is not allowed: it is not a folder"),
        (("--T", "64", "--d", "8", "--results", "."), "it has no table of fig3"),
        (("--T", "64"), "--d missing: give both"),
        (("recall",), "--N and --V missing"),
        (("recall", "--N", "8", "--V", "64", "--T", "8"), "T = 8 is not allowed for recall: it has --N and --V"),
        (("recall", "--N", "8", "--V", "64", "--lab", "lab"), "lab is not allowed for recall"),
        (("markov", "--T", "8"), "markov"),
    ],
)
def test_a_wrong_request_is_refused_in_a_sentence(capsys, arguments: tuple[str, ...], words: str) -> None:
    Path("afile").write_text("x")
    assert main(["advise", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert words in err
    assert "Traceback" not in err
