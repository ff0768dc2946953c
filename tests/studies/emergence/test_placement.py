"""The study of placements on planted times: each claim follows from what was planted, and a censored run makes a bound."""

from pathlib import Path
from typing import Any

import numpy as np

from daybreak import pictures, studies
from daybreak.studies.emergence import placement
from daybreak.training import Run
from tests.studies.emergence.planted import findings, tables, verdicts


def _time(run: Run, single: float = 1.4, alone: float = 1.8, chance: float = 2.0, lost: float = 1.5) -> float:
    """Steps of a run: single copies and repetition alone shorten the time by factors, and binomial draws without an answer lengthen it."""
    task: Any = run.task
    match task.placement:
        case "exactly":
            return 2000 / alone ** (task.B > 1)
        case "one-plus":
            return 2000 / (alone * single) ** (task.B > 1)
        case "at-least-one":
            return 2000 / chance
        case _:
            return 2000 * lost / chance


def test_verdicts_follow_from_what_was_planted(tmp_path: Path) -> None:
    good = verdicts("placement", tmp_path / "a", _time)
    assert good == {"R7": "holds", "R8": "holds", "R9": "holds", "R10": "holds"}
    bad = verdicts("placement", tmp_path / "b", lambda run: _time(run, single=0.8, chance=1.2, lost=0.7))
    assert bad == {"R7": "fails", "R8": "holds", "R9": "fails", "R10": "fails"}
    little = verdicts("placement", tmp_path / "c", lambda run: _time(run, single=3.0, alone=1.1))
    assert (little["R7"], little["R8"]) == ("holds", "fails"), "almost all of the speed-up needs single copies"
    nothing = verdicts("placement", tmp_path / "d", lambda run: _time(run, single=1.0, alone=0.9))
    assert nothing["R8"] == "undecided", "without a speed-up there is nothing to divide"


def test_runs_that_never_emerge_are_bounds(tmp_path: Path) -> None:
    """Exactly four copies are never recalled on clean data, as the probe has it."""
    overfits: Any = lambda run: 1e9 if (run.task.placement, run.task.B) == ("exactly", 4.0) else _time(run)  # noqa: E731
    results = {claim.id: claim for claim in findings("placement", tmp_path, overfits).claims}
    assert "B 4: > " in results["R7"].ours and results["R7"].verdict == "holds"
    assert "exactly 4: < " in results["R7"].note
    assert results["R8"].verdict == "fails"


def test_the_part_that_is_left_has_the_interval_of_the_planted_one(tmp_path: Path) -> None:
    runs = tables("placement", tmp_path, _time)["plateaus"]
    left = placement.more_than_half(runs, 2.0)
    truth = np.log(1.8) - 0.5 * np.log(1.8 * 1.4)
    assert left.low < truth < left.high
    assert left.high - left.low < 0.2


def test_seeds_are_those_of_no_other_study() -> None:
    training = studies.find("placement").data
    assert isinstance(training, studies.TrainedData)
    runs = training.runs("laptop")
    assert {run.seed for run in runs} == {21, 22, 23, 24, 25}
    assert len({run.id for run in runs}) == len(runs) == 4 * 3 * 5


def test_picture(tmp_path: Path) -> None:
    planted = tables("placement", tmp_path, _time)
    with pictures.look():
        figure = placement.STUDY.draw(planted, placement.STUDY.judge(planted))
    (path,) = pictures.save(figure, tmp_path / "figure", [".png"])
    assert path.stat().st_size > 10_000
