"""Words and numbers on the page: facts, tables, and what to do next."""

from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component


def attributes(**named: str) -> dict[str, Any]:
    """Attributes that Python has no name for: `aria_label` is `aria-label`."""
    return {name.replace("_", "-"): value for name, value in named.items()}


def facts(rows: Sequence[tuple[Any, ...]]) -> Component:
    """Facts, one per line: a name, a value, and perhaps a remark below."""
    lines = []
    for name, value, *remarks in rows:
        lines += [html.Dt(name), html.Dd(value), *(html.Dd(x, className="remark") for x in remarks if x)]
    return html.Dl(lines, className="facts")


def number(x: float) -> str:
    """A number as text: whole from a hundred on, otherwise three digits."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def table(heads: Sequence[Any], rows: Sequence[Sequence[Any]], caption: str) -> Component:
    """A table that scrolls by itself where it is too wide."""
    head = html.Thead(html.Tr([html.Th(x, scope="col") for x in heads]))
    body = html.Tbody([html.Tr([html.Td(x) for x in row]) for row in rows])
    inside = html.Table([html.Caption(caption), head, body])
    return html.Div(inside, className="table", tabIndex=0, role="region", **attributes(aria_label=caption))


def commands(sentence: str, *lines: str) -> Component:
    """What to do next, to type."""
    return html.Div([html.P(sentence), html.Pre("\n".join(lines))], className="next")


def two_lines(first: str, second: str) -> Component:
    """An option of a menu: what it is, and details below."""
    return html.Span([html.Span(first), html.Small(second)], className="two-lines")
