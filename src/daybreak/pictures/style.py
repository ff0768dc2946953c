"""The look of every picture: colour-blind safe, legible in print, no display needed."""

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, NullLocator

from daybreak._types import ArrayLike

# Okabe and Ito's colours, distinct with every common form of colour blindness.
OURS = "#0072B2"
PAPER = "#D55E00"
NEUTRAL = "#5A5A5A"
MARKERS = "osD^vP*X"

_CHARACTERS = 18  # of a caption on an inch
_NAMES_APART = 0.06  # of the axis: the least distance between the names of two values

_LOOK = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 150,
    "figure.facecolor": "white",
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "pdf.fonttype": 42,
}


def look() -> AbstractContextManager[None]:
    """Within this context everything is drawn in the style of this package; the user's settings do not change."""
    return matplotlib.rc_context(_LOOK)  # pyright: ignore[reportArgumentType]


def panels(
    titles: Sequence[str], *, width: float = 3.6, height: float = 3.0, columns: int | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel per title, side by side, or in rows of `columns` panels."""
    across = columns or len(titles)
    rows = -(-len(titles) // across)
    figure = Figure(figsize=(width * across, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(rows, across, i + 1) for i in range(len(titles))]
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left")
    return figure, axes


def logarithmic(ax: Axes, values: ArrayLike, *, label: str) -> None:
    """A logarithmic horizontal axis that names the values measured, in plain numbers, as far as their names do not touch."""
    ax.set_xscale("log")
    ticks = np.unique(np.asarray(values))
    apart = _NAMES_APART * np.log(ticks[-1] / ticks[0])
    named = [ticks[0]]
    for x in ticks[1:]:
        if np.log(x / named[-1]) >= apart:
            named.append(x)
    ax.set_xticks(named, minor=False)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.set_xlabel(label)


def plain_numbers(axis: Axis) -> None:
    """Name a few round numbers of a logarithmic axis, in plain digits; the names of all digits would overlap."""
    axis.set_major_locator(_RoundNumbers())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.6g}"))


@final
class _RoundNumbers(Locator):
    """Few round numbers on a logarithmic axis: powers of ten, then also 3, or 2 and 5, or more, as far as the axis is short."""

    _FEWEST = 4
    _DIGITS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9))

    def __call__(self) -> Sequence[float]:
        assert self.axis is not None  # noqa: S101
        return self.tick_values(*sorted(self.axis.get_view_interval()))

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        if not 0 < vmin < vmax:
            return []
        decades = 10.0 ** np.arange(np.floor(np.log10(vmin)), np.ceil(np.log10(vmax)) + 1)
        for digits in self._DIGITS:
            ticks = np.outer(decades, digits).ravel()
            shown = ticks[(vmin <= ticks) & (ticks <= vmax)]
            if shown.size >= self._FEWEST:
                return shown.tolist()
        return [float(x) for x in MaxNLocator(self._FEWEST).tick_values(vmin, vmax) if vmin <= x <= vmax]


def caption(figure: Figure, text: str) -> None:
    """Small text below the panels: what was measured, and what bands are."""
    width = int(_CHARACTERS * figure.get_figwidth())
    figure.supxlabel("\n".join(textwrap.wrap(text, width)), x=0.01, ha="left", fontsize=7.5, color=NEUTRAL)


def shades(count: int) -> list[tuple[float, float, float, float]]:
    """Colours for the values of an ordered setting, dark to light, distinguishable without hue."""
    return [tuple(x) for x in matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, count))]


def save(figure: Figure, stem: Path, suffixes: Sequence[str] = (".png", ".pdf")) -> list[Path]:
    """Write a figure under `stem` with each suffix; the same figure gives the same bytes."""
    written = [stem.with_suffix(suffix) for suffix in suffixes]
    stable = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with look():
        for path in written:
            figure.savefig(path, metadata=stable[path.suffix])
    return written
