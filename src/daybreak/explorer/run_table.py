"""The runs of a lab as a table with buttons, and what is to be said of them besides."""

from typing import Any

from dash import dcc, html

from daybreak.errors import RequestError
from daybreak.explorer import address
from daybreak.explorer.desk import Desk
from daybreak.explorer.listing import Listing
from daybreak.explorer.parts import attributes
from daybreak.explorer.selection import Selection


def run_table(desk: Desk, chosen: Selection, listed: Listing, tints: dict[str, str], refused: list[str]) -> list[Any]:
    """A page of runs, those drawn in the colour of their curve; what could not be drawn, what failed, what is damaged."""
    parts: list[Any] = [
        html.Div(
            [
                html.Span(listed.counts, className="counts"),
                *_turning(chosen, listed),
                html.A("CSV", href=f"/data/runs/runs.csv{address.write(chosen)}", download="", className="quiet"),
            ],
            className="bar",
        ),
        _table(chosen, listed, tints),
    ]
    if listed.shared:
        parts.append(html.Details([html.Summary("What all of them share"), html.P(listed.shared)]))
    parts += [html.P(x, className="notice") for x in refused]
    parts += [_failure(desk, name) for name in chosen.runs]
    if damaged := desk.damaged():
        lines = [html.Li([html.Strong(x.folder.name), html.Span(f" is damaged: {x.why.strip()}")]) for x in damaged]
        parts.append(html.Div([html.H2("Damaged and set aside"), html.Ul(lines)], className="damaged"))
    return parts


def _turning(chosen: Selection, listed: Listing) -> list[Any]:
    """Buttons that turn pages, where there is more than one."""
    if listed.pages == 1:
        return []
    ends = {"back": listed.page <= 1, "on": listed.page >= listed.pages}
    back, on = (
        html.Button(label, **_press("turn", way), disabled=ends[way], type="button", className="quiet")
        for way, label in (("back", "← back"), ("on", "on →"))
    )
    return [back, html.Span(f"page {listed.page} of {listed.pages}"), on]


def _table(chosen: Selection, listed: Listing, tints: dict[str, str]) -> Any:
    """Buttons in the head sort, those in the first column pick."""
    signs = {listed.sorted_by: " ↓" if chosen.sort.startswith("-") else " ↑"}
    head = [
        html.Th(
            html.Button(f"{label}{signs.get(name, '')}", type="button", **_press("sort", name)),
            scope="col",
        )
        for name, label in listed.heads.items()
    ]
    body = []
    for row, cells in zip(listed.rows, listed.cells, strict=True):
        name = row["id"]
        picked = name in chosen.runs
        style = {"--tint": tints[name]} if name in tints else None
        button = html.Button(
            cells[0],
            type="button",
            className="pick drawn" if name in tints else "pick",
            style=style,
            **_press("pick", name),
            **attributes(aria_pressed="true" if picked else "false"),
        )
        outcome = html.Td(cells[1], className=f"outcome {cells[1]}")
        body.append(html.Tr([html.Td(button), outcome, *map(html.Td, cells[2:])]))
    inside = html.Table([html.Thead(html.Tr(head)), html.Tbody(body)])
    return html.Div(inside, className="table", tabIndex=0, role="region", **attributes(aria_label="Runs of the lab"))


def _failure(desk: Desk, name: str) -> Any:
    """What a picked run has to say besides its curves: its traceback if it failed, and the way to its forecast."""
    try:
        traceback = desk.saved(name).document.get("traceback")
    except RequestError:
        traceback = None
    if traceback is not None:
        return html.Details([html.Summary(f"Why {name[:8]} failed"), html.Pre(traceback)], open=True)
    return html.P(dcc.Link(f"Forecast of {name[:8]}", href=f"/forecast?run={name}"), className="next")


def _press(what: str, which: str) -> dict[str, Any]:
    """What makes a button of the table one: the page tells the server which was pressed."""
    return attributes(data_press="runs-pressed", data_what=what, data_which=which)
