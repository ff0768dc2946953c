"""Advice from a planted law: its numbers come back with intervals, and an extrapolation is stated with its factor."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from daybreak import theory
from daybreak.advice import Advice, Task, advise, law_of_lab, law_of_recall, law_of_results
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
        "seed": np.arange(T.size) % 3,
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
    gain = next(x for x in advice.options if x.name == "constant B = 2").gains[0]
    assert gain.interval is not None
    assert gain.interval.low < 2**0.7 < gain.interval.high
    assert gain.interval.low < gain.factor < gain.interval.high


def test_an_extrapolation_is_stated_with_its_factor(results: Path) -> None:
    reference = law_of_results("fig3", results)
    far, inside = reference.expected({"T": 256, "d": 4}, 256), reference.expected({"T": 64, "d": 8}, 256)
    assert {x.name: x.factor for x in far.beyond} == {"T": 4.0, "d": 2.0}
    said = [str(x) for x in far.beyond]
    assert "T = 256 is 4.0 times beyond the largest measured, 64" in said
    assert "d = 4 is 2.0 times beyond the smallest measured, 8" in said
    widths = [np.log(x.interval.high / x.interval.low) for x in (far, inside) if x.interval is not None]
    assert widths[0] > 2 * widths[1], "an interval is wider where nothing was measured"


def test_a_corner_that_was_not_measured_does_not_lie_inside(results: Path) -> None:
    path = results / "emergence" / "fig3" / "laptop" / "plateaus.parquet"
    before = parquet.read_table(path)
    table = {name: before[name].to_numpy() for name in before.column_names}
    without = (table["T"] < 64) | (table["d"] < 32)
    parquet.write_table(pa.table({name: column[without] for name, column in table.items()}), path)
    try:
        reference = law_of_results("fig3", results)
        inside = {
            (T, d): reference.covers({"T": T, "d": d}) for T, d in ((64, 16), (48, 12), (32, 32), (64, 32), (48, 24))
        }
    finally:
        parquet.write_table(before, path)
    assert inside == {(64, 16): True, (48, 12): True, (32, 32): True, (64, 32): False, (48, 24): False}
    assert law_of_results("fig3", results).covers({"T": 48, "d": 24})


def test_far_from_what_was_measured_there_is_no_interval_and_further_no_answer(results: Path) -> None:
    reference = law_of_results("fig3", results)
    assert reference.expected({"T": 640, "d": 8}, 256).interval is not None, "ten times"
    assert reference.expected({"T": 640, "d": 64}, 256).interval is None, "ten times in T, twice in d"
    with pytest.raises(RequestError, match=r"T = 6401 is 100\.0 times beyond the largest measured, 64: nothing"):
        reference.expected({"T": 6401, "d": 8}, 256)


def test_at_another_width_there_is_no_interval_and_the_steps_are_said_to_be_those_of_the_measured_one(
    results: Path,
) -> None:
    """Trained at T = 64, d = 16, width 64: 2,399 and 2,209 steps, where networks of width 256 take about 780."""
    narrow = advise("single-location", {"T": 64, "d": 16}, 64, law_of_results("fig3", results), results)
    assert narrow.expected.interval is None
    assert [str(x) for x in narrow.expected.beyond] == ["width = 64 is 4.0 times beyond the smallest measured, 256"]
    assert "Steps are those of networks of width 256." in narrow.cautions[0]


def test_the_fastest_row_of_trained_networks_is_recommended_and_a_faster_one_by_theory_explained(results: Path) -> None:
    planted = _advice(32, 16, results)
    assert planted.recommended is not None
    assert planted.recommended.name == "constant B = 4", "the most copies that were trained"
    for here in (planted, _advice(64, 16, shipped())):
        best = here.recommended
        assert best is not None
        faster = [x for x in here.options if x.gains[0].factor > best.gains[0].factor]
        assert len(here.why_not) == len(faster)
        document = here.as_json()
        assert document["recommended"] in document["options"]
        for option in document["options"]:
            assert option["steps"] == pytest.approx(here.expected.steps / option["factor"])
            assert {type(option["value"]), type(option["steps"])} == {float}
            assert option["lever"] in ("B", "p")
    assert here.recommended is not None
    assert here.recommended.gains[0].measured["width"] == 256, "on a network like the own one"
    others = [x for x in here.options if x.name == "adaptive p = 0.9"]
    assert here.distance(others[0].gains[0]) == {"width": 4.0, "learning_rate": 10.0}


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
    measured = {"plateau_above": plateau} | dict.fromkeys(
        ("plateau", "plateau_paper"), plateau / N
    )  # other levels, other laws
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
    """Those of figure 5, planted to gain less than what the shipped study of schedules has at width 64 and ten times the learning rate."""
    gains = {(1.0, 0.0): 1.0, (2.0, 0.0): 2.0, (3.0, 0.0): 3.0, (1.0, 0.5): 1.5}
    rows = [(12, 64, B, p, 4000 * (1 + 0.01 * seed) / x, seed) for (B, p), x in gains.items() for seed in range(3)]
    _recall(tmp_path, "fig5", rows)
    only = tmp_path / "only"
    for folder in (tmp_path, only):
        shutil.copytree(shipped() / "emergence" / "schedules", folder / "emergence" / "schedules")
    wide, study = (advise("recall", {"N": 12, "V": 64}, 256, law_of_recall(x), x) for x in (tmp_path, only))
    assert wide.recommended is not None
    assert (wide.recommended.name, wide.recommended.gains[0].source) == ("constant B = 3", "our runs of fig5")
    assert wide.recommended.gains[0].factor == pytest.approx(3)
    assert study.recommended is not None
    assert study.recommended.gains[0].source == "study schedules", "without figure 5"
    assert study.recommended.gains[0].factor > 3
    (why,) = [x for x in wide.why_not if x.startswith(study.recommended.name)]
    assert "on networks less like yours" in why
    constant = {x.name: x.gains[0] for x in wide.options}["constant p = 0.5"]
    assert (constant.source, constant.factor) == ("our runs of fig5", pytest.approx(1.5)), (
        "every row has the nearest first"
    )


def test_copies_count_at_the_nearest_size_at_which_they_were_trained_unless_that_gave_a_bound(results: Path) -> None:
    near = _advice(60, 30, results)
    (gain,) = [x.gains[0] for x in near.options if x.name == "constant B = 2"]
    assert (gain.measured["T"], gain.measured["d"]) == (64, 32)
    path = results / "emergence" / "fig3" / "laptop" / "plateaus.parquet"
    before = parquet.read_table(path)
    table = {name: before[name].to_numpy().copy() for name in before.column_names}
    table["censored"][(table["T"] == 64) & (table["d"] == 32) & (table["B"] == 2)] = True
    parquet.write_table(pa.table(table), path)
    try:
        assert [x.gains[0].source for x in _advice(60, 30, results).options if x.name == "constant B = 2"] == ["theory"]
    finally:
        parquet.write_table(before, path)


@pytest.mark.parametrize(
    ("task", "setting", "words"),
    [("recall", {"N": 100, "V": 8}, "V must be at least 100"), ("single-location", {"T": 0, "d": 8}, "T = 0")],
)
def test_what_cannot_be_trained_is_refused(task: Task, setting: dict[str, int], words: str) -> None:
    reference = law_of_recall(shipped()) if task == "recall" else law_of_results("fig3", shipped())
    with pytest.raises(RequestError, match=words):
        advise(task, setting, 256, reference, shipped())


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
    advice = _advice(1024, 64, results)
    budget = int(advice.command.partition("--stop.budget ")[2])
    assert advice.recommended is None or budget > 1.9 * advice.steps(advice.recommended)
    assert budget < 3 * advice.expected.steps
    assert set(str(budget)[2:]) == {"0"}
