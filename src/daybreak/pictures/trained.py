"""Trained runs: plateaus and two laws on doubly logarithmic axes, and curves over the steps of training."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from daybreak.measure import Law
from daybreak.pictures.style import MARKERS, NEUTRAL, logarithmic, plain_numbers, shades

Columns = Mapping[str, NDArray]
Predict = Callable[[Columns], NDArray]
_PLACES = 20  # of a law's line: straight, but its band is not


BANDS = "Bands: where 95 % of new runs end their plateau, by our law."
"""For captions of pictures with `plateau_panel`."""


def plateau_panel(
    ax: Axes,
    runs: Columns,
    *,
    x: str,
    series: str,
    law: Law | None = None,
    paper: Predict | None = None,
) -> None:
    """Draw a point for each run, hollow and pointing upwards where it did not emerge, and laws as lines across the panel.

    Args:
        ax: where to draw.
        runs: settings, `plateau` and `censored`; settings other than `x` and `series` that a law depends on do not vary.
        x: column on the horizontal axis.
        series: column that sets the colour.
        law: ours, drawn solid with a band in which 95 % of new runs lie.
        paper: what the paper's law gives, drawn dashed.
    """
    values = np.unique(runs[series])
    across = np.geomspace(runs[x].min(), runs[x].max(), _PLACES)
    for value, colour, marker in zip(values, shades(values.size), MARKERS * values.size, strict=False):
        rows = runs[series] == value
        chosen = {name: column[rows] for name, column in runs.items()}
        censored = chosen["censored"]
        ax.plot(chosen[x][~censored], chosen["plateau"][~censored], marker, color=colour, ms=4.5, label=f"{value:g}")
        ax.plot(chosen[x][censored], chosen["plateau"][censored], "^", color=colour, ms=7, mfc="none")
        line = {name: np.repeat(column[:1], _PLACES) for name, column in chosen.items()} | {x: across}
        if law is not None:
            ax.plot(across, law.predict(line), "-", color=colour, lw=1)
            ax.fill_between(across, *law.predict_interval(line), color=colour, alpha=0.12, lw=0)
        if paper is not None:
            ax.plot(across, paper(line), "--", color=colour, lw=1)
    for there, style, name in ((law, "-", "our law"), (paper, "--", "paper's law")):
        if there is not None:
            ax.plot([], [], style, color=NEUTRAL, lw=1, label=name)
    if runs["censored"].any():
        ax.plot([], [], "^", color=NEUTRAL, ms=7, mfc="none", label="censored")
    ax.set(yscale="log", ylabel="plateau (steps)")
    plain_numbers(ax.yaxis)
    logarithmic(ax, runs[x], label=x)
    ax.legend(title=series, handletextpad=0.2, loc="center left", bbox_to_anchor=(1, 0.5))


def curve_panel(ax: Axes, curves: Columns, *, y: str, series: str) -> None:
    """Draw a curve of every run over the steps of training, one colour for each value of `series`."""
    values = np.unique(curves[series])
    for value, colour in zip(values, shades(values.size), strict=True):
        for i, seed in enumerate(np.unique(curves["seed"][curves[series] == value])):
            rows = (curves[series] == value) & (curves["seed"] == seed)
            name = None if i else f"{value:g}"
            ax.plot(curves["step"][rows], curves[y][rows], color=colour, lw=1, label=name)
    ax.set(xlabel="step", xlim=(0, None))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.6g}"))
    ax.legend(title=series, loc="center left", bbox_to_anchor=(1, 0.5))
