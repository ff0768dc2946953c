"""Advice from a planted law: its numbers come back with intervals, and an extrapolation is stated with its factor."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak import theory
from daybreak.advice import advise, law_of_lab, law_of_results
from daybreak.errors import RequestError
from daybreak.lab import Lab
from tests.lab import made


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that follow 2 d (T/B)^0.7 with 5 % noise, in the folder that `daybreak reproduce fig3` writes."""
    folder = tmp_path_factory.mktemp("results")
    rng = np.random.default_rng(0)
    rows = [(T, d, B) for T in (16, 32, 64) for d in (8, 16, 32) for B in (1, 2, 4) for _ in range(3)]
    T, d, B = (np.array(x, np.float64) for x in zip(*rows, strict=True))
    table = {
        "T": T,
        "d": d,
        "B": B,
        "p": np.zeros(T.size),
        "plateau": 2 * d * (T / B) ** 0.7 * np.exp(0.05 * rng.standard_normal(T.size)),
        "censored": np.zeros(T.size, bool),
        "configuration": np.arange(T.size) // 3,
        "id": np.arange(T.size).astype(str),
    }
    place = folder / "emergence" / "fig3" / "laptop"
    place.mkdir(parents=True)
    parquet.write_table(pa.table(table), place / "plateaus.parquet")
    return folder


def test_the_planted_law_gives_the_steps(results: Path) -> None:
    advice = advise(48, 24, law_of_results("fig3", results), results)
    assert advice.plateau == pytest.approx(2 * 24 * 48**0.7, rel=0.05)
    assert advice.interval is not None
    assert advice.interval.low < 2 * 24 * 48**0.7 < advice.interval.high
    assert not advice.beyond
    by_copies = {option.name: option.gains for option in advice.options}
    gain = by_copies["constant B = 4"][0]
    assert gain.interval is not None
    assert gain.interval.low < 4**0.7 < gain.interval.high
    assert gain.interval.low < gain.factor < gain.interval.high


def test_an_extrapolation_is_stated_with_its_factor(results: Path) -> None:
    advice = advise(4096, 4, law_of_results("fig3", results), results)
    assert {x.name: x.factor for x in advice.beyond} == {"T": 64.0, "d": 2.0}
    assert "64 beyond the largest measured, 64" in str(advice.beyond[0])
    assert "2 beyond the smallest measured, 8" in str(advice.beyond[1])
    inside = advise(64, 8, law_of_results("fig3", results), results)
    widths = [np.log(x.interval.high / x.interval.low) for x in (advice, inside) if x.interval is not None]
    assert widths[0] > widths[1], "an interval is wider where nothing was measured"


def test_without_results_the_law_is_the_papers_and_a_caution_says_so(tmp_path: Path) -> None:
    advice = advise(256, 64, law_of_results("fig3", tmp_path), tmp_path)
    assert advice.plateau == pytest.approx(0.76 * 64**1.29 * 256**0.8)
    assert advice.interval is None
    assert any("neither intervals nor its grid" in x for x in advice.cautions)
    assert advice.recommended.gains[0].factor == pytest.approx(8**0.8)
    assert "--schedule.name adaptive" in advice.command


def test_theory_is_that_of_the_flow(tmp_path: Path) -> None:
    advice = advise(32, 16, law_of_results("fig15", tmp_path), tmp_path)
    names = {option.name: option.gains[-1].factor for option in advice.options}
    alone = float(theory.plateau(32, 16))
    assert names["constant p = 0.5"] == pytest.approx(alone / float(theory.plateau(32, 16, p=0.5)), rel=1e-3)
    switch = next(x for name, x in names.items() if name.startswith("p from 1 to 0"))
    assert switch == pytest.approx(alone / theory.best_switch(32, 16).plateau, rel=1e-6)
    assert switch >= names["adaptive p = 0.99"] > names["constant p = 0.5"]


def test_the_law_of_a_lab(tmp_path: Path) -> None:
    lab, rng = Lab(tmp_path / "lab").open(), np.random.default_rng(0)
    shift = 20 * np.log(9)  # from the middle of a made fall to a loss of 0.1
    for d in (8, 16, 32):
        for T in (16, 64):
            for seed in (0, 1):
                end = 2 * d * T**0.5 * np.exp(0.03 * rng.standard_normal())
                lab.save(made.run(seed, d=d, T=T), made.record(end - shift, count=51), **made.SOURCE)
    lab.save(made.recall(), made.record(300.0, accuracy=True), **made.SOURCE)
    advice = advise(32, 16, law_of_lab(lab), tmp_path)
    assert advice.plateau == pytest.approx(2 * 16 * 32**0.5, rel=0.1)
    assert "12 runs" in advice.reference.source
    assert advise(640, 16, law_of_lab(lab), tmp_path).beyond[0].factor == 10


def test_what_cannot_be_advised_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"fig99.*fig3 or fig15"):
        law_of_results("fig99", tmp_path)
    with pytest.raises(RequestError, match="no run"):
        law_of_lab(Lab(tmp_path / "lab").open())
