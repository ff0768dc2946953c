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
from daybreak.explorer.desk import Desk
from daybreak.explorer.parts import attributes
from daybreak.explorer.server import guard
from daybreak.explorer.view import View
from daybreak.explorer.wiring import layout, wire

VIEWS: dict[str, View] = {
    view.name: view for view in (theory.VIEW, staircase.VIEW, laws.VIEW, runs.VIEW, forecast.VIEW, claims.VIEW)
}
_FIRST = theory.VIEW
_log = logging.getLogger("daybreak.explorer")


def explorer(desk: Desk, host: str = "127.0.0.1") -> Dash:
    """The explorer as a WSGI application.

    Args:
        desk: what it looks at.
        host: the name or address that it will be asked for, besides this machine's own.
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
    _navigate(app, desk)
    _downloads(app, desk)
    for view in VIEWS.values():
        wire(app, view, desk)
        if view.wire is not None:
            view.wire(app)
    return app


def _fail(error: Exception) -> None:
    """What nobody foresaw is said on the page, and in the log where it happened."""
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
            html.A("To the controls", href="#page", className="skip"),
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="theme"),
            dcc.Store(id="here"),
            header,
            html.P(id="failure", className="notice", role="alert"),
            html.Div(id="page"),
        ]
    )


def _navigate(app: Dash, desk: Desk) -> None:
    """The page is what the address says."""

    @app.callback(Output("page", "children"), Input("address", "href"))
    def _page(href: str | None) -> Any:
        if href is None:  # the browser has not said yet where it is
            raise PreventUpdate
        here = urlsplit(href)
        name = here.path.strip("/")
        view = VIEWS.get(name or _FIRST.name)
        if view is None:
            return html.Main(_refusal(f"There is no view {name!r}: choose one above."))
        try:
            return layout(view, desk, address.read(view.state, here.query))
        except RequestError as error:
            return [_refusal(f"Of the address nothing could be shown: {error}"), layout(view, desk, view.state())]

    mark, theme = (ClientsideFunction("explorer", name) for name in ("mark", "theme"))
    app.clientside_callback(mark, Output("here", "data"), Input("address", "pathname"))
    app.clientside_callback(theme, Output("theme", "data"), Input("theme-switch", "n_clicks"))


def _refusal(sentence: str) -> Component:
    return html.P(sentence, className="notice", role="alert")


def _downloads(app: Dash, desk: Desk) -> None:
    """What is seen as a table: the address of a view, and the panel's name, name its data."""

    @app.server.get("/data/<view>/<panel>.csv")
    def _data(view: str, panel: str) -> Response:
        found = VIEWS.get(view)
        if found is None:
            abort(404)
        try:
            state = address.read(found.state, request.query_string.decode(errors="replace"))
            tables = found.draw(desk, state, figures.LIGHT).tables
        except (RequestError, ArithmeticError) as error:
            return Response(f"{error}\n", 400, mimetype="text/plain")
        if panel not in tables:
            abort(404)
        content = io.BytesIO()
        csv.write_csv(pa.table(dict(tables[panel])), content)
        named = {"Content-Disposition": f'attachment; filename="daybreak-{found.name}-{panel}.csv"'}
        return Response(content.getvalue(), mimetype="text/csv", headers=named)

    @app.server.get("/figure/<path:study>.png")
    def _figure(study: str) -> Response:
        found = desk.studies().get(study)  # looked up among those that are there; no path is made of it
        if found is None or found.picture is None:
            abort(404)
        return send_file(found.picture.resolve(), mimetype="image/png")
