"""Laws: measured plateaus, the law fitted to them with its band, the law of the paper, and the residuals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from dash import Dash, Input, Output, State, no_update
from numpy.typing import NDArray

from daybreak import measure
from daybreak.errors import RequestError
from daybreak.explorer import address, figures, filters
from daybreak.explorer.controls import Menu, Text
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.fit_tables import LAB, FitTable, count, fit_table, reads, sources
from daybreak.explorer.parts import commands, facts, table
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.lab.reading import laws
from daybreak.lab.reading.published import Published, published
from daybreak.measure import Law

_NONE = "none"
_FACETS = 4  # side by side
_LINES = 40  # of a law, for each colour


@final
@dataclass(frozen=True)
class LawsState:
    """What the view shows; empty fields are filled in from the data."""

    source: str = ""
    y: str = ""
    x: str = ""
    colour: str = ""
    facet: str = ""
    where: str = ""
    law: str = ""


def _settled(state: LawsState, data: FitTable) -> LawsState:
    """What was left open, filled in: the setting with most values across, the next as colour."""
    y = state.y if state.y in data.measured else data.measured[0]
    read = reads(state.law or data.forms[y], data.columns)
    by_values = sorted(data.settings, key=lambda name: (name not in read, -np.unique(data.columns[name]).size))
    x = state.x if state.x in data.settings else next(iter(by_values), y)
    left = [name for name in by_values if name != x]
    colour = state.colour if state.colour in (*data.settings, _NONE) else next(iter(left), _NONE)
    facet = state.facet if state.facet in data.settings else _NONE
    return replace(
        state, y=y, x=x, colour=colour, facet=facet, where=state.where or data.where, law=state.law or data.forms[y]
    )


def _draw(workspace: Workspace, given: LawsState, colours: Palette) -> Drawing:
    studies = workspace.studies()
    offered = sources(workspace, studies)
    if not offered:
        return _empty(workspace, colours)
    if given.source and given.source not in offered:
        raise RequestError(f"source = {given.source!r} is not allowed: it is neither the lab nor a table of results.")
    state = replace(given, source=given.source or next(iter(offered)))
    data = fit_table(workspace, studies, state.source)
    state = _settled(state, data)
    kept = filters.rows(state.where, list(data.columns), count(data.columns), lambda name: data.columns[name].tolist())
    if not kept.any():
        raise RequestError(f"filter {state.where!r} leaves no row: change it.")
    rows = {name: x[kept] for name, x in data.columns.items()}
    law = laws.fit(state.law, rows).law if state.source == LAB else measure.fit_law(state.law, rows, y=state.y)
    paper = published({**data.kind, **rows}) if state.y in ("plateau", "tied") else None
    predicted = law.predict(_read(law, rows))
    download = rows | {"law": predicted, "residual": law.residuals}
    download |= {} if paper is None else {"paper": paper.predict(rows)}
    return Drawing(
        {
            "points": _points(state, rows, law, paper, colours),
            "residuals": _residuals(state, rows, predicted, law, colours),
        },
        {"points": download, "residuals": download},
        _law_text(law, paper),
        _updates(offered, data, state),
        state,
    )


def _read(law: Law, rows: Columns) -> dict[str, NDArray[Any]]:
    """The columns that a law reads; ones, if it is a constant."""
    return {name: np.asarray(rows[name], np.float64) for name in law.ranges} or {"one": np.ones(count(rows))}


def _points(state: LawsState, rows: Columns, law: Law, paper: Published | None, colours: Palette) -> Figure:
    """What was measured, and the law as a line for each setting of what it reads besides x."""
    facets = _values(rows, state.facet)[:_FACETS]
    axes, traces, notes = _axes(state, rows, facets, colours), [], []
    for i, facet in enumerate(facets):
        inside = _where(rows, state.facet, facet)
        place = {"xaxis": f"x{i + 1}", "yaxis": "y"}
        for value, colour in zip(*_colours(rows, state.colour, colours), strict=True):
            some = {name: x[inside & _where(rows, state.colour, value)] for name, x in rows.items()}
            if count(some):
                label = f"{state.colour} {value:g}" if i == 0 and value is not None else ""
                traces += _series(state, some, law, paper, colour, colours.paper, label, place)
        if facet is not None:
            across = axes["xaxis" if i == 0 else f"xaxis{i + 1}"]["domain"]
            note = {"text": figures.text(f"{state.facet} = {facet:g}"), "x": across[0], "y": 1}
            notes.append(note | {"xref": "paper", "yref": "paper", "yanchor": "top", "xanchor": "left"})
    traces.append(figures.line([np.nan], [np.nan], colours.neutral, "fitted"))
    if paper is not None:
        traces.append(figures.line([np.nan], [np.nan], colours.paper, paper.source, dash="dash"))
    return figures.figure(colours, traces, axes, notes=notes)


def _series(
    state: LawsState, rows: Columns, law: Law, paper: Published | None, colour: str, theirs: str, label: str, place: Any
) -> list[figures.Trace]:
    """Points of one colour, with the lines that belong to them."""
    x, y = rows[state.x], rows[state.y]
    censored = rows.get("censored", np.zeros(y.size, np.bool_))
    traces = [figures.points(x[~censored], y[~censored], colour, label, **place)]
    if censored.any():
        hollow = {"symbol": "triangle-up-open", "size": 9}
        traces.append(
            figures.points(
                x[censored], y[censored], colour, f"{label} censored: longer than this".strip(), **hollow, **place
            )
        )
    held = [name for name in law.ranges if name != state.x]
    settings = np.unique(np.column_stack([rows[name] for name in held]), axis=0) if held else np.empty((1, 0))
    across = np.geomspace(x.min(), x.max(), 40) if x.min() > 0 and x.min() < x.max() else np.unique(x)
    for setting in settings[:_LINES]:
        line = {"one": np.ones(across.size), state.x: across}
        line |= {name: np.full(across.size, value) for name, value in zip(held, setting, strict=True)}
        traces.append(figures.line(across, law.predict(_read(law, line)), colour, width=1.4, **place))
        if len(settings) == 1:
            low, high = law.predict_interval(_read(law, line))
            traces.insert(0, figures.band(across, low, high, colour, **place))
        if paper is not None and all(name in line or np.unique(rows[name]).size == 1 for name in paper.exponents):
            fixed = {name: np.full(across.size, rows[name][0]) for name in paper.exponents if name not in line}
            traces.append(figures.line(across, paper.predict(fixed | line), theirs, width=1.2, dash="dash", **place))
    return traces


def _residuals(state: LawsState, rows: Columns, predicted: NDArray[Any], law: Law, colours: Palette) -> Figure:
    half_width = 1.96 * law.scatter
    ends = [predicted.min(), predicted.max()]
    traces = [figures.band(ends, np.exp([-half_width] * 2), np.exp([half_width] * 2), colours.neutral, "95 % of rows")]
    for value, colour in zip(*_colours(rows, state.colour, colours), strict=True):
        some = _where(rows, state.colour, value)
        traces.append(figures.points(predicted[some], np.exp(law.residuals[some]), colour))
    axes = {
        "xaxis": figures.log_axis(colours, f"{state.y} by the law"),
        "yaxis": figures.axis(colours, "measured / law"),
    }
    return figures.figure(colours, traces, axes, shapes=[figures.horizontal(1, colours.neutral, dash="solid")])


def _axes(state: LawsState, rows: Columns, facets: list[Any], colours: Palette) -> dict[str, Any]:
    width = 1 / len(facets)
    axes: dict[str, Any] = {
        "yaxis": figures.log_axis(colours, f"{state.y} ({'steps' if state.source == LAB else 'flow time'})")
    }
    for i in range(len(facets)):
        domain = [i * width, (i + 1) * width - (0.03 if len(facets) > 1 else 0)]
        axes["xaxis" if i == 0 else f"xaxis{i + 1}"] = figures.fitting_axis(
            colours, state.x, rows[state.x], domain=domain
        )
    return axes


def _values(rows: Columns, name: str) -> list[Any]:
    """The values of a column; one that stands for all rows where no column was chosen."""
    return [None] if name == _NONE else np.unique(rows[name]).tolist()


def _where(rows: Columns, name: str, value: Any) -> NDArray[np.bool_]:
    return np.ones(count(rows), np.bool_) if value is None else rows[name] == value


def _colours(rows: Columns, name: str, colours: Palette) -> tuple[list[Any], list[str]]:
    values = _values(rows, name)
    return values, [colours.ours] if len(values) == 1 else figures.shades(colours, len(values))


def _law_text(law: Law, paper: Published | None) -> Any:
    """The law in numbers, with intervals."""
    rows = [(name, f"{x:.3g}", "{:.3g} to {:.3g}".format(*law.intervals[name])) for name, x in law.coefficients.items()]
    return [
        table(["", "fitted", "95 %"], rows, law.form),
        facts(
            [
                ("R²", f"{law.r2:.4f}"),
                ("scatter around the law", f"{law.scatter:.1%}"),
                ("rows", f"{law.rows:,}", f"{law.censored} did not emerge" if law.censored else ""),
                *([] if paper is None else [(paper.source, paper.formula, f"R² {paper.r2}")]),
            ]
        ),
    ]


def _updates(offered: Mapping[str, str], data: FitTable, state: LawsState) -> dict[tuple[str, str], Any]:
    """Menus offer what the data have, and show what was filled in."""
    options: dict[str, Any] = {
        "source": [{"value": name, "label": label} for name, label in offered.items()],
        "y": list(data.measured),
        "x": list(data.settings),
        "colour": [_NONE, *data.settings],
        "facet": [_NONE, *data.settings],
    }
    updates: dict[tuple[str, str], Any] = {(name, "options"): x for name, x in options.items()}
    return updates | {(name, "value"): getattr(state, name) for name in (*options, "where", "law")}


def _empty(workspace: Workspace, colours: Palette) -> Drawing:
    empty = figures.nothing(colours, "no measurements yet")
    text = commands(
        "There are no measurements to fit a law to. To make some:",
        "daybreak reproduce fig1c --scale smoke",
        "daybreak sweep examples/small.toml",
    )
    return Drawing({"points": empty, "residuals": empty}, {}, text)


def _starting_over(app: Dash) -> None:
    """Clear the other controls when the source changes: its columns have other names."""

    @app.callback(
        *(Output(f"laws-{name}", "value") for name in ("y", "x", "colour", "facet", "where", "law")),
        Input("laws-source", "value"),
        State("laws-kept", "data"),
        prevent_initial_call=True,
    )
    def _clear(source: str, kept: str | None) -> tuple[Any, ...]:
        now = address.read(LawsState, kept).source if kept else source
        return (no_update,) * 6 if source == now else (None, None, None, None, "", "")


VIEW = View(
    name="laws",
    title="Laws",
    about="How long plateaus are, which power law they follow, and the law of the paper.",
    state=LawsState,
    controls={
        "source": Menu("Measurements"),
        "y": Menu("Measured"),
        "x": Menu("Across"),
        "colour": Menu("Colour"),
        "facet": Menu("Side by side"),
        "where": Text("Only rows with", "T >= 64 and d = 16"),
        "law": Text("Law", "C * d**a * (T/B)**b"),
    },
    panels={"points": "Measurements and law", "residuals": "Residuals: measured over fitted"},
    draw=_draw,
    updates=(
        *((name, "options") for name in ("source", "y", "x", "colour", "facet")),
        *((name, "value") for name in ("source", "y", "x", "colour", "facet", "where", "law")),
    ),
    wire=_starting_over,
)
