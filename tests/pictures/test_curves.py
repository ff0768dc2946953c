"""Learning curves on paper: all of one run, the essence of several."""

import numpy as np

from daybreak import pictures
from tests.lab import made


def test_one_run_shows_every_head() -> None:
    figure = pictures.learning_curves({"a": made.record(accuracy=True)}, {"a": 300.0})
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["loss", "accuracy", "attention to relevant positions"]
    assert len(figure.axes[2].lines) == 2 * 3 + 1
    assert figure.axes[0].get_legend_handles_labels()[1] == ["clean", "like training", "plateau ends"]


def test_several_runs_have_a_line_each() -> None:
    records = {f"T = {T}": made.record(float(T)) for T in (64, 128, 256)}
    figure = pictures.learning_curves(records)
    assert [len(ax.lines) for ax in figure.axes] == [3, 3]
    best = np.asarray(figure.axes[1].lines[0].get_ydata())[-1]
    assert best == records["T = 64"].curves["attention"][-1].max()
