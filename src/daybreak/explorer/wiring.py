"""From a view to components and callbacks: controls give a state, the state gives a drawing and an address."""

from collections.abc import Mapping
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update, set_props
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from daybreak.errors import RequestError
from daybreak.explorer import address, figures
from daybreak.explorer.controls import Slider
from daybreak.explorer.figures import BLANK, Palette, palette
from daybreak.explorer.parts import attributes
from daybreak.explorer.view import Drawing, View
from daybreak.explorer.workspace import Workspace

_EVERY = 1500  # milliseconds between two checks of a lab that grows


def layout(view: View, workspace: Workspace, state: Any) -> Component:
    """The components of a view at a state; pictures and words are filled in by its drawing."""
    controls = [
        control.component(f"{view.name}-{name}", getattr(state, name)) for name, control in view.controls.items()
    ]
    text = html.Div(id=f"{view.name}-text", className=f"text {view.text_place}", **attributes(aria_live="polite"))
    side, above = ([text], []) if view.text_place == "side" else ([], [text])
    panels = [_panel(view, name, title) for name, title in view.panels.items()]
    return html.Main(
        [
            html.Aside([html.H1(view.title), html.P(view.about, className="about"), *controls, *view.extras, *side]),
            html.Div(
                [
                    html.P(id=f"{view.name}-notice", className="notice", role="alert"),
                    *above,
                    html.Div(panels, className="panels"),
                ],
                className="stage",
            ),
            dcc.Store(id=f"{view.name}-kept"),
            *(_following(view, workspace) if view.live else []),
        ],
        className=f"view {view.name}",
    )


def _following(view: View, workspace: Workspace) -> list[Component]:
    """A timer, and the state of the lab when it last fired."""
    return [
        dcc.Interval(id=f"{view.name}-tick", interval=_EVERY),
        dcc.Store(id=f"{view.name}-stamp", data=workspace.stamp()),
    ]


def _panel(view: View, name: str, title: str) -> Component:
    """A picture with its title and its downloads."""
    full = f"{view.name}-{name}"
    picture = {"className": "quiet", "type": "button", **attributes(data_picture=full)}
    downloads = html.Span(
        [
            html.A("CSV", id=f"{full}-csv", href=f"/data/{view.name}/{name}.csv", download="", className="quiet"),
            html.Button("SVG", **picture, **attributes(data_format="svg")),
            html.Button("PNG", **picture, **attributes(data_format="png")),
        ],
        className="downloads",
        **attributes(aria_label=f"Download {title}"),
    )
    graph = dcc.Graph(id=full, figure=BLANK, config={"displayModeBar": False, "responsive": True}, responsive=True)
    return html.Figure(
        [html.Figcaption([html.Span(title), downloads]), graph],
        className=f"panel {name}",
        **attributes(aria_label=title),
    )


def wire(app: Dash, view: View, workspace: Workspace) -> None:
    """Draw a view whenever a control moves, the theme changes or, if it is live, the lab has grown; keep its address."""
    sliders = {name: control for name, control in view.controls.items() if isinstance(control, Slider)}
    outputs = [
        Output(f"{view.name}-kept", "data"),
        Output(f"{view.name}-notice", "children"),
        Output(f"{view.name}-text", "children"),
        [Output(f"{view.name}-{name}", "figure") for name in view.panels],
        [Output(f"{view.name}-{name}-reads", "children") for name in sliders],
        [Output(f"{view.name}-{name}", prop) for name, prop in view.updates],
    ]
    inputs = [Input(f"{view.name}-{name}", control.prop) for name, control in view.controls.items()]
    grown = [Input(f"{view.name}-stamp", "data")] if view.live else []

    @app.callback(output=outputs, inputs=[inputs, Input("theme", "data"), grown])
    def _draw(values: list[Any], theme: str | None, _: list[Any]) -> list[Any]:
        given = {
            name: control.value(x)
            for (name, control), x in zip(view.controls.items(), values, strict=True)
            if x is not None
        }
        if view.leading and ctx.triggered_id == f"{view.name}-{view.leading}":
            given = {name: x for name, x in given.items() if name == view.leading}
        try:
            state = view.state(**given)
            drawing = view.draw(workspace, state, palette(theme))
        except (RequestError, ArithmeticError) as error:
            return _failed(view, sliders, given, str(error), palette(theme))
        finally:
            set_props("failure", {"children": ""})  # what went wrong before is over
        return _done(view, sliders, drawing.state or state, drawing)

    if view.live:
        _follow(app, view, workspace)
    app.clientside_callback(
        ClientsideFunction("explorer", "keep"),
        [Output(f"nav-{view.name}", "href"), *(Output(f"{view.name}-{name}-csv", "href") for name in view.panels)],
        Input(f"{view.name}-kept", "data"),
        prevent_initial_call=True,
    )


def _follow(app: Dash, view: View, workspace: Workspace) -> None:
    """Look whether the lab has grown. Not in the callback that draws: the next tick of the timer would cancel that."""

    @app.callback(
        Output(f"{view.name}-stamp", "data"),
        Input(f"{view.name}-tick", "n_intervals"),
        State(f"{view.name}-stamp", "data"),
        prevent_initial_call=True,
    )
    def _look(_: int | None, before: str) -> str:
        now = workspace.stamp()
        if now == before:
            raise PreventUpdate
        return now


def _done(view: View, sliders: Mapping[str, Slider], state: Any, drawing: Drawing) -> list[Any]:
    reads = [slider.form.format(getattr(state, name)) for name, slider in sliders.items()]
    return [
        f"/{view.name}{address.write(state)}",
        drawing.problem,
        drawing.text,
        [drawing.figures[name] for name in view.panels],
        reads,
        [drawing.updates.get(key, no_update) for key in view.updates],
    ]


def _failed(
    view: View, sliders: Mapping[str, Slider], given: Mapping[str, Any], sentence: str, colours: Palette
) -> list[Any]:
    """A sentence states what is wrong; nothing of the last good drawing stays next to it, but its address does."""
    nothing = figures.nothing(colours, "nothing to draw")
    return [
        no_update,
        sentence,
        "",
        [nothing] * len(view.panels),
        [slider.form.format(given[name]) if name in given else no_update for name, slider in sliders.items()],
        [no_update] * len(view.updates),
    ]
