"""The page around the views: header, navigation, the view that the address names; and downloads of data."""

import io
import logging
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from dash import ClientsideFunction, Dash, Input, Output, dcc, html, set_props
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate
from flask import Response, abort, request, send_file
from pyarrow import csv

from daybreak.errors import RequestError
from daybreak.explorer import address, claims, figures, forecast, laws, runs, staircase, theory
from daybreak.explorer.parts import attributes
from daybreak.explorer.server import guard
from daybreak.explorer.view import View
from daybreak.explorer.wiring import layout, wire
from daybreak.explorer.workspace import Workspace

VIEWS: dict[str, View] = {
    view.name: view for view in (theory.VIEW, staircase.VIEW, laws.VIEW, runs.VIEW, forecast.VIEW, claims.VIEW)
}
_FIRST = theory.VIEW
_log = logging.getLogger("daybreak.explorer")


def explorer(workspace: Workspace, host: str = "127.0.0.1") -> Dash:
    """The explorer as a WSGI application.

    Args:
        workspace: the lab and the results to show.
        host: the name or address at which it is served, besides this machine's own.
    """
    app = Dash(
        __name__,
        title="Daybreak",
        update_title="",
        serve_locally=True,
        suppress_callback_exceptions=True,
        add_log_handler=False,
        on_error=_fail,
    )
    app.layout = _shell()
    guard(app, host)
    _navigate(app, workspace)
    _downloads(app, workspace)
    for view in VIEWS.values():
        wire(app, view, workspace)
        if view.wire is not None:
            view.wire(app)
    return app


def _fail(error: Exception) -> None:
    """Show an unexpected error on the page, and write its traceback to the log."""
    _log.error("a callback failed", exc_info=error)
    set_props("failure", {"children": f"Something went wrong: {type(error).__name__}: {error}"})


def _shell() -> Component:
    """What every view has around it."""
    links = [dcc.Link(view.title, href=f"/{view.name}", id=f"nav-{view.name}") for view in VIEWS.values()]
    header = html.Header(
        [
            html.A("Daybreak", href="/", className="brand"),
            html.Nav(links, **attributes(aria_label="Views")),
            html.Button("◐ Theme", id="theme-switch", className="quiet", type="button", title="Dark or light"),
        ]
    )
    return html.Div(
        [
            html.A("Skip to the controls", href="#page", className="skip"),
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="theme"),
            dcc.Store(id="current-view"),
            header,
            html.P(id="failure", className="notice", role="alert"),
            html.Div(id="page"),
        ]
    )


def _navigate(app: Dash, workspace: Workspace) -> None:
    """Show the view that the address names."""

    @app.callback(Output("page", "children"), Input("address", "href"))
    def _page(href: str | None) -> Any:
        if href is None:  # the browser has not sent its address yet
            raise PreventUpdate
        parts = urlsplit(href)
        name = parts.path.strip("/")
        view = VIEWS.get(name or _FIRST.name)
        if view is None:
            return html.Main(_refusal(f"There is no view {name!r}: choose one above."))
        try:
            return layout(view, workspace, address.read(view.state, f"?{parts.query}"))
        except RequestError as error:
            return [_refusal(f"The address cannot be shown: {error}"), layout(view, workspace, view.state())]

    mark, theme = (ClientsideFunction("explorer", name) for name in ("mark", "theme"))
    app.clientside_callback(mark, Output("current-view", "data"), Input("address", "pathname"))
    app.clientside_callback(theme, Output("theme", "data"), Input("theme-switch", "n_clicks"))


def _refusal(sentence: str) -> Component:
    return html.P(sentence, className="notice", role="alert")


def _downloads(app: Dash, workspace: Workspace) -> None:
    """Data as CSV files, named by the address of a view and a panel; and figures of results."""

    @app.server.get("/data/<view>/<panel>.csv")
    def _data(view: str, panel: str) -> Response:
        chosen = VIEWS.get(view)
        if chosen is None:
            abort(404)
        try:
            state = address.read(chosen.state, f"?{request.query_string.decode(errors='replace')}")
            drawing = chosen.draw(workspace, state, figures.LIGHT)
            if drawing.problem:
                raise RequestError(drawing.problem)
        except (RequestError, ArithmeticError) as error:
            return Response(f"{error}\n", 400, mimetype="text/plain")
        if panel not in drawing.tables:
            abort(404)
        content = io.BytesIO()
        csv.write_csv(pa.table(dict(drawing.tables[panel])), content)
        named = {"Content-Disposition": f'attachment; filename="daybreak-{chosen.name}-{panel}.csv"'}
        return Response(content.getvalue(), mimetype="text/csv", headers=named)

    @app.server.get("/figure/<path:study>.png")
    def _figure(study: str) -> Response:
        result = workspace.studies().get(study)  # looked up among those that exist; no path is made of the text
        if result is None or result.picture is None:
            abort(404)
        return send_file(result.picture.resolve(), mimetype="image/png")
