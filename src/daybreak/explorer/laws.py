"""Laws: measured plateaus, the law fitted to them with its band, the law of the paper, and the residuals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from dash import html
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer import figures, filters
from daybreak.explorer.controls import Menu, Text
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.fit_tables import (
    CONFIGURATION,
    FitTable,
    Source,
    censored,
    count,
    find,
    fit,
    fit_table,
    pooled,
    sources,
)
from daybreak.explorer.measurements import reads
from daybreak.explorer.parts import commands, facts, number, table, two_lines
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace
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
    x: str = ""
    colour: str = ""
    facet: str = ""
    where: str = ""
    law: str = ""


@final
@dataclass(frozen=True)
class _Chosen:
    """What is drawn: a source, the rows of it that the filter keeps, and the law fitted to them."""

    state: LawsState
    source: Source
    data: FitTable
    rows: Columns
    law: Law

    @property
    def y(self) -> NDArray[Any]:
        """What was measured."""
        return self.rows[self.source.measurement.y]

    @property
    def unit(self) -> str:
        """Of what was measured."""
        return self.source.measurement.unit

    def label(self, name: str, value: Any) -> str:
        """A value of a column, in words."""
        named = self.data.names.get(name)
        return f"{name} {value:g}" if named is None else named[int(value)]


def _settled(state: LawsState, source: Source, data: FitTable) -> LawsState:
    """What was left open, filled in: the setting with most values across, the next as colour."""
    law = state.law or source.form
    read = reads(law, data.columns)
    by_values = sorted(data.settings, key=lambda name: (name not in read, -np.unique(data.columns[name]).size))
    x = state.x if state.x in data.settings else next(iter(by_values), source.measurement.y)
    left = [name for name in by_values if name != x and np.unique(data.columns[name]).size > 1]
    colour = state.colour if state.colour in _groups(data) else next(iter(left), _NONE)
    facet = state.facet if state.facet in _groups(data) else _NONE
    where = state.where or source.measurement.where
    return replace(state, x=x, colour=colour, facet=facet, where=where, law=law)


def _groups(data: FitTable) -> tuple[str, ...]:
    """What points can be coloured by, or shown side by side."""
    return (_NONE, *data.settings, *data.names)


def _draw(workspace: Workspace, given: LawsState, colours: Palette) -> Drawing:
    offered = sources(workspace, workspace.studies())
    if not offered:
        return _empty(workspace, colours)
    updates: dict[tuple[str, str], Any] = {("source", "options"): _options(offered)}
    state = given
    try:
        name = find(offered, given.source) if given.source else next(iter(offered))
        source = offered[name]
        data = fit_table(workspace, source)
        state = _settled(replace(given, source=name), source, data)
        updates |= _menus(data, state)
        kept = filters.rows(
            state.where, list(data.columns), count(data.columns), lambda name: data.columns[name].tolist()
        )
        if not kept.any():
            raise RequestError(f"filter {state.where!r} leaves no row: change it, or empty the field.")
        rows = {name: x[kept] for name, x in data.columns.items()}
        law = fit(source, state.law, rows, data.settings)
    except (RequestError, ArithmeticError) as error:
        return _refused(str(error), state, updates, colours)
    chosen = _Chosen(state, source, data, rows, law)
    paper = published(rows)
    predicted = law.predict(_read(law, rows))
    download = rows | {"law": predicted, "residual": law.residuals}
    download |= {} if paper is None else {"paper": paper.predict(rows)}
    return Drawing(
        {
            "points": _points(chosen, paper, colours),
            "residuals": _residuals(chosen, predicted, colours),
        },
        {"points": download, "residuals": download},
        _law_text(chosen, paper),
        updates,
        state,
    )


def _refused(sentence: str, state: LawsState, updates: dict[tuple[str, str], Any], colours: Palette) -> Drawing:
    """No picture, and what to do."""
    nothing = figures.nothing(colours, "no law to draw")
    text = html.P(
        "Change the fields above, choose other measurements, or empty “Law” and “Only rows with”: then the law "
        "that these measurements offer is fitted.",
        className="next",
    )
    return Drawing({"points": nothing, "residuals": nothing}, {}, text, updates, state, sentence)


def _read(law: Law, rows: Columns) -> dict[str, NDArray[Any]]:
    """The columns that a law reads; ones, if it is a constant."""
    return {name: np.asarray(rows[name], np.float64) for name in law.ranges} or {"one": np.ones(count(rows))}


def _points(chosen: _Chosen, paper: Published | None, colours: Palette) -> Figure:
    """What was measured, and the law as a line for each setting of what it reads besides x."""
    state, rows = chosen.state, chosen.rows
    facets = _values(rows, state.facet)[:_FACETS]
    axes, traces, notes = _axes(chosen, facets, colours), [], []
    for i, facet in enumerate(facets):
        inside = _where(rows, state.facet, facet)
        place = {"xaxis": f"x{i + 1}", "yaxis": "y"}
        for value, colour in zip(*_colours(rows, state.colour, colours), strict=True):
            some = inside & _where(rows, state.colour, value)
            if some.any():
                label = chosen.label(state.colour, value) if i == 0 and value is not None else ""
                traces += _series(chosen, some, paper, colour, colours.paper, label, place)
        if facet is not None:
            across = axes["xaxis" if i == 0 else f"xaxis{i + 1}"]["domain"]
            note = {"text": figures.text(chosen.label(state.facet, facet)), "x": across[0], "y": 1}
            notes.append(note | {"xref": "paper", "yref": "paper", "yanchor": "top", "xanchor": "left"})
    traces.append(figures.line([np.nan], [np.nan], colours.neutral, "fitted"))
    if paper is not None:
        traces.append(figures.line([np.nan], [np.nan], colours.paper, paper.source, dash="dash"))
    return figures.figure(colours, traces, axes, notes=notes)


def _series(
    chosen: _Chosen, some: NDArray[np.bool_], paper: Published | None, colour: str, theirs: str, label: str, place: Any
) -> list[figures.Trace]:
    """Points of one colour, with the lines that belong to them."""
    law, across_name = chosen.law, chosen.state.x
    rows = {name: values[some] for name, values in chosen.rows.items()}
    x, y, cut = rows[across_name], chosen.y[some], censored(chosen.source, rows)
    traces = [figures.points(x[~cut], y[~cut], colour, label, **place)]
    if cut.any():
        hollow = {"symbol": "triangle-up-open", "size": 9}
        named = f"{label} censored: longer than this".strip()
        traces.append(figures.points(x[cut], y[cut], colour, named, **hollow, **place))
    held = [name for name in law.ranges if name != across_name]
    settings = np.unique(np.column_stack([rows[name] for name in held]), axis=0) if held else np.empty((1, 0))
    across = np.geomspace(x.min(), x.max(), 40) if x.min() > 0 and x.min() < x.max() else np.unique(x)
    for setting in settings[:_LINES]:
        line = {"one": np.ones(across.size), across_name: across}
        line |= {name: np.full(across.size, value) for name, value in zip(held, setting, strict=True)}
        traces.append(figures.line(across, law.predict(_read(law, line)), colour, width=1.4, **place))
        if len(settings) == 1:
            low, high = law.predict_interval(_read(law, line))
            traces.insert(0, figures.band(across, low, high, colour, **place))
        if paper is not None and all(name in line or np.unique(rows[name]).size == 1 for name in paper.exponents):
            fixed = {name: np.full(across.size, rows[name][0]) for name in paper.exponents if name not in line}
            traces.append(figures.line(across, paper.predict(fixed | line), theirs, width=1.2, dash="dash", **place))
    return traces


def _residuals(chosen: _Chosen, predicted: NDArray[Any], colours: Palette) -> Figure:
    law, by = chosen.law, chosen.state.colour
    half_width = 1.96 * law.scatter
    ends = [predicted.min(), predicted.max()]
    traces = [figures.band(ends, np.exp([-half_width] * 2), np.exp([half_width] * 2), colours.neutral, "95 % of rows")]
    for value, colour in zip(*_colours(chosen.rows, by, colours), strict=True):
        some = _where(chosen.rows, by, value)
        traces.append(figures.points(predicted[some], np.exp(law.residuals[some]), colour))
    axes = {
        "xaxis": figures.log_axis(colours, f"by the law ({chosen.unit})"),
        "yaxis": figures.axis(colours, "measured / law"),
    }
    return figures.figure(colours, traces, axes, shapes=[figures.horizontal(1, colours.neutral, dash="solid")])


def _axes(chosen: _Chosen, facets: list[Any], colours: Palette) -> dict[str, Any]:
    width = 1 / len(facets)
    name = chosen.source.measurement.what.partition(",")[0].partition(" of ")[0]
    axes: dict[str, Any] = {"yaxis": figures.log_axis(colours, f"{name} ({chosen.unit})")}
    for i in range(len(facets)):
        domain = [i * width, (i + 1) * width - (0.03 if len(facets) > 1 else 0)]
        axes["xaxis" if i == 0 else f"xaxis{i + 1}"] = figures.fitting_axis(
            colours, chosen.state.x, chosen.rows[chosen.state.x], domain=domain
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


def _law_text(chosen: _Chosen, paper: Published | None) -> Any:
    """What was measured, and the law in numbers, with intervals."""
    law, source = chosen.law, chosen.source
    rows = [(name, number(x), " to ".join(map(number, law.intervals[name]))) for name, x in law.coefficients.items()]
    configurations = np.unique(chosen.rows[CONFIGURATION]).size if CONFIGURATION in chosen.rows else 0
    return [
        html.P([html.Strong("Measured: "), f"{source.measurement.what}, in {chosen.unit}."], className="measured"),
        html.P(source.about, className="about"),
        *_caution(chosen),
        table(["", "fitted", "95 %"], rows, law.form),
        facts(
            [
                ("R²", f"{law.r2:.4f}"),
                ("scatter around the law", f"{law.scatter:.1%}"),
                ("rows", f"{law.rows:,}", f"{law.censored} did not emerge" if law.censored else ""),
                *(
                    [("configurations", f"{configurations:,}", "runs of one differ only in the seed")]
                    if configurations
                    else []
                ),
                *([] if paper is None else [(paper.source, paper.formula, f"R² {paper.r2}")]),
            ]
        ),
    ]


def _caution(chosen: _Chosen) -> list[Any]:
    """What to know about a law that describes several kinds of runs at once, and so none of them."""
    kinds, apart = pooled(chosen.source, chosen.state.law, chosen.rows)
    if kinds == 1:
        return []
    names = ", ".join(apart) or "task and model"
    text = f"This law pools {kinds} kinds of runs, which differ in {names}. Choose one kind with “Only rows with”."
    return [html.P(text, className="next")]


def _options(offered: Mapping[str, Source]) -> list[dict[str, Any]]:
    """Each source with what was measured, and the law that it offers."""
    return [
        {"value": name, "label": two_lines(x.title, x.form), "search": f"{x.title} {x.form}", "title": x.about}
        for name, x in offered.items()
    ]


def _menus(data: FitTable, state: LawsState) -> dict[tuple[str, str], Any]:
    """Menus offer what the data have, and show what was filled in."""
    options = {"x": list(data.settings), "colour": list(_groups(data)), "facet": list(_groups(data))}
    updates: dict[tuple[str, str], Any] = {(name, "options"): x for name, x in options.items()}
    return updates | {(name, "value"): getattr(state, name) for name in ("source", *options, "where", "law")}


def _empty(workspace: Workspace, colours: Palette) -> Drawing:
    empty = figures.nothing(colours, "no measurements yet")
    text = commands(
        "There are no measurements to fit a law to. To make some:",
        "daybreak reproduce fig1c --scale smoke",
        "daybreak sweep examples/small.toml",
    )
    return Drawing({"points": empty, "residuals": empty}, {}, text)


VIEW = View(
    name="laws",
    title="Laws",
    about="How long plateaus are, which power law they follow, and the law of the paper. Write another law and it is fitted.",
    state=LawsState,
    controls={
        "source": Menu("Measurements"),
        "x": Menu("Across"),
        "colour": Menu("Colour"),
        "facet": Menu("Side by side"),
        "where": Text("Only rows with", "T >= 64"),
        "law": Text("Law", "C * d**a * T**b"),
    },
    panels={"points": "Measurements and law", "residuals": "Residuals: measured over fitted"},
    draw=_draw,
    updates=(
        *((name, "options") for name in ("source", "x", "colour", "facet")),
        *((name, "value") for name in ("source", "x", "colour", "facet", "where", "law")),
    ),
    leading="source",
)
