"""Runs: the runs of a lab with their curves, also while it grows."""

from typing import Any

import numpy as np
from dash import Dash, Input, Output, State, dcc
from dash.exceptions import PreventUpdate
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer import address, figures
from daybreak.explorer.controls import Choice, Hidden, Text
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.listing import run_page
from daybreak.explorer.parts import commands
from daybreak.explorer.run_table import run_table
from daybreak.explorer.runs_state import SLIDERS, RunsState, pressed
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.lab.criterion import criterion
from daybreak.lab.reading.progress import RunCurves, note

_DRAWN = 4  # runs whose curves are drawn while none is picked
_CURVES = {
    "clean_loss": "clean loss",
    "train_loss": "training loss",
    "clean_accuracy": "clean accuracy",
    "train_accuracy": "training accuracy",
}


def _draw(workspace: Workspace, state: RunsState, colours: Palette) -> Drawing:
    table = workspace.runs()
    if not table.num_rows:
        return _empty(workspace, colours)
    listed = run_page(table, state.where, state.sort, state.page)
    names = state.runs or tuple(row["id"] for row in listed.rows[:_DRAWN])
    runs, refused = _read(workspace, names)
    tints = dict(zip(names, figures.series(colours, len(names)), strict=True))
    return Drawing(
        {
            "curves": _curves(runs, tints, state, colours),
            "heads": _heads(runs, state, colours),
            "map": _map(runs, state, colours),
        },
        {"runs": listed.columns, "curves": _curve_table(runs), "heads": _head_table(runs), "map": _head_table(runs)},
        run_table(workspace, state, listed, tints, refused + _notes(runs)),
    )


def _read(workspace: Workspace, names: tuple[str, ...]) -> tuple[dict[str, RunCurves], list[str]]:
    """Runs as far as they were trained, and why some have no curves."""
    runs, refused = {}, []
    for name in names:
        try:
            runs[name] = workspace.run_curves(name)
        except RequestError as error:
            refused.append(str(error))
    return runs, refused


def _notes(runs: dict[str, RunCurves]) -> list[str]:
    """Which of the runs are of a task or model that is not known here."""
    notes = {name: note(run.settings) for name, run in runs.items()}
    return [f"Run {name[:8]}: {text[0].lower()}{text[1:]}" for name, text in notes.items() if text]


def _curves(runs: dict[str, RunCurves], tints: dict[str, str], state: RunsState, colours: Palette) -> Figure:
    curves = {name: _chosen(run, state.curve) for name, run in runs.items()}
    having = {name: x for name, x in curves.items() if x is not None}
    if not having:
        return figures.nothing(colours, f"no run that is drawn has a {_CURVES[state.curve]}")
    traces = [
        figures.line(steps, smoothed(values, state.smooth), tints[name], name[:8])
        for name, (_, steps, values) in having.items()
    ]
    labels = dict.fromkeys(label for label, _, _ in having.values())
    named = ", ".join(labels) + ("" if state.smooth == 1 else f", mean of {state.smooth}")
    up = figures.log_axis if state.scale == "log" else figures.axis
    axes = {"xaxis": figures.axis(colours, "step", rangemode="tozero"), "yaxis": up(colours, named)}
    return figures.figure(colours, traces, axes)


def _chosen(run: RunCurves, curve: str) -> tuple[str, NDArray[np.int64], NDArray[np.floating]] | None:
    """Label, steps and values of a curve; of an observed run without it, those of the curve that it names; None if it has none."""
    if curve in run.curves:
        return _CURVES[curve], run.steps, run.curves[curve]
    rule = criterion(run.settings)
    try:
        return None if rule is None else (rule.curve.replace("_", " "), *rule.series(run.steps, run.curves))
    except RequestError:
        return None


def smoothed(values: NDArray[np.floating], count: int) -> NDArray[np.floating]:
    """The mean of each value and its neighbours; fewer of them at the ends."""
    if count == 1:
        return values
    window = np.ones(count)
    finite = np.nan_to_num(np.asarray(values, np.float64))
    return np.convolve(finite, window, "same") / np.convolve(np.ones(finite.size), window, "same")


def _heads(runs: dict[str, RunCurves], state: RunsState, colours: Palette) -> Figure:
    """Attention to relevant positions over the run, one row per layer and head, of the run picked last."""
    if not runs:
        return figures.nothing(colours, "no run to show")
    name, run = list(runs.items())[-1]
    attention = run.heads
    _, layers, heads = attention.shape
    if not heads:
        return figures.nothing(colours, f"attention of run {name[:8]} was not measured")
    ground = _heat(attention.reshape(len(run.steps), -1).T, colours)
    ground |= {
        "x": run.steps.tolist(),
        "y": [f"layer {i + 1}, head {j + 1}" for i in range(layers) for j in range(heads)],
    }
    axes = {
        "xaxis": figures.axis(colours, f"step of run {name[:8]}", showgrid=False),
        "yaxis": figures.axis(colours, "", autorange="reversed", showgrid=False),
    }
    mark = figures.vertical(float(run.steps[_at(run, state)]), colours.paper, dash="solid")
    return figures.figure(colours, [ground], axes, shapes=[mark], legend=False)


def _map(runs: dict[str, RunCurves], state: RunsState, colours: Palette) -> Figure:
    """The same at one step: layers down, heads across."""
    if not runs:
        return figures.nothing(colours, "no run to show")
    run = list(runs.values())[-1]
    at = _at(run, state)
    values = run.heads[at]
    if not values.size:
        return figures.nothing(colours, "attention was not measured")
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


def _at(run: RunCurves, state: RunsState) -> int:
    return round((len(run.steps) - 1) * state.share / 100)


def _curve_table(runs: dict[str, RunCurves]) -> Columns:
    """Scores of all drawn runs below each other; empty where a run has none."""
    if not runs:
        return {"run": np.array([], np.str_)}
    scores = [x for x in _CURVES if any(x in run.curves for run in runs.values())]
    empty = {name: np.full(run.steps.size, np.nan) for name, run in runs.items()}
    return {
        "run": np.repeat(list(runs), [run.steps.size for run in runs.values()]),
        "step": np.concatenate([run.steps for run in runs.values()]),
        **{x: np.concatenate([run.curves.get(x, empty[name]) for name, run in runs.items()]) for x in scores},
    }


def _head_table(runs: dict[str, RunCurves]) -> Columns:
    if not runs:
        return {"step": np.array([], np.int64)}
    run = list(runs.values())[-1]
    attention = run.heads
    places = np.ndindex(attention.shape[1:])
    return {"step": run.steps} | {f"layer{i + 1}_head{j + 1}": attention[:, i, j] for i, j in places}


def _empty(workspace: Workspace, colours: Palette) -> Drawing:
    nothing = figures.nothing(colours, "no runs yet")
    lab = workspace.lab.path
    text = [
        commands(
            f"The lab {str(lab)!r} has no runs yet. Train one, or start a sweep; this page shows them as they grow.",
            f"daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --lab {lab}",
            f"daybreak sweep examples/small.toml --lab {lab}",
        )
    ]
    return Drawing({"curves": nothing, "heads": nothing, "map": nothing}, {}, text)


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
        now = address.read(RunsState, kept)
        after = pressed(now, str(button["what"]), str(button["which"]))
        return after.sort, after.page, list(after.runs)


VIEW = View(
    name="runs",
    title="Runs",
    about="The runs of the lab. Pick some to see their curves. New runs of a sweep appear without reloading.",
    state=RunsState,
    controls={
        "where": Text("Only runs with", "T >= 64 and outcome = 'emerged'"),
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
    text_place="above",
    live=True,
    extras=(dcc.Store(id="runs-pressed"),),
    wire=_buttons,
)
