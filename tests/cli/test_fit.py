"""`daybreak fit`: a planted law is found, compared with the paper's, drawn; what cannot be fitted is refused in a sentence."""

from pathlib import Path

import numpy as np
import pytest

from daybreak.cli import main
from daybreak.lab import Lab
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
    assert data["also_varying"] == []
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
    assert main(["fit", "--law", "C * d**a", *ONLY]) == 0
    assert "The runs also differ in T, which the law does not contain." in capsys.readouterr().out


WRONG = [
    (("--law", "C * D**a", *ONLY), "'D', which is no column: did you mean 'd'?"),
    (("--law", "C * witdh**a", *ONLY), "did you mean 'width'?"),
    (("--law", "C * d**", *ONLY), "cannot be read"),
    (("--law", "d**a", *ONLY), "exactly one factor that is not a column"),
    (("--law", "C * layers**a", *ONLY), "exponent 'a' cannot be identified"),
    (("--law", "C * N**a"), "'N', which 24 of the 25 runs do not have: choose runs with --where"),
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
