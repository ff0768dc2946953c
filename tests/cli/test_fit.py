"""`daybreak fit`: a planted law is found, compared with the paper's, drawn; what cannot be fitted is refused in a sentence."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from daybreak.cli import main
from daybreak.lab import Lab
from daybreak.models import ToyAttention
from tests.cli.asking import answer
from tests.lab import made

FORM = "C * d**a * (T/B)**b"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that cross their level at 2 d T^0.5, ± 5 %; those beyond 1 000 steps did not emerge."""
    folder = tmp_path_factory.mktemp("fit") / "lab"
    lab, rng = Lab(folder).open(), np.random.default_rng(0)
    shift = 20 * np.log(9)  # from the middle of a made fall to a loss of 0.1
    for d in (8, 16, 32, 64):
        for T in (16, 64, 256):
            for seed in (0, 1):
                end = 2 * d * T**0.5 * np.exp(0.05 * rng.standard_normal())
                outcome = "emerged" if end < 1000 else "censored"
                lab.save(made.run(seed, d=d, T=T), made.record(end - shift, count=51, outcome=outcome), **made.SOURCE)
    lab.save(made.recall(), made.record(300.0, accuracy=True), **made.SOURCE)
    return folder


@pytest.fixture
def here(planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lab").symlink_to(planted)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ONLY = ("--where", "task = 'single-location'")


def test_a_planted_law_is_found_with_its_counts(here: Path, capsys) -> None:
    data = answer(capsys, "fit", "--law", FORM, *ONLY)
    law = data["law"]
    for name, truth in {"C": 2.0, "a": 1.0, "b": 0.5}.items():
        low, high = law["intervals"][name]
        assert low < truth < high
    assert (law["method"], data["runs"], data["configurations"]) == ("tobit", 24, 12)
    assert data["censored"] == law["censored"] == 5
    assert data["resampled"]
    assert (data["differ_in"], data["left_out"], len(data["groups"])) == ([], [], 1)
    assert data["paper"]["coefficients"] == {"a": 1.29, "b": 0.8, "C": 0.76}
    few = answer(capsys, "fit", "--law", "C * T**b", "--where", "d = 8")
    assert few["law"]["method"] == "ols"
    assert few["paper"]["coefficients"] == {"b": 0.8}, "at d = 8 the constants are not comparable"
    other = answer(capsys, "fit", "--law", "C * (sqrt(d)*T)**a", "--where", "d <= 32 and T < 256", "--method", "huber")
    assert other["law"]["method"] == "huber"
    assert other["paper"]["coefficients"] == {}, "the paper's exponents of d and T are not as 1 : 2"


def test_what_a_person_reads_and_sees(here: Path, capsys) -> None:
    assert main(["fit", "--law", FORM, *ONLY, "--plot", "law.png"]) == 0
    said = capsys.readouterr().out
    assert "24 runs of 12 configurations, 5 of them did not emerge. By tobit; intervals by cluster bootstrap" in said
    assert "Paper A, figure 3: 0.76 d^1.29 T^0.8 B^-0.8 (R² 0.995)" in said
    assert Path("law.png").read_bytes().startswith(b"\x89PNG")


def test_runs_that_the_law_does_not_tell_apart_get_a_law_each(here: Path, planted: Path, capsys) -> None:
    shutil.copytree(planted, "several")
    for seed in range(3):
        for T in (16, 64):
            made_toy = made.run(seed, T=T, model=ToyAttention())
            Lab("several").save(made_toy, made.record(10.0 * T), **made.SOURCE)
    data = answer(capsys, "fit", "--law", "C * T**b", "--lab", "several", "--where", "T < 256")
    assert data["differ_in"][:2] == ["model", "d"]
    toy = next(x for x in data["groups"] if "toy" in x["kind"])
    assert toy["law"]["rows"] == 6
    for one in data["groups"]:
        again = answer(capsys, "fit", "--law", "C * T**b", "--lab", "several", "--where", one["select"])
        assert again["law"] == one["law"], "the printed --where selects the same runs"
        assert again["select"] == one["select"]
    assert main(["fit", "--law", FORM, "--lab", "several", "--plot", "both.png"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "3 groups of runs differ in task, model, causal, layers, level, which the law does not contain"
    )
    assert "adam: --where \"task = 'single-location' and model = 'transformer'\"" in " ".join(said.split())
    assert "No law of recall, transformer, adam (task = 'recall'): law 'C * d**a * (T/B)**b' names 'T'" in said
    assert Path("both.png").stat().st_size > 0


WRONG = [
    (("--law", "C * D**a", *ONLY), "'D', which is no column: did you mean 'd'?"),
    (("--law", "C * witdh**a", *ONLY), "did you mean 'width'?"),
    (("--law", "C * d**", *ONLY), "cannot be read"),
    (("--law", "d**a", *ONLY), "exactly one factor that is not a column"),
    (("--law", "C * d**a * T**b * layers**c", *ONLY), "exponent 'c' cannot be identified"),
    (("--law", "C * T**b", "--where", "d = 8 and T = 16"), "needs at least 3 runs that emerged, but there are 2"),
    (("--law", "C * N**a"), "none of 13 groups of runs, which differ in"),
    (("--law", "C * width**a", *ONLY), "Put what differs into the law, or choose runs with --where"),
    (("--law", "C + T**b", *ONLY), "a law is a product of powers"),
    (("--law", FORM, "--where", "d = 7"), "no run for which 'd = 7' holds"),
    (("--law", FORM, *ONLY, "--method", "ols"), "cannot count the 5 censored rows"),
    (("--law", FORM, *ONLY, "--method", "magic"), "magic"),
    (("--law", FORM, "--lab", "nowhere"), "there is no lab"),
    (("--law", FORM, *ONLY, "--plot", "law.gif"), "must end in .png, .pdf or .svg"),
    ((), "law"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_what_cannot_be_fitted_is_refused(here: Path, capsys, arguments: tuple[str, ...], sentence: str) -> None:
    before = sorted(here.iterdir())
    assert main(["fit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert sentence in err
    assert sorted(here.iterdir()) == before


def test_a_lab_without_runs_says_so(here: Path, capsys) -> None:
    Lab("empty").open()
    assert main(["fit", "--law", FORM, "--lab", "empty"]) == 2
    assert "has no run that a law could be fitted to" in capsys.readouterr().err
