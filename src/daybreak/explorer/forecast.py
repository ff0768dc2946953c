"""Forecast: when a run will emerge, as forecast at any step, compared with the outcome."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, final

import numpy as np
from dash import html
from dash.development.base_component import Component

from daybreak.errors import RequestError
from daybreak.explorer import figures
from daybreak.explorer.controls import Menu, Slider, Text
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.parts import commands, facts, two_lines
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.lab import listing
from daybreak.lab.reading.laws import prior
from daybreak.lab.reading.outlook import Outlook, outlook
from daybreak.lab.reading.progress import RunCurves, note
from daybreak.measure import Forecast, NotEnoughEvidence

_MOMENTS = 60  # steps at which the forecast is drawn
_OFFERED = 500  # runs in the menu; the address can name any
_TRIED = 20  # runs that are tried until one has a forecast, while none is chosen
_KNOWN_BY = ("name", "T", "d", "N", "V", "seed")
_SHARE = Slider("Use this fraction of the run", 0, 100, 1, form="{:g} %")
_SOURCES = {"law": "by the law", "attention": "by attention", "loss": "by the loss"}


@final
@dataclass(frozen=True)
class ForecastState:
    """What the view shows: a run, how much of it the forecast uses, what counts as emerged, and the law of other runs."""

    run: str = ""
    share: int = 50
    level: str = ""  # a number; empty for the level of the run's stop rule
    law: str = ""  # its form, or "none"; empty for the paper's

    def __post_init__(self) -> None:
        _SHARE.check("share", self.share)
        if self.level:
            try:
                float(self.level)
            except ValueError:
                raise RequestError(f"level = {self.level!r} is not allowed: it must be a number.") from None


@final
@dataclass(frozen=True)
class _RunForecasts:
    """A run's outlook, forecasts at steps along it, and the law of other runs or why there is none."""

    outlook: Outlook
    forecasts: tuple[Forecast, ...]
    law: str
    no_law: str


@lru_cache(maxsize=16)
def _run_forecasts(workspace: Workspace, name: str, level: str, law: str, evaluations: int) -> _RunForecasts:
    """The same for the evaluations that a run has now."""
    curves = workspace.run_curves(name)
    if not level and not curves.level:
        raise RequestError("the stop rule of this run has no level: write one into the field Level.")
    chosen = float(level) if level else curves.level
    given, formula, no_law = _law(workspace, curves, chosen, law)
    view = outlook(curves, level=chosen, prior=given)
    places = np.unique(np.linspace(0, view.steps.size - 1, min(_MOMENTS, view.steps.size)).round().astype(int))
    forecasts = (view.at(int(view.steps[i])) for i in places)
    return _RunForecasts(view, tuple(one for one in forecasts if isinstance(one, Forecast)), formula, no_law)


def _law(workspace: Workspace, curves: RunCurves, level: float, form: str) -> tuple[Any, str, str]:
    """The prediction of the law of the lab's other runs, and the law; or why there is none."""
    if form == "none":
        return None, "", "none was asked for."
    if level != curves.level:
        return None, "", f"the plateaus in the lab were measured at the level of each stop rule, not at {level:g}."
    try:
        other = prior(workspace.lab, curves.settings, form or None)
    except RequestError as error:
        if form:
            raise
        return None, "", str(error)
    return (other.median, other.spread), " ".join([f"{other.law.formula}.", *other.notes]), ""


def _draw(workspace: Workspace, state: ForecastState, colours: Palette) -> Drawing:
    offered = _offered(workspace)
    if not offered:
        return _empty(workspace, colours)
    names = [state.run] if state.run else [x["value"] for x in offered[:_TRIED]]
    problem, shown = "", names[0]
    for name in names:
        try:
            return _drawn(workspace, replace(state, run=name), offered, colours)
        except RequestError as error:
            if not problem:
                problem = str(error)
    nothing = figures.nothing(colours, "no forecast to draw")
    text = html.P("Choose another run, another level or another law.", className="next")
    updates = {("run", "options"): offered, ("run", "value"): shown}
    return Drawing(
        dict.fromkeys(("curve", "band", "attention"), nothing), {}, text, updates, replace(state, run=shown), problem
    )


def _drawn(workspace: Workspace, state: ForecastState, offered: list[dict[str, Any]], colours: Palette) -> Drawing:
    curves = workspace.run_curves(state.run)
    run_forecasts = _run_forecasts(workspace, state.run, state.level, state.law, len(curves.steps))
    view = run_forecasts.outlook
    at = int(view.steps[round((view.steps.size - 1) * state.share / 100)])
    forecast = view.at(at)
    return Drawing(
        {
            "curve": _curve(view, at, forecast, colours),
            "band": _band(run_forecasts, at, colours),
            "attention": _attention(view, at, colours),
        },
        {"curve": _curve_table(view), "band": _band_table(run_forecasts), "attention": _curve_table(view)},
        _text(curves, run_forecasts, at, forecast),
        {("run", "options"): offered, ("run", "value"): state.run},
        state,
    )


def _offered(workspace: Workspace) -> list[dict[str, Any]]:
    """Runs that have curves, those that still train first."""
    table = workspace.runs()
    if not table.num_rows:
        return []
    kept = [x for x in ("id", "outcome", "task", *_KNOWN_BY) if x in table.column_names]
    rows = table.slice(0, 2 * _OFFERED).select(kept).to_pylist()
    usable = [row for row in rows if row["outcome"] != "failed" and row["task"] is not None][:_OFFERED]
    return [_option(row) for row in usable]


def _option(row: dict[str, Any]) -> dict[str, Any]:
    """A run in the menu: its settings, and below them its name and outcome."""
    named = listing.sentence({x: row.get(x) for x in _KNOWN_BY})
    about = f"{row['id'][:8]}, {row['task']}, {row['outcome']}"
    return {"value": row["id"], "label": two_lines(named, about), "search": f"{named} {row['id']} {about}"}


def _future(at: int, view: Outlook, colours: Palette) -> dict[str, Any]:
    """The part of the run that the forecast does not use."""
    return {
        "type": "rect",
        "x0": at,
        "x1": max(at, float(view.steps[-1])),
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"width": 0},
        "fillcolor": figures.clear(colours.neutral, 0.12),
    }


def _curve(view: Outlook, at: int, forecast: Any, colours: Palette) -> Figure:
    """The curve of the stop rule, with the forecast from the part used."""
    traces = [figures.line(view.steps, view.values, colours.ours)]
    shapes = [_future(at, view, colours), figures.horizontal(view.level, colours.neutral, dash="dash")]
    if isinstance(forecast, Forecast):
        ends = {
            "x0": forecast.interval.low,
            "x1": forecast.interval.high,
            "fillcolor": figures.clear(colours.paper, 0.25),
        }
        shapes.append(_future(at, view, colours) | ends)
        shapes.append(figures.vertical(forecast.median, colours.paper, dash="solid"))
    up = figures.axis if view.rising else figures.log_axis
    axes = {"xaxis": figures.axis(colours, "step", rangemode="tozero"), "yaxis": up(colours, view.name)}
    return figures.figure(colours, traces, axes, shapes=shapes, legend=False)


def _band(run_forecasts: _RunForecasts, at: int, colours: Palette) -> Figure:
    """The forecast over the steps at which it could be made, against the truth."""
    forecasts = run_forecasts.forecasts
    if not forecasts:
        return figures.nothing(colours, "there was not enough evidence at any step")
    x = [one.at for one in forecasts]
    traces = [
        figures.band(
            x, [y.interval.low for y in forecasts], [y.interval.high for y in forecasts], colours.paper, "80 % interval"
        ),
        figures.line(x, [one.median for one in forecasts], colours.paper, "forecast"),
        figures.line([0, x[-1]], [0, x[-1]], colours.neutral, "now", width=1.2, dash="dot"),
    ]
    truth = run_forecasts.outlook.truth
    if truth is not None and not truth.censored:
        ends = [0, max(x[-1], at)]
        traces.append(figures.line(ends, [truth.length] * 2, colours.ours, "emerged", dash="dash"))
    axes = {
        "xaxis": figures.axis(colours, "step at which it was made", rangemode="tozero"),
        "yaxis": figures.axis(colours, "step of emergence", rangemode="tozero"),
    }
    return figures.figure(colours, traces, axes, shapes=[figures.vertical(at, colours.neutral, dash="solid")])


def _attention(view: Outlook, at: int, colours: Palette) -> Figure:
    if not view.attention.size:
        return figures.nothing(colours, "attention was not measured")
    traces = [figures.line(view.probe_steps, head, colours.ours, width=1.2, opacity=0.7) for head in view.attention.T]
    axes = {
        "xaxis": figures.axis(colours, "step", rangemode="tozero"),
        "yaxis": figures.log_axis(colours, "attention, one line per head"),
    }
    return figures.figure(colours, traces, axes, shapes=[_future(at, view, colours)], legend=False)


def _curve_table(view: Outlook) -> Columns:
    there = np.isin(view.steps, view.probe_steps)
    heads = {f"head{i + 1}": np.full(view.steps.size, np.nan) for i in range(view.attention.shape[1])}
    for column, values in zip(heads.values(), view.attention.T, strict=True):
        column[there] = values[np.isin(view.probe_steps, view.steps)]
    return {"step": view.steps, view.name.replace(" ", "_"): view.values, **heads}


def _band_table(run_forecasts: _RunForecasts) -> Columns:
    forecasts = run_forecasts.forecasts
    return {
        "at": np.array([one.at for one in forecasts], np.float64),
        "median": np.array([one.median for one in forecasts], np.float64),
        "low": np.array([one.interval.low for one in forecasts], np.float64),
        "high": np.array([one.interval.high for one in forecasts], np.float64),
    }


def _text(curves: RunCurves, run_forecasts: _RunForecasts, at: int, forecast: Any) -> Component:
    view = run_forecasts.outlook
    rows: list[tuple[Any, ...]] = [
        ("run", curves.id[:12], "done" if curves.done else "still trains"),
        ("emerged means", f"{view.name} {view.level:g}"),
        ("used until step", f"{at:,}"),
    ]
    if unknown := note(curves.settings):
        rows.insert(1, ("note", unknown))
    match forecast:
        case Forecast():
            low, high = forecast.interval
            rows.append(("emerges at step", f"{forecast.median:,.0f}", f"80 % between {low:,.0f} and {high:,.0f}"))
            rows += [(_SOURCES[x.source], f"{x.median:,.0f}", f"± {x.spread:.0%}") for x in forecast.evidence]
        case NotEnoughEvidence():
            rows.append(("forecast", "not enough evidence", forecast.reason))
        case _:
            rows.append(("has emerged at step", f"{forecast.length:,.0f}"))
    if view.truth is not None:
        what = "not emerged by step" if view.truth.censored else "emerged at step, in fact"
        rows.append((what, f"{view.truth.length:,.0f}"))
    rows.append(("law of other runs", run_forecasts.law or "none", run_forecasts.no_law))
    return facts(rows)


def _empty(workspace: Workspace, colours: Palette) -> Drawing:
    nothing = figures.nothing(colours, "no runs yet")
    text = commands(
        f"The lab {str(workspace.lab.path)!r} has no runs to forecast. Train one:",
        f"daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --lab {workspace.lab.path}",
    )
    return Drawing({"curve": nothing, "band": nothing, "attention": nothing}, {}, text)


VIEW = View(
    name="forecast",
    title="Forecast",
    about="When will it emerge? Use only the first part of a run, and compare the forecast with the outcome.",
    state=ForecastState,
    controls={
        "run": Menu("Run"),
        "share": _SHARE,
        "level": Text("Level that counts as emerged (empty: that of its stop rule)", "0.1"),
        "law": Text("Law of other runs (empty: the paper's form; or none)", "C * d**a * T**b"),
    },
    panels={
        "curve": "The part used, and the forecast from it",
        "band": "The forecast as it was at each step",
        "attention": "Attention to the relevant tokens",
    },
    draw=_draw,
    updates=(("run", "options"), ("run", "value")),
    live=True,
)
