"""What studies on text share: the network, and one row of measurements for each run."""

import numpy as np
from matplotlib.axes import Axes

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.measure import Law
from daybreak.studies import _runs
from daybreak.studies._study import Table

TINY = """
preset = "text-induction"
seeds = 2
task.T = 16
task.passage = 3
model.heads = 2
model.width = 16
model.head_width = 8
batch = 4
evaluation = 8
stop.every = 20
stop.budget = 60
"""
"""Start of every sweep at smoke scale: a network that learns nothing, in seconds."""

WHOLE = """
preset = "text-induction"
seeds = [1, 2, 3, 4, 5]
evaluation = 128
stop.budget = 8000
stop.margin = 1000
"""
"""Start of the sweeps whose runs all spend their budget, so that their ends are compared at the same step."""

SHARE = 0.1  # of the steps, at the end, over which losses are averaged
_EARLY = 0.05  # induction score at which the rise begins
_HALF = 0.5  # of its largest value: there, attention to the previous token has formed


def runs_table(saved: list[Saved], settings: tuple[str, ...]) -> Table:
    """One row for each run: its plateau, how long the score rises, when attention to the previous token formed, and its end.

    Columns:
        plateau: steps until the induction score is 0.3; the level is that of the stop rule.
        rise: steps from a score of 0.05 to that level; 0 if it is censored.
        previous: steps until attention to the previous token is half of its largest value, for the best head of the first layer.
        score, clean_loss, train_loss, in_context_score: means over the last tenth of the steps.
    """
    kept = [x for x in saved if x.result.outcome != "diverged"]
    rows = [_measured(x) for x in kept]
    return _runs.plateaus(saved, settings) | {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _measured(saved: Saved) -> dict[str, float]:
    record, end = saved.record, saved.result.plateau
    assert record is not None  # noqa: S101
    assert end is not None  # noqa: S101
    steps, curves = record.steps, record.curves
    score = best_head(curves["attention"])
    begins = measure.plateau(steps, score, _EARLY, direction="up")
    previous = best_head(curves["previous_token"][:, :1])
    formed = measure.plateau(steps, previous, max(_HALF * float(previous.max()), 1e-6), direction="up")
    last = steps >= (1 - SHARE) * steps[-1]
    names = ("clean_loss", "train_loss", "in_context_score")
    return {
        "rise": 0.0 if end.censored else end.length - begins.length,
        "previous": formed.length,
        "score": float(score[last].mean()),
        "steps": float(steps[-1]),
    } | {name: float(curves[name][last].mean()) for name in names}


def curves_table(saved: list[Saved], settings: tuple[str, ...]) -> Table:
    """About a hundred evaluations of each run: the induction score, attention to the previous token, and losses on plain text."""
    names = ("clean_loss", "in_context_score", "attention", "previous_token")
    table = _runs.curve_table(saved, settings, names)
    score = [table.pop(x) for x in list(table) if x.startswith("attention")]
    previous = [(x, table.pop(x)) for x in list(table) if x.startswith("previous_token")]
    first = [column for name, column in previous if name.startswith("previous_token_1")]
    return table | {"induction score": np.max(score, axis=0), "previous token": np.max(first, axis=0)}


def draw_steps(ax: Axes, runs: Table, x: str, law: Law | None) -> None:
    """Steps until emergence against one setting, a point for each run, and the law."""
    one_colour = runs | {"all": np.zeros(runs[x].size)}
    pictures.plateau_panel(ax, one_colour, x=x, series="all", law=law)
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    ax.set(xlabel=f"{x}   (hollow: censored)" if runs["censored"].any() else x, ylabel="steps until score 0.3")


def best_head(attention: np.ndarray) -> np.ndarray:
    """Of (evaluation, layer, head), that of the head with the most at each evaluation."""
    return attention.reshape(len(attention), -1).max(axis=1)
