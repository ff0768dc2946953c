"""The study of both precisions on planted runs."""

from pathlib import Path
from typing import Any

import pytest

from daybreak import pictures
from daybreak.studies.emergence import precision
from daybreak.training import Run
from tests.studies.emergence.planted import Law, findings, tables, verdicts


def _law(factor: float, only: str = "") -> Law:
    """Plateaus in bfloat16 are so many times those in float32; those of different seeds differ by a tenth."""

    def law(run: Run) -> float:
        task: Any = run.task
        size = getattr(task, "T", 0) or 10 * getattr(task, "N", 0) or 20
        moved = run.precision == "bfloat16" and only in type(task).__name__
        return size * 8 * (1 + 0.1 * run.seed) * (factor if moved else 1.0)

    return law


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (_law(1.0), "holds"),
        (_law(1.5), "fails"),
        (_law(0.6), "fails"),
        (_law(1.6, only="Recall"), "fails"),
        (_law(1e6), "fails"),
    ],
    ids=["equal", "later", "earlier", "one kind", "never"],
)
def test_a_moved_plateau_is_found(law: Law, expected: str, tmp_path: Path) -> None:
    assert verdicts("precision", tmp_path, law) == {"R11": expected}


def test_planted_factors_lie_in_their_intervals(tmp_path: Path) -> None:
    runs = tables("precision", tmp_path, _law(1.3))["plateaus"]
    names = dict.fromkeys(runs["what"].tolist())
    assert len(names) == 6
    for name in names:
        low, high = precision.shift(runs, name).factor.range
        assert low < 1.3 < high


def test_the_picture_has_every_configuration(tmp_path: Path) -> None:
    planted = tables("precision", tmp_path, _law(1.0))
    with pictures.look():
        figure = precision.STUDY.draw(planted, findings("precision", tmp_path / "again", _law(1.0)))
    assert len(figure.axes[0].get_legend_handles_labels()[1]) == 6
