"""What trained studies share, on planted runs: plateaus, laws, tuning, intervals and verdicts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daybreak import measure, studies
from daybreak.lab import Lab, Saved
from daybreak.measure import Interval
from daybreak.studies import Claim, TrainedData, _pairs, _runs, _verdicts
from daybreak.studies.emergence import _trained
from daybreak.training import Record, Run, Stop
from tests.lab import made


def _saved(tmp_path: Path, runs: list[Run], records: list[Record]) -> list[Saved]:
    lab = Lab(tmp_path / "lab").open()
    for run, record in zip(runs, records, strict=True):
        lab.save(run, record, **made.SOURCE)
    return [lab.load(run.id) for run in runs]


def test_rows_are_runs_and_those_that_diverged_are_left_out(tmp_path: Path) -> None:
    runs = [made.run(0), made.run(1), made.run(0, T=32), made.run(1, T=32)]
    records = [
        made.record(300),
        made.record(400),
        made.record(5000, outcome="censored"),
        made.record(300, outcome="diverged"),
    ]
    saved = _saved(tmp_path, runs, records)
    table = _runs.plateaus(saved, ("T", "d", "position"))
    assert table["T"].tolist() == [64, 64, 32]
    assert table["seed"].tolist() == [0, 1, 0]
    assert table["position"].tolist() == ["random"] * 3
    assert table["censored"].tolist() == [False, False, True]
    assert table["plateau"][1] - table["plateau"][0] == pytest.approx(100, abs=1)
    assert table["plateau"][2] == 780
    assert table["configuration"][0] == table["configuration"][1] != table["configuration"][2]
    half = _runs.plateau_columns_at(saved, "clean_loss", lambda _: 0.5, "half")
    assert half["plateau_half"][:2].tolist() == pytest.approx([300, 400], abs=0.1)
    assert _runs.with_plateaus_at(table | half, "half")["plateau"][0] == half["plateau_half"][0]


def test_a_level_relative_to_the_plateau_of_the_run_itself(tmp_path: Path) -> None:
    """Two runs whose plateaus have different heights, and end at the same steps."""
    low = made.record(300)
    high = Record(low.steps, low.curves | {"clean_loss": 1.4 * low.curves["clean_loss"]}, low.outcome)
    saved = _saved(tmp_path, [made.run(0), made.run(1)], [low, high])
    assert _runs.plateau_height(saved[1]) == pytest.approx(1.4 * _runs.plateau_height(saved[0]), rel=0.01)
    own = _runs.plateau_columns_at(saved, "clean_loss", _runs.own_level(0.8), "own")["plateau_own"]
    fixed = _runs.plateau_columns_at(saved, "clean_loss", lambda _: 0.4, "fixed")["plateau_fixed"]
    assert own[1] == pytest.approx(own[0], rel=0.002)
    assert fixed[1] > 1.005 * fixed[0]


def test_curves_are_thinned_and_spread(tmp_path: Path) -> None:
    saved = _saved(tmp_path, [made.run(0), made.run(1)], [made.record(9000, count=1001), made.record(count=21)])
    table = _runs.curve_table(saved, ("T",), ("clean_loss", "attention"))
    first = table["seed"] == 0
    assert first.sum() == 100
    assert (~first).sum() == 21
    assert table["step"][first][[0, -1]].tolist() == [0, 20_000]
    assert {"T", "clean_loss", "attention_1_1", "attention_2_3"} <= table.keys()


def test_the_learning_rate_with_the_shorter_plateaus_is_kept_for_each_setting() -> None:
    table = {
        "d": np.array([8, 8, 8, 8, 16, 16]),
        "learning_rate": np.array([1e-4, 1e-4, 3e-4, 3e-4, 1e-4, 3e-4]),
        "plateau": np.array([100.0, 120.0, 90.0, 140.0, 300.0, 200.0]),
    }
    assert _runs.at_best_learning_rate(table, ("d",))["plateau"].tolist() == [100.0, 120.0, 200.0]


def test_intervals_of_sums_and_differences() -> None:
    rng = np.random.default_rng(0)
    d, T = (x.ravel() for x in np.meshgrid([8.0, 16, 32, 64], [8.0, 16, 32, 64]))
    tables = [
        {"d": d, "T": T, "plateau": C * d**1.3 * T**b * np.exp(0.02 * rng.normal(size=16))}
        for C, b in ((2, 0.8), (9, 0.3))
    ]
    first, second = (measure.fit_law("C * d**a * T**b", x) for x in tables)
    both = _verdicts.interval_of_sum(first, {"a": 1, "b": 1})
    assert both.low < 2.1 < both.high
    alone = _verdicts.interval_of_sum(first, {"a": 1})
    assert alone == pytest.approx(first.intervals["a"])
    gap = _verdicts.interval_of_difference(first, second, "b")
    assert gap.low < 0.5 < gap.high
    assert gap.high - gap.low < 0.2


def test_verdicts_by_intervals() -> None:
    assert _verdicts.verdict_above(Interval(0.1, 0.3)) == "holds"
    assert _verdicts.verdict_above(Interval(-0.1, 0.3)) == "undecided"
    assert _verdicts.verdict_above(Interval(0.1, 0.3), 0.5) == "fails"
    assert _verdicts.all_of(["holds", "undecided"]) == "undecided"
    assert _verdicts.all_of(["holds", "undecided", "fails"]) == "fails"
    assert _verdicts.all_of(["holds", "undecided", "outside"]) == "outside"
    assert _verdicts.all_of(["outside", "fails"]) == "fails"
    assert _verdicts.all_of(["holds", "holds"]) == "holds"


def _paired(slow: list[float], fast: list[float], censored: list[int] | None = None) -> _pairs.Factor:
    """The factor between runs of equal seeds; `censored` are numbers of rows, the slow ones first."""
    count = len(slow)
    table = {
        "seed": np.array([*range(count), *range(len(fast))]),
        "plateau": np.array([*slow, *fast]),
        "censored": np.isin(np.arange(count + len(fast)), censored or []),
    }
    first = np.arange(count + len(fast)) < count
    return _pairs.paired_factor(table, first, ~first)


def test_a_factor_is_paired_by_seed_and_a_censored_run_makes_it_a_bound() -> None:
    exact = _paired([100, 400], [50, 200])  # seeds differ by a factor 4, pairs by none
    assert exact.value == pytest.approx(2) and exact.range == pytest.approx((2, 2))
    wide = _paired([100, 100, 100], [40, 50, 60])
    assert wide.range.low < wide.value < wide.range.high
    upper = _paired([100, 100], [50, 50], [3])
    assert str(upper) == "< 2.00" and upper.range == Interval(0.0, upper.value)
    lower = _paired([100, 100], [50, 50], [0])
    assert str(lower) == "> 2.00" and lower.range == Interval(lower.value, np.inf)
    assert _paired([100, 100, 7], [50, 50]).value == pytest.approx(2), "a seed without a partner does not count"


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ({"N": np.array([8, 12]), "placement": np.array(["one-plus"] * 2)}, "holds"),
        ({"N": np.array([6, 12]), "placement": np.array(["one-plus"] * 2)}, "outside"),
        ({"N": np.array([8, 12]), "placement": np.array(["one-plus", "at-least-one"])}, "outside"),
        ({"N": np.array([8, 12])}, "outside"),
    ],
)
def test_recall_is_judged_from_eight_pairs_on_with_one_copy(runs: Any, verdict: str) -> None:
    claim = Claim("A99", "It is sharp.", "", "", "holds", "As seen.")
    (judged,) = _trained.unless_outside([claim], runs, 4)
    assert judged.verdict == verdict
    assert judged.note.endswith("As seen.")


@pytest.mark.parametrize(("name", "other"), [("fig11", "fig3"), ("fig12", "fig3-right"), ("fig17", "fig5")])
def test_figures_share_runs(name: str, other: str) -> None:
    assert {run.id for run in _planned(name, "laptop")} <= {run.id for run in _planned(other, "laptop")}


def test_laptop_scale_is_the_papers_architecture_optimizer_and_batch() -> None:
    """Of the paper's figures; a study of our own may have smaller networks."""
    for study in studies.STUDIES:
        if study.paper == "emergence" and study.name.startswith("fig") and isinstance(study.data, TrainedData):
            for run in study.data.runs("laptop"):
                model: Any = run.model
                assert (model.width, model.head_width, model.mlp, run.batch) == (256, 64, 1024, 32)
                rates = {1e-4, 3e-4} if run.optimizer.name == "adam" else {5e-3}
                assert run.optimizer.learning_rate in rates
                assert run.stop.level == (0.6 if hasattr(run.task, "N") else Stop().level)


def _planned(name: str, scale: studies.Scale) -> list[Run]:
    training = studies.find(name).data
    assert isinstance(training, TrainedData)
    return training.runs(scale)
