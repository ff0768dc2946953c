"""How the page draws: plain Plotly figures in the colours of `daybreak.pictures`, on light and on dark."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from daybreak import pictures

Figure = dict[str, Any]
Trace = dict[str, Any]
SERIES = 8  # curves whose colours can be distinguished
_NAMED = 7  # values that an axis has space to name
_NARROW, _WIDE = 0.6, 2.0  # decades: below, ticks are round numbers; above, powers of ten


@final
@dataclass(frozen=True)
class Palette:
    """The colours of a theme: Okabe and Ito's, distinct under every common form of colour blindness.

    Args:
        ink: of text.
        neutral: of lines to compare with.
        rule: of grid lines.
        ground: behind it all.
        ours: what Daybreak measured or computed.
        paper: what the paper gives.
        others: of further curves.
        shades: ends of the part of viridis that is visible on this ground.
    """

    ink: str
    neutral: str
    rule: str
    ground: str
    ours: str
    paper: str
    others: tuple[str, ...]
    shades: tuple[float, float]


LIGHT = Palette(
    ink="#1c2024",
    neutral=pictures.NEUTRAL,
    rule="#e4e4e0",
    ground="#ffffff",
    ours=pictures.OURS,
    paper=pictures.PAPER,
    others=("#009E73", "#CC79A7", "#B8860B", "#56B4E9"),
    shades=(0.0, 0.85),
)
DARK = Palette(
    ink="#e6e4df",
    neutral="#a3a09a",
    rule="#33373c",
    ground="#1b1e22",
    ours="#56B4E9",
    paper="#F08A4B",
    others=("#2FC79B", "#E39BC4", "#F0E442", "#9AD0F2"),
    shades=(0.42, 1.0),
)


def palette(theme: str | None) -> Palette:
    """The colours of a theme; light by default."""
    return DARK if theme == "dark" else LIGHT


def shades(colours: Palette, count: int) -> list[str]:
    """Colours for the values of an ordered setting, distinct without hue."""
    return [to_hex(x) for x in matplotlib.colormaps["viridis"](np.linspace(*colours.shades, count))]


def series(colours: Palette, count: int) -> list[str]:
    """Colours for curves that have no order, at most `SERIES`."""
    return [colours.ours, colours.paper, *colours.others, colours.neutral, colours.ink][:count]


def text(given: object) -> str:
    """Text for a picture: what looks like a tag is shown as text."""
    return str(given).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def numbers(values: ArrayLike) -> list[Any]:
    """Numbers as JSON has them: six digits, and None for those that are not finite."""
    x = np.asarray(values, np.float64)
    if x.ndim > 1:
        return [numbers(row) for row in x]
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in x.tolist()]


def line(x: ArrayLike, y: ArrayLike, colour: str, name: str = "", **more: Any) -> Trace:
    """A curve; in the legend if it has a name."""
    style = {"color": colour, "width": more.pop("width", 2), "dash": more.pop("dash", "solid")}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(x),
        "y": numbers(y),
        "line": style,
        "name": text(name),
        "showlegend": bool(name),
        **more,
    }


def points(x: ArrayLike, y: ArrayLike, colour: str, name: str = "", **more: Any) -> Trace:
    """Points; in the legend if they have a name."""
    marker = {"color": colour, "size": more.pop("size", 7), "symbol": more.pop("symbol", "circle")}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(y),
        "marker": marker,
        "name": text(name),
        "showlegend": bool(name),
        **more,
    }


def band(x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, name: str = "", **more: Any) -> Trace:
    """The area between two curves."""
    across, lower, upper = numbers(x), numbers(low), numbers(high)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": across + across[::-1],
        "y": upper + lower[::-1],
        "fill": "toself",
        "fillcolor": clear(colour, 0.18),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": text(name),
        "showlegend": bool(name),
        **more,
    }


def clear(colour: str, opacity: float) -> str:
    """A colour that lets through what is behind it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def vertical(x: float, colour: str, *, dash: str = "dot", yref: str = "paper") -> dict[str, Any]:
    """A line from bottom to top, as a shape of the layout."""
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "yref": yref,
        "line": {"color": colour, "width": 1.2, "dash": dash},
    }


def horizontal(y: float, colour: str, *, dash: str = "dot", yref: str = "y") -> dict[str, Any]:
    """A line from left to right, as a shape of the layout."""
    return {
        "type": "line",
        "y0": y,
        "y1": y,
        "x0": 0,
        "x1": 1,
        "xref": "paper",
        "yref": yref,
        "line": {"color": colour, "width": 1.2, "dash": dash},
    }


def axis(colours: Palette, title: str, **more: Any) -> dict[str, Any]:
    """An axis with what it measures."""
    return {
        "title": {"text": text(title), "standoff": 8, "font": {"size": 13}},
        "gridcolor": colours.rule,
        "linecolor": colours.rule,
        "zeroline": False,
        "automargin": True,
        "exponentformat": "power",
        **more,
    }


def log_axis(colours: Palette, title: str, values: ArrayLike = (), **more: Any) -> dict[str, Any]:
    """A logarithmic axis; of few values it names these."""
    named = np.unique(np.asarray(values, np.float64))
    if not 0 < named.size <= 2 * _NAMED:
        return axis(colours, title, type="log", **more)
    shown = named if named.size <= _NAMED else named[::2]
    ticks = {"tickvals": shown.tolist(), "ticktext": [f"{x:g}" for x in shown]}
    return axis(colours, title, type="log", **ticks, **more)


def fitting_axis(colours: Palette, title: str, values: ArrayLike, **more: Any) -> dict[str, Any]:
    """A logarithmic axis if all values are positive, otherwise a linear one."""
    return log_axis(colours, title, values, **more) if np.min(values) > 0 else axis(colours, title, **more)


def figure(
    colours: Palette,
    traces: Sequence[Trace],
    axes: Mapping[str, Any],
    *,
    shapes: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[Mapping[str, Any]] = (),
    legend: bool = True,
) -> Figure:
    """A figure in the style of the page.

    Args:
        colours: of the theme.
        traces: what is drawn.
        axes: `xaxis`, `yaxis` and so on.
        shapes: lines across it.
        notes: texts in it.
        legend: whether curves are named above it.
    """
    return {
        "data": list(traces),
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 12.5, "color": colours.ink},
            "paper_bgcolor": colours.ground,
            "plot_bgcolor": colours.ground,
            "margin": {"l": 8, "r": 12, "t": 28 if legend else 10, "b": 8},
            "showlegend": legend,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "itemclick": "toggle"},
            "hovermode": "closest",
            "hoverlabel": {"font": {"family": "system-ui, sans-serif"}},
            "shapes": list(shapes),
            "annotations": [{"showarrow": False, "font": {"size": 12, "color": colours.neutral}, **x} for x in notes],
            "uirevision": "kept",
            **{name: _ticked(name, x, traces, shapes) for name, x in axes.items()},
        },
    }


def _ticked(
    name: str, axis: Mapping[str, Any], traces: Sequence[Trace], shapes: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """An axis with a few whole numbers as ticks, if it is logarithmic and has none: Plotly would add digits between them."""
    if axis.get("type") != "log" or "tickvals" in axis:
        return axis
    letter, number = name[0], name[5:] or "1"
    mine = [x[letter] for x in traces if (x.get(f"{letter}axis", letter)[1:] or "1") == number]
    mine += [[x[f"{letter}0"]] for x in shapes if x.get(f"{letter}ref", letter) == letter]
    positive = [value for values in mine for value in values if value is not None and value > 0]
    if not positive:
        return axis
    ticks = log_ticks(min(positive), max(positive))
    return {**axis, "tickvals": ticks, "ticktext": [_tick_text(x) for x in ticks]}


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, also 2 and 5 times these, or round numbers, as the ends leave space."""
    decades = math.log10(high / low)
    if decades < _NARROW:
        return [float(x) for x in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high) if x > 0]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if decades < _WIDE:
        return [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    stride = math.ceil(decades / _NAMED)
    return [float(f"1e{power}") for power in powers if power % stride == 0]


def _tick_text(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-9)
    if -3 <= power <= 5:
        return f"{value:,.6g}"
    digits = f"{value / 10.0**power:.3g}"
    return f"{'' if digits == '1' else f'{digits}·'}10<sup>{power}</sup>"


def rows(count: int, gap: float = 0.06) -> list[tuple[float, float]]:
    """Where panels above each other begin and end, the first on top."""
    height = (1 - gap * (count - 1)) / count
    return [(1 - i * (height + gap) - height, 1 - i * (height + gap)) for i in range(count)]


BLANK: Figure = {
    "data": [],
    "layout": {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"visible": False},
        "yaxis": {"visible": False},
    },
}
"""Shown before the first drawing."""


def nothing(colours: Palette, sentence: str) -> Figure:
    """A figure that states why it is empty."""
    hidden = {"visible": False}
    note = {"text": text(sentence), "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    return figure(colours, [], {"xaxis": hidden, "yaxis": hidden}, notes=[note], legend=False)
