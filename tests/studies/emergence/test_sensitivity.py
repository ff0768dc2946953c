"""The study of unstated choices on planted runs: factors and shifts are found, and judged by the rules."""

from pathlib import Path
from typing import Any

import pytest

from daybreak import pictures, studies
from daybreak.studies.emergence import sensitivity
from daybreak.training import Run
from tests.studies.emergence.planted import Law, findings, tables, verdicts


def _time(run: Run) -> float:
    """The paper's law, and layer norm that shortens the plateau by a third."""
    task: Any = run.task
    model: Any = run.model
    return 0.76 * task.d**1.29 * task.T**0.8 / (1.5 if model.norm != "none" else 1.0)


def _causal(factor: float, shift: float = 0.0) -> Law:
    """Causal attention takes so many times as long at T = 32, and shifts the sum of the exponents."""

    def law(run: Run) -> float:
        model: Any = run.model
        task: Any = run.task
        return _time(run) * (factor * (task.T / 32) ** shift if model.causal else 1.0)

    return law


@pytest.mark.parametrize(
    ("law", "plateau", "exponents"),
    [
        (_time, "holds", "holds"),
        (_causal(1.3), "holds", "holds"),
        (_causal(2.0), "fails", "holds"),
        (_causal(1.5), "undecided", "holds"),
        (_causal(0.5), "fails", "holds"),
        (_causal(0.9, shift=0.6), "holds", "fails"),
        (_causal(1e6), "fails", "undecided"),
    ],
    ids=["nothing", "little", "slower", "at the bound", "faster", "steeper", "never"],
)
def test_choices_are_judged_by_their_rules(law: Law, plateau: str, exponents: str, tmp_path: Path) -> None:
    results = verdicts("sensitivity", tmp_path, law)
    assert results == {"A3-open": plateau, "A3-open-exponents": exponents, "A3-norm": "holds"}


def test_layer_norm_is_judged_against_the_papers_sentence(tmp_path: Path) -> None:
    def slower(run: Run) -> float:
        model: Any = run.model
        return _time(run) * (2.0 if model.norm != "none" else 1.0)

    assert verdicts("sensitivity", tmp_path, slower)["A3-norm"] == "fails"


def test_planted_factors_and_shifts_lie_in_their_intervals(tmp_path: Path) -> None:
    runs = tables("sensitivity", tmp_path, _causal(1.3, shift=0.4))["plateaus"]
    for T, truth in ((32.0, 1.3), (64.0, 1.3 * 2**0.4)):
        low, high = sensitivity.factor(runs, "causal attention", T).range
        assert low < truth < high < 1.3 * low
    low, high = sensitivity.shift(runs, "causal attention")
    assert low < 0.4 < high < low + 0.5
    low, high = sensitivity.shift(runs, "GELU")
    assert low < 0 < high


def test_a_choice_that_never_emerges_is_a_bound(tmp_path: Path) -> None:
    (claim, *_) = findings("sensitivity", tmp_path, _causal(1e6)).claims
    assert "causal attention: > " in claim.ours


def test_each_run_changes_one_setting_and_the_unchanged_ones_are_those_of_figure_3() -> None:
    runs, figure_3 = ({run.id: run for run in _runs(name)} for name in ("sensitivity", "fig3"))
    unchanged = {run.id for run in runs.values() if run.id in figure_3}
    assert len(runs) == 9 * 2 * 3
    assert len(unchanged) == 2 * 3
    base: Any = figure_3[next(iter(unchanged))]
    for run in runs.values():
        different = [
            name
            for part in ("task", "model")
            for name in (x for x in vars(getattr(base, part)) if x not in ("T", "d"))
            if getattr(getattr(run, part), name) != getattr(getattr(base, part), name)
        ]
        assert len(different) == (0 if run.id in unchanged else 1)
        assert (run.optimizer, run.batch) == (base.optimizer, base.batch)


def _runs(name: str) -> list[Run]:
    training = studies.find(name).data
    assert isinstance(training, studies.TrainedData)
    return training.runs("laptop")


def test_picture(tmp_path: Path) -> None:
    planted = tables("sensitivity", tmp_path, _causal(1.3))
    with pictures.look():
        figure = sensitivity.STUDY.draw(planted, sensitivity.STUDY.judge(planted))
    (path,) = pictures.save(figure, tmp_path / "figure", [".png"])
    assert path.stat().st_size > 10_000
