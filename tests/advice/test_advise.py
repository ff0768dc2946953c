"""Advice from a planted law: its numbers come back with intervals, and an extrapolation is stated with its factor."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak import theory
from daybreak.advice import Advice, advise, law_of_lab, law_of_recall, law_of_results
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


def _recall(folder: Path, name: str, rows: list[tuple[float, ...]], placement: str = "one-plus") -> None:
    """A planted table of figure 4 or 5: N, V, B, p, plateau and seed of each run."""
    N, V, B, p, plateau, seed = (np.array(x, np.float64) for x in zip(*rows, strict=True))
    settings = {"N": N, "V": V, "B": B, "p": p, "learning_rate": np.full(N.size, 1e-4), "seed": seed}
    measured = dict.fromkeys(("plateau", "plateau_above", "plateau_paper"), plateau)
    cut = {x: np.zeros(N.size, bool) for x in ("censored", "censored_above", "censored_paper")}
    _, configuration = np.unique(np.stack([N, V, B, p], axis=1), axis=0, return_inverse=True)
    names = {"id": np.arange(N.size).astype(str), "placement": np.full(N.size, placement)}
    place = folder / "emergence" / name / "laptop"
    place.mkdir(parents=True)
    table = {**settings, **measured, **cut, **names, "configuration": configuration.reshape(-1)}
    parquet.write_table(pa.table(table), place / "plateaus.parquet")


def _pairs(noise: np.random.Generator) -> list[tuple[float, ...]]:
    """Runs that follow 2 V^0.5 N^2 with 3 % noise."""
    shapes = [(N, V) for N in (8, 12, 16) for V in (32, 64)]
    return [
        (N, V, 1, 0, 2 * V**0.5 * N**2 * np.exp(0.03 * noise.standard_normal()), seed)
        for N, V in shapes
        for seed in range(3)
    ]


def test_recall_without_runs_in_its_regime_rests_on_the_paper_and_says_so(tmp_path: Path) -> None:
    _recall(tmp_path, "fig4", _pairs(np.random.default_rng(0)), placement="at-least-one")
    for folder in (tmp_path, tmp_path / "emergence"):  # runs whose baseline repeats; no table
        advice = advise("recall", {"N": 32, "V": 256}, 256, law_of_recall(folder), folder)
        assert advice.expected.steps == pytest.approx(0.55 * 256**0.79 * 32**2.25)
        assert advice.expected.interval is None
        assert any("No run of ours covers recall here" in x for x in advice.cautions)
        assert "daybreak train recall --task.N 32 --task.V 256" in advice.command


def test_the_planted_law_of_recall_gives_the_steps(tmp_path: Path) -> None:
    _recall(tmp_path, "fig4", _pairs(np.random.default_rng(1)))
    advice = advise("recall", {"N": 24, "V": 64}, 256, law_of_recall(tmp_path), tmp_path)
    there = advice.expected
    assert there.steps == pytest.approx(2 * 64**0.5 * 24**2, rel=0.1)
    assert there.interval is not None
    assert there.interval.low < 2 * 64**0.5 * 24**2 < there.interval.high
    assert [x.name for x in there.beyond] == ["N"]
    assert advice.reference.measured == {"N": (8, 16), "V": (32, 64), "width": (256, 256)}


def test_factors_of_the_nearest_network_are_recommended(tmp_path: Path) -> None:
    """At width 256 those of figure 5, planted to gain less than what the shipped study of schedules has at width 64."""
    gains = {(1.0, 0.0): 1.0, (2.0, 0.0): 2.0, (3.0, 0.0): 3.0, (1.0, 0.5): 1.5}
    rows = [(12, 64, B, p, 4000 * (1 + 0.01 * seed) / x, seed) for (B, p), x in gains.items() for seed in range(3)]
    _recall(tmp_path, "fig5", rows)
    shutil.copytree(shipped() / "emergence" / "schedules", tmp_path / "emergence" / "schedules")
    wide, narrow = (advise("recall", {"N": 12, "V": 64}, x, law_of_recall(tmp_path), tmp_path) for x in (256, 64))
    assert wide.recommended is not None
    assert (wide.recommended.name, wide.recommended.gains[0].source) == ("constant B = 3", "our runs of fig5")
    assert wide.recommended.gains[0].factor == pytest.approx(3)
    assert narrow.recommended is not None
    assert narrow.recommended.gains[0].source == "study schedules"
    assert narrow.recommended.gains[0].factor > 3
    (why,) = [x for x in wide.why_not if x.startswith(narrow.recommended.name)]
    assert "networks are further from yours" in why


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
