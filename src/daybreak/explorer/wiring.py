"""From a view to components and callbacks: controls give a state, the state gives a drawing, the address keeps it."""

from collections.abc import Mapping
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from daybreak.errors import RequestError
from daybreak.explorer import address
from daybreak.explorer.controls import Slider
from daybreak.explorer.desk import Desk
from daybreak.explorer.figures import BLANK, palette
from daybreak.explorer.parts import attributes
from daybreak.explorer.view import Drawing, View

_EVERY = 1500  # milliseconds between two looks at a lab that grows


def layout(view: View, desk: Desk, state: Any) -> Component:
    """The components of a view at a state; pictures and words are filled in by its drawing."""
    controls = [
        control.component(f"{view.name}-{name}", getattr(state, name)) for name, control in view.controls.items()
    ]
    said = html.Div(id=f"{view.name}-said", className=f"said {view.said}", **attributes(aria_live="polite"))
    beside, above = ([said], []) if view.said == "beside" else ([], [said])
    panels = [_panel(view, name, title) for name, title in view.panels.items()]
    return html.Main(
        [
            html.Aside([html.H1(view.title), html.P(view.about, className="about"), *controls, *view.extras, *beside]),
            html.Div(
                [
                    html.P(id=f"{view.name}-notice", className="notice", role="alert"),
                    *above,
                    html.Div(panels, className="panels"),
                ],
                className="stage",
            ),
            dcc.Store(id=f"{view.name}-kept"),
            *(_following(view, desk) if view.live else []),
        ],
        className=f"view {view.name}",
    )


def _following(view: View, desk: Desk) -> list[Component]:
    """A clock, and what the lab was when it last struck."""
    return [
        dcc.Interval(id=f"{view.name}-tick", interval=_EVERY),
        dcc.Store(id=f"{view.name}-stamp", data=desk.stamp()),
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


def wire(app: Dash, view: View, desk: Desk) -> None:
    """Draw a view whenever a control moves, the theme changes or, if it is live, the lab has grown; keep its address."""
    sliders = {name: control for name, control in view.controls.items() if isinstance(control, Slider)}
    outputs = [
        Output(f"{view.name}-kept", "data"),
        Output(f"{view.name}-notice", "children"),
        Output(f"{view.name}-said", "children"),
        [Output(f"{view.name}-{name}", "figure") for name in view.panels],
        [Output(f"{view.name}-{name}-reads", "children") for name in sliders],
        [Output(f"{view.name}-{name}", prop) for name, prop in view.moved],
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
        try:
            state = view.state(**given)
            drawing = view.draw(desk, state, palette(theme))
        except (RequestError, ArithmeticError) as error:
            return _failed(view, sliders, str(error))
        return _done(view, sliders, drawing.state or state, drawing)

    if view.live:
        _follow(app, view, desk)
    app.clientside_callback(
        ClientsideFunction("explorer", "keep"),
        [Output(f"nav-{view.name}", "href"), *(Output(f"{view.name}-{name}-csv", "href") for name in view.panels)],
        Input(f"{view.name}-kept", "data"),
        prevent_initial_call=True,
    )


def _follow(app: Dash, view: View, desk: Desk) -> None:
    """Look whether the lab has grown. Apart from drawing, which a clock that strikes again would call off."""

    @app.callback(
        Output(f"{view.name}-stamp", "data"),
        Input(f"{view.name}-tick", "n_intervals"),
        State(f"{view.name}-stamp", "data"),
        prevent_initial_call=True,
    )
    def _look(_: int | None, seen: str) -> str:
        now = desk.stamp()
        if now == seen:
            raise PreventUpdate
        return now


def _done(view: View, sliders: Mapping[str, Slider], state: Any, drawing: Drawing) -> list[Any]:
    reads = [slider.form.format(getattr(state, name)) for name, slider in sliders.items()]
    return [
        f"/{view.name}{address.write(state)}",
        "",
        drawing.said,
        [drawing.figures[name] for name in view.panels],
        reads,
        [drawing.moved.get(key, no_update) for key in view.moved],
    ]


def _failed(view: View, sliders: Mapping[str, Slider], sentence: str) -> list[Any]:
    """The last good picture stays, and the sentence says why it is the last."""
    return [
        no_update,
        sentence,
        no_update,
        [no_update] * len(view.panels),
        [no_update] * len(sliders),
        [no_update] * len(view.moved),
    ]
