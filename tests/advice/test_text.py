"""Advice for text, from planted tables: the law's steps, what each form of repetition costs, and which one to take."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak.advice import advise_text
from daybreak.cli import main
from daybreak.errors import RequestError
from tests.cli.asking import answer

SETTING = {"T": 64, "batch": 16, "width": 128, "vocabulary": 1000}


def _steps(T: float, batch: float) -> float:
    return 3000 * (T / 64) ** 0.5 * (batch / 16) ** -0.4


def _write(folder: Path, study: str, table: str, columns: dict) -> None:
    place = folder / "language" / study / "laptop"
    place.mkdir(parents=True)
    parquet.write_table(pa.table(columns), place / f"{table}.parquet")


def _results(folder: Path, adaptive_emerged: bool = True) -> Path:
    """Steps grow as √T and fall with the batch; plain text never emerges; constant repetition costs 0.1 nats."""
    rng = np.random.default_rng(0)
    axes = {"T": (32, 128), "batch": (8, 32), "width": (64, 256), "vocabulary": (250, 500)}
    changes = [{}, *({name: x} for name, values in axes.items() for x in values)]
    rows = [(i, SETTING | change) for i, change in enumerate(changes) for _ in range(3)]
    lengths = [_steps(x["T"], x["batch"]) * np.exp(0.03 * rng.normal()) for _, x in rows]
    columns = {name: [float(x[name]) for _, x in rows] for name in SETTING}
    columns |= {"plateau": lengths, "censored": [False] * len(rows), "configuration": [i for i, _ in rows]}
    _write(folder, "text-laws", "plateaus", columns)
    arms = {"none": (8000, True, 0.0), "q = 0.1": (6000, False, 0.01), "q = 1": (3000, False, 0.1)}
    arms["adaptive, q = 1"] = (3000, not adaptive_emerged, 0.0)
    runs = [(name, seed, *x) for name, x in arms.items() for seed in range(5)]
    columns = {
        "arm": [x[0] for x in runs],
        "seed": [x[1] for x in runs],
        "plateau": [float(x[2]) for x in runs],
        "censored": [x[3] for x in runs],
        "clean_loss": [3.4 + 0.1 * x[1] + x[4] + 0.001 * rng.normal() for x in runs],
        "steps": [8000.0] * len(runs),
    }
    _write(folder, "text-schedules", "runs", columns)
    return folder


def test_the_planted_law_and_prices_come_back(tmp_path: Path) -> None:
    advice = advise_text(SETTING | {"T": 256, "batch": 8}, _results(tmp_path))
    assert advice.expected.steps == pytest.approx(_steps(256, 8), rel=0.1)
    assert advice.expected.interval is not None
    assert advice.expected.interval.low < _steps(256, 8) < advice.expected.interval.high
    assert [str(x) for x in advice.expected.beyond] == ["T = 256 is 2.0 times beyond the largest measured, 128"]
    arms = {x.name: x for x in advice.arms}
    assert advice.steps(arms["none"]) is None
    assert advice.steps(arms["q = 0.1"]) == pytest.approx(2 * advice.expected.steps)
    assert (arms["none"].emerged, arms["q = 1"].emerged) == (0, 5)
    price = arms["q = 1"].price
    assert price is not None
    assert price.mean == pytest.approx(0.1, abs=0.003), "seeds differ by far more, but pairs do not"
    assert advice.recommended is arms["adaptive, q = 1"]
    assert advice.command.startswith(
        "daybreak train text --task.T 256 --task.copies 16 --batch 8 --task.q 1 --schedule.name adaptive"
    )


def test_without_an_adaptive_run_that_emerged_the_fastest_constant_is_taken(tmp_path: Path) -> None:
    advice = advise_text(SETTING, _results(tmp_path, adaptive_emerged=False))
    assert advice.recommended is not None
    assert advice.recommended.name == "q = 1"
    assert "adaptive" not in advice.command


def test_a_folder_without_the_studies_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="it has no table of text-laws"):
        advise_text(SETTING, tmp_path)


def test_the_command_says_it(tmp_path: Path, capsys) -> None:
    request = ["advise", "text", "--context", "128", "--batch", "16", "--results", str(_results(tmp_path))]
    data = answer(capsys, *request)
    assert (data["task"], data["T"], data["batch"], data["width"]) == ("text", 128, 16, 128)
    assert data["options"][0]["steps"] is None
    assert main(request) == 0
    shown = capsys.readouterr().out
    for words in (
        "An induction head, if every",
        "emerged in 8,000",
        "0 of 5",
        "→ adaptive, q = 1",
        "Next: daybreak train text",
        "Note: Forms of repetition were compared at context 64, batch 16 and width 128 only.",
    ):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context", "256"], "--batch missing"),
        (
            ["--context", "256", "--batch", "8", "--T", "4"],
            "T = 4 is not allowed for text: it has --context and --batch",
        ),
        (["--context", "4", "--batch", "8"], "context = 4 is not allowed"),
        (["--context", "256", "--batch", "8", "--law", "fig3"], "law is not allowed for text"),
    ],
)
def test_wrong_requests(arguments, words, capsys) -> None:
    assert main(["advise", "text", *arguments]) == 2
    assert words in capsys.readouterr().err
