"""The runs of a lab as a table with buttons, and messages about them."""

from typing import Any

from dash import dcc, html

from daybreak.errors import RequestError
from daybreak.explorer import address
from daybreak.explorer.listing import RunPage
from daybreak.explorer.parts import attributes
from daybreak.explorer.runs_state import RunsState
from daybreak.explorer.workspace import Workspace


def run_table(
    workspace: Workspace, state: RunsState, listed: RunPage, tints: dict[str, str], notes: list[str]
) -> list[Any]:
    """A page of runs, those drawn in the colour of their curve; then notes about them, what failed, what is damaged.

    Args:
        workspace: whose runs these are.
        state: of the view.
        listed: the page.
        tints: colours of the runs that are drawn.
        notes: sentences about them: why one is not drawn, or what it is.
    """
    parts: list[Any] = [
        html.Div(
            [
                html.Span(listed.summary, className="counts"),
                *_turning(state, listed),
                html.A("CSV", href=f"/data/runs/runs.csv{address.write(state)}", download="", className="quiet"),
            ],
            className="bar",
        ),
        _table(state, listed, tints),
    ]
    if listed.shared:
        parts.append(html.Details([html.Summary("Settings that all of them share"), html.P(listed.shared)]))
    parts += [html.P(x, className="notice") for x in notes]
    parts += [_failure(workspace, name) for name in state.runs]
    if damaged := workspace.damaged():
        lines = [html.Li([html.Strong(x.folder.name), html.Span(f": {x.why.strip()}")]) for x in damaged]
        parts.append(html.Div([html.H2("Damaged, and left out"), html.Ul(lines)], className="damaged"))
    return parts


def _turning(state: RunsState, listed: RunPage) -> list[Any]:
    """Buttons that turn pages, where there is more than one."""
    if listed.pages == 1:
        return []
    ends = {"back": listed.number <= 1, "on": listed.number >= listed.pages}
    back, on = (
        html.Button(label, **_press("turn", way), disabled=ends[way], type="button", className="quiet")
        for way, label in (("back", "← previous"), ("on", "next →"))
    )
    return [back, html.Span(f"page {listed.number} of {listed.pages}"), on]


def _table(state: RunsState, listed: RunPage, tints: dict[str, str]) -> Any:
    """Buttons in the head sort, those in the first column pick."""
    signs = {listed.sorted_by: " ↓" if state.sort.startswith("-") else " ↑"}
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
        picked = name in state.runs
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


def _failure(workspace: Workspace, name: str) -> Any:
    """Below the curves of a picked run: its traceback if it failed, otherwise a link to its forecast."""
    try:
        traceback = workspace.saved(name).document.get("traceback")
    except RequestError:
        traceback = None
    if traceback is not None:
        return html.Details([html.Summary(f"Why {name[:8]} failed"), html.Pre(traceback)], open=True)
    return html.P(dcc.Link(f"Forecast of {name[:8]}", href=f"/forecast?run={name}"), className="next")


def _press(what: str, which: str) -> dict[str, Any]:
    """Attributes of a button in the table: the page sends the server which was pressed."""
    return attributes(data_press="runs-pressed", data_what=what, data_which=which)
