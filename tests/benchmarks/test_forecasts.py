"""Scoring forecasts: what is kept of a lab is read back, and planted runs get the scores that they should."""

from pathlib import Path

import numpy as np
from benchmarks.forecasts import FRACTIONS, Kept, keep, kept, line, priors, scored, summary
from scipy import special

from daybreak.lab import Lab
from tests.lab import made


def planted(T: int, d: int, seed: int, takeoff: float) -> Kept:
    """A run that follows the clock to its take-off and emerges 6 % later."""
    steps = np.arange(0, 1.2 * takeoff, takeoff / 100)
    rise = special.erfinv(np.minimum(steps / takeoff, 1 - 1e-9)) ** 2
    loss = np.where(steps < takeoff, 0.5, np.maximum(0.5 - 0.4 * (steps / takeoff - 1) / 0.06, 0.0))
    heads = np.repeat(special.expit(rise - np.log(T - 1))[:, None], 2, axis=1)
    return Kept(f"{T}-{d}-{seed}", "single-location", {"T": float(T), "d": float(d)}, seed, 0.1, steps, loss, heads)


def test_planted_runs_are_marked() -> None:
    rng = np.random.default_rng(0)
    runs = [
        planted(T, d, seed, 0.5 * d * T * np.exp(0.05 * rng.standard_normal()))
        for T in (16, 32, 64)
        for d in (8, 16)
        for seed in range(2)
    ]
    assert len(priors(runs)) == 6
    rows = list(scored(runs))
    assert len(rows) == len(runs) * FRACTIONS.size * 4
    marks = {(x["method"], x["fraction"]): x for x in summary(rows) if x["group"] == "both"}
    half = marks["all", 0.5]
    assert half["runs"] == half["forecasts"] == 12
    assert half["error"] < 0.1
    assert half["coverage"] > 0.9
    assert half["width"] < min(marks["run", 0.5]["width"], marks["law", 0.5]["width"]), (
        "two sources give a narrower interval than one"
    )
    assert marks["line", 0.5]["forecasts"] == 0, "a flat loss leads nowhere"
    assert marks["law", 0.1]["forecasts"] == 12


def test_a_loss_that_falls_steadily_is_extrapolated_exactly() -> None:
    steps = np.arange(0.0, 100.0, 5.0)
    run = Kept("a", "single-location", {}, 0, 0.1, steps, 0.5 - 0.004 * steps, np.full((20, 1), 0.1))
    found = line(run, 50.0)
    assert found is not None
    np.testing.assert_allclose(found, 100.0)


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    lab.save(made.run(3, d=8), made.record(300.0), **made.SOURCE)
    lab.save(made.recall(), made.record(300.0, accuracy=True), **made.SOURCE)
    assert keep(lab.path, tmp_path / "records.parquet") == 2
    found = {run.task: run for run in kept(tmp_path / "records.parquet")}
    one, two = found["single-location"], found["recall"]
    assert (one.settings, one.seed, one.direction) == ({"T": 64.0, "d": 8.0}, 3, "down")
    assert (two.settings, two.direction) == ({"N": 8.0, "V": 64.0}, "up")
    assert one.plateau.length == lab.load(one.id).document["plateau"]["length"]
    record = lab.load(one.id).record
    assert record is not None
    assert one.steps[-1] < record.steps[-1], "the curve after the plateau is not kept"
    np.testing.assert_array_equal(one.attention, record.curves["attention"][: len(one.steps)].reshape(-1, 6))
