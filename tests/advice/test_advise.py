"""Advice from a planted law: its numbers come back with intervals, and an extrapolation is stated with its factor."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak import theory
from daybreak.advice import Advice, advise, law_of_lab, law_of_paper, law_of_results
from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.studies.results import shipped
from daybreak.training import Optimizer
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


def _advice(T: int, d: int, results: Path) -> Advice:
    return advise("single-location", {"T": T, "d": d}, 256, law_of_results("fig3", results), results)


def test_the_planted_law_gives_the_steps(results: Path) -> None:
    advice = _advice(48, 24, results)
    assert advice.expected.steps == pytest.approx(2 * 24 * 48**0.7, rel=0.05)
    assert advice.expected.interval is not None
    assert advice.expected.interval.low < 2 * 24 * 48**0.7 < advice.expected.interval.high
    assert not advice.expected.beyond
    assert advice.reference.measured == {"T": (16, 64), "d": (8, 32), "width": (256, 256)}
    gain = next(x for x in advice.options if x.name == "constant B = 4").gains[0]
    assert gain.interval is not None
    assert gain.interval.low < 4**0.7 < gain.interval.high
    assert gain.interval.low < gain.factor < gain.interval.high


def test_an_extrapolation_is_stated_with_its_factor(results: Path) -> None:
    reference = law_of_results("fig3", results)
    far, inside = reference.expected({"T": 4096, "d": 4}, 64), reference.expected({"T": 64, "d": 8}, 256)
    assert {x.name: x.factor for x in far.beyond} == {"T": 64.0, "d": 2.0, "width": 4.0}
    said = [str(x) for x in far.beyond]
    assert "T = 4096 is 64.0 times beyond the largest measured, 64" in said
    assert "d = 4 is 2.0 times beyond the smallest measured, 8" in said
    widths = [np.log(x.interval.high / x.interval.low) for x in (far, inside) if x.interval is not None]
    assert widths[0] > 2 * widths[1], "an interval is wider where nothing was measured"


def test_the_fastest_row_of_trained_networks_is_recommended_and_a_faster_one_by_theory_explained(results: Path) -> None:
    planted = _advice(32, 16, results)
    assert planted.recommended is not None
    assert planted.recommended.name == "constant B = 8", "without a study of schedules only copies were trained"
    for here in (planted, _advice(64, 16, shipped())):
        best = here.recommended
        assert best is not None
        faster = [x for x in here.options if x.gains[0].factor > best.gains[0].factor]
        assert len(here.why_not) == len(faster)
        assert not any(x.trained for x in faster)
        document = here.as_json()
        assert document["recommended"] in document["options"]
        for option in document["options"]:
            assert option["steps"] == pytest.approx(here.expected.steps / option["factor"])
            assert {type(option["value"]), type(option["steps"])} == {float}
            assert option["lever"] in ("B", "p")
    assert here.recommended is not None
    gain = here.recommended.gains[0]
    assert (gain.source, gain.measured["T"], gain.measured["width"]) == ("study schedules", 64, 64)
    assert here.distance(gain) == {"width": 4.0}


def test_theory_is_that_of_the_flow(results: Path) -> None:
    advice = _advice(32, 16, results)
    names = {x.name: x.gains[-1].factor for x in advice.options if x.gains[-1].source == "theory"}
    alone = float(theory.plateau(32, 16))
    assert names["constant p = 0.5"] == pytest.approx(alone / float(theory.plateau(32, 16, p=0.5)), rel=1e-3)
    assert names["adaptive B = 8"] > names["constant B = 8"], "copies hold the clean loss up once attention is there"


def test_recall_rests_on_the_paper_and_says_what_was_not_measured() -> None:
    advice = advise("recall", {"N": 32, "V": 256}, 256, law_of_paper("fig4"), shipped())
    assert advice.expected.steps == pytest.approx(0.55 * 256**0.79 * 32**2.25)
    assert advice.expected.interval is None
    assert any("No law of ours covers recall yet" in x for x in advice.cautions)
    assert "daybreak train recall --task.N 32 --task.V 256" in advice.command


def test_the_law_of_a_lab(tmp_path: Path) -> None:
    lab, rng = Lab(tmp_path / "lab").open(), np.random.default_rng(0)
    shift = 20 * np.log(9)  # from the middle of a made fall to a loss of 0.1
    for d in (8, 16, 32):
        for T in (16, 64):
            for seed in (0, 1):
                end = 2 * d * T**0.5 * np.exp(0.03 * rng.standard_normal())
                lab.save(made.run(seed, d=d, T=T), made.record(end - shift, count=51), **made.SOURCE)
    lab.save(made.recall(), made.record(300.0, accuracy=True), **made.SOURCE)
    lab.save(made.run(optimizer=Optimizer(learning_rate=1e-2)), made.record(100.0), **made.SOURCE)
    advice = advise("single-location", {"T": 32, "d": 16}, 256, law_of_lab(lab), tmp_path)
    assert advice.expected.steps == pytest.approx(2 * 16 * 32**0.5, rel=0.1)
    assert "12 runs" in advice.reference.source, "those of another learning rate do not count"
    assert law_of_lab(lab).expected({"T": 640, "d": 16}, 256).beyond[0].factor == 10


def test_one_run_of_a_lab_is_enough_with_the_exponents_of_the_paper(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    lab.save(made.run(T=16, d=16), made.record(300.0), **made.SOURCE)
    there = law_of_lab(lab).expected({"T": 32, "d": 16}, 256)
    assert there.interval is not None
    assert there.interval.high > 2 * there.interval.low
    assert there.steps == pytest.approx(344 * 2**0.8, rel=0.02)


def test_what_cannot_be_advised_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"fig99.*fig3 or fig15"):
        law_of_results("fig99", tmp_path)
    with pytest.raises(RequestError, match="it has no table of fig3"):
        law_of_results("fig3", tmp_path)
    with pytest.raises(RequestError, match="no run"):
        law_of_lab(Lab(tmp_path / "lab").open())


def test_the_command_has_a_budget_that_lasts_until_emergence(results: Path) -> None:
    assert "--stop.budget" not in _advice(64, 32, results).command, "the default is enough"
    advice = _advice(4096, 1024, results)
    budget = int(advice.command.partition("--stop.budget ")[2])
    assert advice.recommended is None or budget > 1.9 * advice.steps(advice.recommended)
    assert budget < 3 * advice.expected.steps
    assert set(str(budget)[2:]) == {"0"}
