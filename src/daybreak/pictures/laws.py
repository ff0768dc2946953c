"""Points and power laws on doubly logarithmic axes."""

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from daybreak.pictures.style import MARKERS, logarithmic, shades

Columns = Mapping[str, NDArray]


def law_panel(
    ax: Axes,
    table: Columns,
    *,
    x: str,
    series: str,
    law: Callable[[Columns], NDArray],
    y: str = "plateau",
    label: str = "{:g}",
) -> None:
    """Draw `y` against `x` as points, one colour per value of `series`, and the law as a line through each.

    Args:
        ax: where to draw.
        table: the measurements.
        x: column on the horizontal axis.
        series: column that sets the colour.
        law: what the law gives for a table of settings.
        y: column on the vertical axis.
        label: format of a value of `series` in the legend.
    """
    values = np.unique(table[series])
    for value, colour, marker in zip(values, shades(values.size), MARKERS * values.size, strict=False):
        rows = table[series] == value
        chosen = {name: column[rows] for name, column in table.items()}
        order = np.argsort(chosen[x])
        chosen = {name: column[order] for name, column in chosen.items()}
        ax.plot(chosen[x], chosen[y], marker, color=colour, ms=4.5, label=label.format(value))
        ax.plot(chosen[x], law(chosen), "-", color=colour, lw=1)
    ax.set(yscale="log", ylabel="plateau (flow time)")
    logarithmic(ax, table[x], label=x)
    ax.legend(title=series, handletextpad=0.2, loc="center left", bbox_to_anchor=(1, 0.5))
