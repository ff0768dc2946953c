"""The study of two hops on planted runs: exponents with and without a given hop, and the order in which hops form."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daybreak import pictures, studies
from daybreak.measure import Interval
from daybreak.studies._study import Table
from daybreak.studies.emergence import two_circuits
from daybreak.training import Run
from tests.studies.emergence.planted import findings, tables, verdicts


def _time(run: Run, both: float = 2.2, given: float = 1.1) -> float:
    task, model = run.task, run.model
    assert hasattr(model, "first_attention")
    exponents: dict[str, float] = {"learned": both, "previous": given}
    return 30 * task.N ** exponents[model.first_attention]  # pyright: ignore[reportAttributeAccessIssue]


def test_exponents_are_found_and_judged(tmp_path: Path) -> None:
    half = findings("two-circuits", tmp_path / "a", _time)
    assert {x.id: x.verdict for x in half.claims if x.id != "A4-hops"} == {"A4-given": "holds", "A4-half": "holds"}
    exponents = [law.coefficients["b"] for law in half.laws.values()]
    assert exponents == pytest.approx([2.2, 1.1], abs=0.1)
    most = verdicts("two-circuits", tmp_path / "b", lambda run: _time(run, given=1.8))
    assert (most["A4-given"], most["A4-half"]) == ("holds", "fails"), "four fifths are left"
    none = verdicts("two-circuits", tmp_path / "c", lambda run: _time(run, given=0.3))
    assert (none["A4-given"], none["A4-half"]) == ("holds", "fails"), "a seventh is left"
    more = verdicts("two-circuits", tmp_path / "d", lambda run: _time(run, both=1.5, given=2.0))
    assert (more["A4-given"], more["A4-half"]) == ("fails", "fails")
    edge = verdicts("two-circuits", tmp_path / "e", lambda run: _time(run, given=0.65 * 2.2))
    assert edge["A4-half"] == "undecided"


def _hops(later: float) -> Table:
    rng = np.random.default_rng(0)
    N, seed = (x.ravel() for x in np.meshgrid([6, 8, 12], np.arange(5)))
    copying = 30.0 * N**2.0 * np.exp(0.1 * rng.normal(size=N.size))
    return {
        "N": N,
        "seed": seed,
        "emerged": np.ones(N.size, np.bool_),
        "accuracy": 1.1 * copying,
        "copying": copying,
        "selecting": later * copying * np.exp(0.02 * rng.normal(size=N.size)),
        "copying_layer": np.ones(N.size, int),
        "selecting_layer": np.full(N.size, 2),
    }


@pytest.mark.parametrize(("later", "verdict"), [(1.2, "holds"), (0.8, "fails"), (1.0, "undecided")])
def test_the_order_of_the_hops_is_paired_within_runs(later: float, verdict: str, tmp_path: Path) -> None:
    """Runs differ by far more than the hops of one run do."""
    hops = _hops(later)
    low, high = two_circuits.later_hop(hops).range
    assert low < later < high < 1.1 * low
    planted = tables("two-circuits", tmp_path, _time) | {"hops": hops}
    claims = {claim.id: claim for claim in two_circuits.STUDY.judge(planted).claims}
    assert claims["A4-hops"].verdict == verdict


def test_tables_have_the_kind_of_each_run_and_hops_where_both_are_learned(tmp_path: Path) -> None:
    planted = tables("two-circuits", tmp_path, _time)
    runs, hops = planted["plateaus"], planted["hops"]
    assert np.unique(runs["first_attention"]).tolist() == ["learned", "previous"]
    assert np.unique(runs["configuration"]).size == 2 * 7, "two kinds, seven numbers of pairs"
    assert hops["N"].size == (runs["first_attention"] == "learned").sum() == 7 * 5
    np.testing.assert_allclose(hops["copying"], hops["accuracy"], rtol=0.02)
    assert set(hops["copying_layer"].tolist()) == {1} and set(hops["selecting_layer"].tolist()) == {2}


def test_a_multiple_of_an_exponent_is_subtracted_with_its_uncertainty(tmp_path: Path) -> None:
    both, given = findings("two-circuits", tmp_path, _time).laws.values()
    difference = two_circuits.weighted_difference(given, both, 0.5)
    assert difference.low < 0 < difference.high
    alone = two_circuits.weighted_difference(given, both, 0.0)
    assert alone == pytest.approx(Interval(*given.intervals["b"]), abs=0.02)


def test_runs_differ_in_the_given_hop_alone() -> None:
    training = studies.find("two-circuits").data
    assert isinstance(training, studies.TrainedData)
    runs = training.runs("laptop")
    assert len({run.id for run in runs}) == len(runs) == 2 * 7 * 5
    learned, given = (
        {(run.seed, run.task.N) for run in runs if run.model.first_attention == kind}  # pyright: ignore[reportAttributeAccessIssue]
        for kind in ("learned", "previous")
    )
    assert learned == given


def test_picture(tmp_path: Path) -> None:
    planted: Any = tables("two-circuits", tmp_path, _time)
    with pictures.look():
        figure = two_circuits.STUDY.draw(planted, two_circuits.STUDY.judge(planted))
    (path,) = pictures.save(figure, tmp_path / "figure", [".png"])
    assert path.stat().st_size > 10_000
