"""Learning curves on paper: all of one run, the essence of several."""

import numpy as np

from daybreak import pictures
from tests.lab import made


def test_one_run_shows_every_head() -> None:
    figure = pictures.learning_curves({"a": made.record(accuracy=True)}, {"a": (280.0, 300.0)})
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["loss", "accuracy", "attention to relevant positions"]
    assert len(figure.axes[2].lines) == 2 * 3
    assert figure.axes[0].patches[-1].get_extents().width > 0, "the two evaluations around the crossing"
    assert figure.axes[0].get_legend_handles_labels()[1] == ["clean", "like training", "plateau ends"]


def test_one_run_shows_the_probes_of_its_task() -> None:
    record = made.record()
    mass = np.linspace(0, 1, 40 * 2 * 3 * 4, dtype=np.float32).reshape(40, 2, 3, 4)
    record.curves.update(block_mass=mass, kl=np.full((40, 4), 0.5, np.float32))
    figure = pictures.learning_curves({"a": record})
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[2:] == ["attention to each block, by head", "KL to the truncated truths"]
    blocks, kl = figure.axes[2:]
    assert (len(blocks.lines), len(kl.lines)) == (2 * 3 * 4, 4)
    assert blocks.get_legend_handles_labels()[1] == [f"block {i}" for i in (1, 2, 3, 4)]
    second_of_last_head = np.asarray(blocks.lines[2 * 3 + 5].get_ydata())
    np.testing.assert_array_equal(second_of_last_head, mass[:, 1, 2, 1])


def test_several_runs_have_a_line_each() -> None:
    records = {f"T = {T}": made.record(float(T)) for T in (64, 128, 256)}
    figure = pictures.learning_curves(records)
    assert [len(ax.lines) for ax in figure.axes] == [3, 3]
    best = np.asarray(figure.axes[1].lines[0].get_ydata())[-1]
    assert best == records["T = 64"].curves["attention"][-1].max()
