"""Forecast: when a run will emerge, as it could be said at any step, beside what came."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from dash.development.base_component import Component

from daybreak.errors import RequestError
from daybreak.explorer import figures
from daybreak.explorer.controls import Menu, Slider
from daybreak.explorer.desk import Desk
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.parts import commands, facts
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.lab.reading.laws import prior
from daybreak.lab.reading.outlook import Outlook, outlook
from daybreak.lab.reading.progress import RunCurves
from daybreak.measure import Forecast, NotEnoughEvidence

_MOMENTS = 60  # at which the forecast is drawn
_OFFERED = 500  # runs that a menu has room for; the address can name any
_SHARE = Slider("Seen until this share of the run", 0, 100, 1, form="{:g} %")
_SOURCES = {"law": "by the law", "attention": "by attention", "loss": "by the loss"}


@final
@dataclass(frozen=True)
class Watch:
    """What the view shows: a run, and how much of it has been seen."""

    run: str = ""
    share: int = 50

    def __post_init__(self) -> None:
        _SHARE.check("share", self.share)


@final
@dataclass(frozen=True)
class _Seen:
    """What there is of a run: its outlook, forecasts at moments along it, and the law of other runs or why there is none."""

    outlook: Outlook
    forecasts: tuple[Forecast, ...]
    law: str
    no_law: str


@lru_cache(maxsize=16)
def _seen(desk: Desk, name: str, evaluations: int) -> _Seen:
    """The same for as much of a run as there is now."""
    found = desk.run_curves(name)
    given, law, no_law = None, "", ""
    try:
        said = prior(desk.lab, found.run)
        given, law = (said.median, said.spread), said.fitted.law.formula
    except RequestError as error:
        no_law = str(error)
    view = outlook(found, prior=given)
    places = np.unique(np.linspace(0, view.steps.size - 1, min(_MOMENTS, view.steps.size)).round().astype(int))
    made = (view.at(int(view.steps[i])) for i in places)
    return _Seen(view, tuple(one for one in made if isinstance(one, Forecast)), law, no_law)


def _draw(desk: Desk, watch: Watch, colours: Palette) -> Drawing:
    offered = _offered(desk)
    if not offered:
        return _empty(desk, colours)
    name = watch.run or offered[0]["value"]
    found = desk.run_curves(name)
    seen = _seen(desk, name, len(found.steps))
    view = seen.outlook
    at = int(view.steps[round((view.steps.size - 1) * watch.share / 100)])
    said = view.at(at)
    return Drawing(
        {
            "curve": _curve(view, at, said, colours),
            "band": _band(seen, at, colours),
            "attention": _attention(view, at, colours),
        },
        {"curve": _curve_table(view), "band": _band_table(seen), "attention": _curve_table(view)},
        _said(found, seen, at, said),
        {("run", "options"): offered, ("run", "value"): name},
        Watch(name, watch.share),
    )


def _offered(desk: Desk) -> list[dict[str, str]]:
    """Runs that have curves, those that still train first."""
    table = desk.runs()
    if not table.num_rows:
        return []
    kept = [x for x in ("id", "outcome", "task", "T", "d", "N", "V", "seed") if x in table.column_names]
    rows = table.slice(0, 2 * _OFFERED).select(kept).to_pylist()
    usable = [row for row in rows if row["outcome"] != "failed" and row["task"] is not None][:_OFFERED]
    return [{"value": row["id"], "label": _label(row)} for row in usable]


def _label(row: dict[str, Any]) -> str:
    named = (f"{x} {row[x]:g}" for x in ("T", "d", "N", "V", "seed") if row.get(x) is not None)
    return f"{row['id'][:8]} {row['outcome']}: {row['task']} {', '.join(named)}"


def _future(at: int, view: Outlook, colours: Palette) -> dict[str, Any]:
    """What had not been seen yet."""
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


def _curve(view: Outlook, at: int, said: Any, colours: Palette) -> Figure:
    """The curve that is watched, with the forecast from what was seen of it."""
    traces = [figures.line(view.steps, view.values, colours.ours)]
    shapes = [_future(at, view, colours), figures.horizontal(view.level, colours.neutral, dash="dash")]
    if isinstance(said, Forecast):
        ends = {"x0": said.interval.low, "x1": said.interval.high, "fillcolor": figures.clear(colours.paper, 0.25)}
        shapes.append(_future(at, view, colours) | ends)
        shapes.append(figures.vertical(said.median, colours.paper, dash="solid"))
    up = figures.axis if view.rising else figures.log_axis
    axes = {"xaxis": figures.axis(colours, "step", rangemode="tozero"), "yaxis": up(colours, view.name)}
    return figures.figure(colours, traces, axes, shapes=shapes, legend=False)


def _band(seen: _Seen, at: int, colours: Palette) -> Figure:
    """The forecast over the steps at which it could be made, against the truth."""
    made = seen.forecasts
    if not made:
        return figures.nothing(colours, "at no step was there enough evidence")
    x = [one.at for one in made]
    traces = [
        figures.band(
            x, [y.interval.low for y in made], [y.interval.high for y in made], colours.paper, "80 % interval"
        ),
        figures.line(x, [one.median for one in made], colours.paper, "forecast"),
        figures.line([0, x[-1]], [0, x[-1]], colours.neutral, "now", width=1.2, dash="dot"),
    ]
    truth = seen.outlook.truth
    if truth is not None and not truth.censored:
        ends = [0, max(x[-1], at)]
        traces.append(figures.line(ends, [truth.length] * 2, colours.ours, "emerged", dash="dash"))
    axes = {
        "xaxis": figures.axis(colours, "step at which it was made", rangemode="tozero"),
        "yaxis": figures.axis(colours, "step of emergence", rangemode="tozero"),
    }
    return figures.figure(colours, traces, axes, shapes=[figures.vertical(at, colours.neutral, dash="solid")])


def _attention(view: Outlook, at: int, colours: Palette) -> Figure:
    traces = [figures.line(view.steps, head, colours.ours, width=1.2, opacity=0.7) for head in view.attention.T]
    axes = {
        "xaxis": figures.axis(colours, "step", rangemode="tozero"),
        "yaxis": figures.log_axis(colours, "attention, one line a head"),
    }
    return figures.figure(colours, traces, axes, shapes=[_future(at, view, colours)], legend=False)


def _curve_table(view: Outlook) -> Columns:
    heads = {f"head{i + 1}": x for i, x in enumerate(view.attention.T)}
    return {"step": view.steps, view.name.replace(" ", "_"): view.values, **heads}


def _band_table(seen: _Seen) -> Columns:
    made = seen.forecasts
    return {
        "at": np.array([one.at for one in made], np.float64),
        "median": np.array([one.median for one in made], np.float64),
        "low": np.array([one.interval.low for one in made], np.float64),
        "high": np.array([one.interval.high for one in made], np.float64),
    }


def _said(found: RunCurves, seen: _Seen, at: int, said: Any) -> Component:
    view = seen.outlook
    rows: list[tuple[Any, ...]] = [
        ("run", found.run.id[:12], "done" if found.done else "still trains"),
        ("seen until step", f"{at:,}"),
    ]
    match said:
        case Forecast():
            low, high = said.interval
            rows.append(("emerges at step", f"{said.median:,.0f}", f"80 % between {low:,.0f} and {high:,.0f}"))
            rows += [(_SOURCES[x.source], f"{x.median:,.0f}", f"± {x.spread:.0%}") for x in said.evidence]
        case NotEnoughEvidence():
            rows.append(("forecast", "not enough evidence", said.reason))
        case _:
            rows.append(("has emerged at step", f"{said.length:,.0f}"))
    if view.truth is not None:
        what = "not emerged by step" if view.truth.censored else "what came: step"
        rows.append((what, f"{view.truth.length:,.0f}", f"{view.name} {view.level:g}"))
    rows.append(("law of other runs", seen.law or "none", seen.no_law))
    return facts(rows)


def _empty(desk: Desk, colours: Palette) -> Drawing:
    nothing = figures.nothing(colours, "no runs yet")
    said = commands(
        f"The lab {str(desk.lab.path)!r} has no runs to forecast. Train one:",
        f"daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --lab {desk.lab.path}",
    )
    return Drawing({"curve": nothing, "band": nothing, "attention": nothing}, {}, said)


VIEW = View(
    name="forecast",
    title="Forecast",
    about="When will it emerge? Move the slider back to what had been seen, and compare with what came.",
    state=Watch,
    controls={"run": Menu("Run"), "share": _SHARE},
    panels={
        "curve": "What was seen, and the forecast from it",
        "band": "The forecast as it was at each step",
        "attention": "Attention to the relevant tokens",
    },
    draw=_draw,
    moved=(("run", "options"), ("run", "value")),
    live=True,
)
