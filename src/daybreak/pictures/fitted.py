"""A law and the runs it was fitted to, on doubly logarithmic axes, and their residuals."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab.reading.published import Published
from daybreak.measure import Law
from daybreak.pictures.style import MARKERS, NEUTRAL, PAPER, logarithmic, look, panels, plain_numbers, shades

_LEGEND = 10  # largest number of series that get a legend
_ROWS = 6  # largest number of laws in one picture
Columns = Mapping[str, NDArray]


def fitted_law(law: Law, runs: Columns, paper: Published | None = None) -> Figure:
    """Draw plateaus against the column with most values, a line of the law for each setting of the others, and residuals.

    Args:
        law: as fitted to the runs, in their order.
        runs: its columns, `plateau` and `censored`, whose points are hollow and point upwards.
        paper: a published law, drawn dashed.
    """
    return fitted_laws([(law, runs, paper, "")])


def fitted_laws(laws: Sequence[tuple[Law, Columns, Published | None, str]]) -> Figure:
    """Draw several laws below each other, each with its runs, a published law, and which runs these are."""
    if len(laws) > _ROWS:
        raise RequestError(
            f"{len(laws)} laws do not fit into one picture: choose runs with --where, at most {_ROWS} groups."
        )
    titles = [title for *_, which in laws for title in (which or "plateaus and law", "residuals")]
    with look():
        figure, axes = panels(titles, width=4.6, height=3.4, columns=2)
        for (law, runs, paper, _), left, right in zip(laws, axes[::2], axes[1::2], strict=True):
            _draw(left, right, law, runs, paper)
        return figure


def _draw(left: Axes, right: Axes, law: Law, runs: Columns, paper: Published | None) -> None:
    columns = {name: np.asarray(runs[name], np.float64) for name in law.ranges}
    by_values = sorted(columns, key=lambda name: -np.unique(columns[name]).size)
    predicted = law.predict(columns or {"one": np.ones(len(runs["plateau"]))})
    across = columns[by_values[0]] if by_values else predicted
    others = [name for name in by_values[1:] if np.unique(columns[name]).size > 1]
    keys = np.array([", ".join(f"{name} {columns[name][i]:g}" for name in others) for i in range(predicted.size)])
    order = sorted(set(keys.tolist()), key=lambda key: [columns[x][keys == key][0] for x in others])
    for key, colour, marker in zip(order, shades(len(order)), MARKERS * len(order), strict=False):
        rows = keys == key
        label = key if key and len(order) <= _LEGEND else None
        _points(left, across[rows], runs["plateau"][rows], runs["censored"][rows], marker, colour, label)
        _points(right, predicted[rows], np.exp(law.residuals[rows]), runs["censored"][rows], marker, colour, None)
        place = np.argsort(across[rows])
        left.plot(across[rows][place], predicted[rows][place], "-", color=colour, lw=1)
        if paper is not None:
            theirs = paper.predict({name: runs[name][rows] for name in paper.exponents})
            left.plot(across[rows][place], theirs[place], "--", color=PAPER, lw=0.8)
    _label(left, right, by_values[0] if by_values else "law", law, runs, paper)


def _points(ax: Axes, x: NDArray, y: NDArray, censored: NDArray, marker: str, colour, label: str | None) -> None:
    ended = ~censored
    ax.plot(x[ended], y[ended], marker, color=colour, ms=4.5, label=label)
    ax.plot(x[censored], y[censored], "^", color=colour, ms=6, mfc="none")


def _label(left: Axes, right: Axes, name: str, law: Law, runs: Columns, paper: Published | None) -> None:
    left.set(xscale="log", yscale="log", xlabel=name, ylabel="plateau (steps)")
    plain_numbers(left.yaxis)
    if name in runs:
        logarithmic(left, runs[name], label=name)
    else:
        plain_numbers(left.xaxis)
    right.set(xscale="log", xlabel="plateau by the law", ylabel="measured / law")
    plain_numbers(right.xaxis)
    right.axhline(1, color=NEUTRAL, lw=0.8)
    margin = np.exp(1.96 * law.scatter)
    right.axhspan(1 / margin, margin, color=NEUTRAL, alpha=0.12, lw=0, label="95 % of runs")
    left.plot([], [], "-", color=NEUTRAL, lw=1, label=law.formula)
    if paper is not None:
        left.plot([], [], "--", color=PAPER, lw=0.8, label=f"{paper.source}: {paper.formula}")
    if runs["censored"].any():
        left.plot([], [], "^", color=NEUTRAL, ms=6, mfc="none", label="did not emerge: longer than this")
    left.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.18))
    right.legend()
