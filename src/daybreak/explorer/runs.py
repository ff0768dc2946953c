"""Runs: what a lab holds and how it came about, also while it grows."""

from typing import Any

import numpy as np
from dash import Dash, Input, Output, State, dcc
from dash.exceptions import PreventUpdate
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer import address, figures
from daybreak.explorer.controls import Choice, Hidden, Text
from daybreak.explorer.desk import Desk
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.listing import listing
from daybreak.explorer.parts import commands
from daybreak.explorer.run_table import run_table
from daybreak.explorer.selection import SLIDERS, Selection, pressed
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.lab.reading.progress import RunCurves

_DRAWN = 4  # runs whose curves are drawn while none is picked
_CURVES = {
    "clean_loss": "clean loss",
    "train_loss": "training loss",
    "clean_accuracy": "clean accuracy",
    "train_accuracy": "training accuracy",
}


def _draw(desk: Desk, chosen: Selection, colours: Palette) -> Drawing:
    table = desk.runs()
    if not table.num_rows:
        return _empty(desk, colours)
    listed = listing(table, chosen.where, chosen.sort, chosen.page)
    names = chosen.runs or tuple(row["id"] for row in listed.rows[:_DRAWN])
    found, refused = _read(desk, names)
    tints = dict(zip(names, figures.series(colours, len(names)), strict=True))
    return Drawing(
        {
            "curves": _curves(found, tints, chosen, colours),
            "heads": _heads(found, chosen, colours),
            "map": _map(found, chosen, colours),
        },
        {"runs": listed.columns, "curves": _curve_table(found), "heads": _head_table(found), "map": _head_table(found)},
        run_table(desk, chosen, listed, tints, refused),
    )


def _read(desk: Desk, names: tuple[str, ...]) -> tuple[dict[str, RunCurves], list[str]]:
    """Runs as far as they got, and why some have nothing to show."""
    found, refused = {}, []
    for name in names:
        try:
            found[name] = desk.run_curves(name)
        except RequestError as error:
            refused.append(str(error))
    return found, refused


def _curves(found: dict[str, RunCurves], tints: dict[str, str], chosen: Selection, colours: Palette) -> Figure:
    having = {name: run for name, run in found.items() if chosen.curve in run.curves}
    if not having:
        return figures.nothing(colours, f"no run that is drawn has a {_CURVES[chosen.curve]}")
    traces = [
        figures.line(run.steps, smoothed(run.curves[chosen.curve], chosen.smooth), tints[name], name[:8])
        for name, run in having.items()
    ]
    named = _CURVES[chosen.curve] + ("" if chosen.smooth == 1 else f", mean of {chosen.smooth}")
    up = figures.log_axis if chosen.scale == "log" else figures.axis
    axes = {"xaxis": figures.axis(colours, "step", rangemode="tozero"), "yaxis": up(colours, named)}
    return figures.figure(colours, traces, axes)


def smoothed(values: NDArray[np.floating], count: int) -> NDArray[np.floating]:
    """The mean of each value and its neighbours, as many as there are."""
    if count == 1:
        return values
    window = np.ones(count)
    finite = np.nan_to_num(np.asarray(values, np.float64))
    return np.convolve(finite, window, "same") / np.convolve(np.ones(finite.size), window, "same")


def _heads(found: dict[str, RunCurves], chosen: Selection, colours: Palette) -> Figure:
    """Attention to relevant positions over the run, one row per layer and head, of the run picked last."""
    if not found:
        return figures.nothing(colours, "no run to show")
    name, run = list(found.items())[-1]
    attention = run.curves["attention"]
    _, layers, heads = attention.shape
    ground = _heat(attention.reshape(len(run.steps), -1).T, colours)
    ground |= {
        "x": run.steps.tolist(),
        "y": [f"layer {i + 1}, head {j + 1}" for i in range(layers) for j in range(heads)],
    }
    axes = {
        "xaxis": figures.axis(colours, f"step of run {name[:8]}", showgrid=False),
        "yaxis": figures.axis(colours, "", autorange="reversed", showgrid=False),
    }
    mark = figures.vertical(float(run.steps[_at(run, chosen)]), colours.paper, dash="solid")
    return figures.figure(colours, [ground], axes, shapes=[mark], legend=False)


def _map(found: dict[str, RunCurves], chosen: Selection, colours: Palette) -> Figure:
    """The same at one step: layers down, heads across."""
    if not found:
        return figures.nothing(colours, "no run to show")
    run = list(found.values())[-1]
    at = _at(run, chosen)
    values = run.curves["attention"][at]
    ground = _heat(values, colours) | {
        "x": [f"head {j + 1}" for j in range(values.shape[1])],
        "y": [f"layer {i + 1}" for i in range(values.shape[0])],
        "texttemplate": "%{z:.2f}",
        "xgap": 2,
        "ygap": 2,
    }
    axes = {
        "xaxis": figures.axis(colours, f"at step {int(run.steps[at]):,}", showgrid=False),
        "yaxis": figures.axis(colours, "", autorange="reversed", showgrid=False),
    }
    return figures.figure(colours, [ground], axes, legend=False)


def _heat(values: NDArray[np.floating], colours: Palette) -> dict[str, Any]:
    bar = {"title": {"text": "attention", "side": "right"}, "thickness": 10, "outlinewidth": 0}
    return {
        "type": "heatmap",
        "z": figures.numbers(values),
        "zmin": 0,
        "zmax": 1,
        "colorscale": "Viridis",
        "colorbar": bar,
    }


def _at(run: RunCurves, chosen: Selection) -> int:
    return round((len(run.steps) - 1) * chosen.share / 100)


def _curve_table(found: dict[str, RunCurves]) -> Columns:
    """Scores of all drawn runs below each other; empty where a run has none."""
    if not found:
        return {"run": np.array([], np.str_)}
    scores = [x for x in _CURVES if any(x in run.curves for run in found.values())]
    empty = {name: np.full(run.steps.size, np.nan) for name, run in found.items()}
    return {
        "run": np.repeat(list(found), [run.steps.size for run in found.values()]),
        "step": np.concatenate([run.steps for run in found.values()]),
        **{x: np.concatenate([run.curves.get(x, empty[name]) for name, run in found.items()]) for x in scores},
    }


def _head_table(found: dict[str, RunCurves]) -> Columns:
    if not found:
        return {"step": np.array([], np.int64)}
    run = list(found.values())[-1]
    attention = run.curves["attention"]
    places = np.ndindex(attention.shape[1:])
    return {"step": run.steps} | {f"layer{i + 1}_head{j + 1}": attention[:, i, j] for i, j in places}


def _empty(desk: Desk, colours: Palette) -> Drawing:
    nothing = figures.nothing(colours, "no runs yet")
    lab = desk.lab.path
    said = [
        commands(
            f"The lab {str(lab)!r} has no runs yet. Train one, or start a sweep; this page follows while they grow.",
            f"daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --lab {lab}",
            f"daybreak sweep examples/small.toml --lab {lab}",
        )
    ]
    return Drawing({"curves": nothing, "heads": nothing, "map": nothing}, {}, said)


def _buttons(app: Dash) -> None:
    """Sorting, picking and turning pages change the state."""

    @app.callback(
        Output("runs-sort", "data"),
        Output("runs-page", "data"),
        Output("runs-runs", "data"),
        Input("runs-pressed", "data"),
        State("runs-kept", "data"),
        prevent_initial_call=True,
    )
    def _after(button: dict[str, Any] | None, kept: str | None) -> tuple[str, int, list[str]]:
        if button is None or kept is None:
            raise PreventUpdate
        now = address.read(Selection, kept)
        after = pressed(now, str(button["what"]), str(button["which"]))
        return after.sort, after.page, list(after.runs)


VIEW = View(
    name="runs",
    title="Runs",
    about="What the lab holds. Pick runs to see their curves; a sweep that is under way grows here by itself.",
    state=Selection,
    controls={
        "where": Text("Only runs with", "T >= 64, outcome = emerged"),
        "sort": Hidden(),
        "page": Hidden(),
        "runs": Hidden(),
        "curve": Choice("Curve", _CURVES),
        "scale": Choice("Scale", {"log": "logarithmic", "linear": "linear"}),
        **SLIDERS,
    },
    panels={
        "curves": "Curves",
        "heads": "Attention to relevant tokens, by head",
        "map": "The same at one step",
    },
    draw=_draw,
    said="above",
    live=True,
    extras=(dcc.Store(id="runs-pressed"),),
    wire=_buttons,
)
