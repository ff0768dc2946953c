"""Claims: the scoreboard of both papers, as `daybreak reproduce` wrote it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from dash import html

from daybreak.explorer import address
from daybreak.explorer.controls import Choice, Text
from daybreak.explorer.desk import Desk, Study
from daybreak.explorer.figures import Palette
from daybreak.explorer.parts import attributes, commands
from daybreak.explorer.view import Drawing, View
from daybreak.studies import STUDIES

_PAPERS = {"emergence": "A, emergence", "incremental": "B, incremental"}
_VERDICTS = ("holds", "fails", "undecided")
_CATALOGUE = {study.name: i for i, study in enumerate(STUDIES)}
_FIELDS = ("id", "sentence", "paper", "ours", "verdict", "note")


@final
@dataclass(frozen=True)
class Asked:
    """Which claims are shown."""

    paper: Literal["both", "emergence", "incremental"] = "both"
    verdict: Literal["all", "holds", "fails", "undecided"] = "all"
    words: str = ""


class _Claim(NamedTuple):
    study: Study
    text: dict[str, str]  # its fields


def _found(desk: Desk, asked: Asked) -> list[_Claim]:
    claims = [
        _Claim(study, {name: str(claim.get(name, "")) for name in _FIELDS})
        for study in sorted(desk.studies().values(), key=_order)
        for claim in study.document["claims"]
    ]
    return [
        claim
        for claim in claims
        if asked.paper in ("both", claim.study.name.split("/")[0])
        and asked.verdict in ("all", claim.text["verdict"])
        and asked.words.lower() in " ".join(claim.text.values()).lower()
    ]


def _order(study: Study) -> tuple[Any, ...]:
    """As in the papers; what is not in the catalogue comes last."""
    paper, figure, scale = study.name.split("/")
    return paper, _CATALOGUE.get(figure, len(_CATALOGUE)), figure, scale


def _draw(desk: Desk, asked: Asked, colours: Palette) -> Drawing:
    if not desk.studies():
        return Drawing(
            said=commands(
                f"The folder {str(desk.results)!r} has no results. Reproduce some figures, half a minute in all:",
                f"daybreak reproduce fig1c fig2-left b-fig10 --out {desk.results}",
            )
        )
    found = _found(desk, asked)
    columns = {name: np.array([claim.text[name] for claim in found], np.str_) for name in _FIELDS}
    columns["study"] = np.array([claim.study.name for claim in found], np.str_)
    return Drawing(tables={"claims": columns}, said=_scoreboard(found, asked))


def _scoreboard(found: list[_Claim], asked: Asked) -> list[Any]:
    counts = Counter(claim.text["verdict"] for claim in found)
    score = [html.Span(f"{counts[x]} {x.removesuffix('s')}", className=f"verdict {x}") for x in _VERDICTS if counts[x]]
    link = html.A("CSV", href=f"/data/claims/claims.csv{address.write(asked)}", download="", className="quiet")
    heads = html.Thead(
        html.Tr([html.Th(x, scope="col") for x in ("verdict", "claim", "paper", "ours, with interval", "figure")])
    )
    rows = html.Tbody([_row(claim) for claim in found])
    table = html.Div(html.Table([heads, rows]), className="table claims", tabIndex=0, role="region")
    return [html.Div([*score, link], className="bar"), table if found else html.P("No claim is like this.")]


def _row(claim: _Claim) -> Any:
    study, text = claim
    _, figure, scale = study.name.split("/")
    note = [html.Details([html.Summary("how it was judged"), html.P(text["note"])])] if text["note"] else []
    picture: list[Any] = [html.Span(f"{figure}, {scale}")]
    if study.picture is not None:
        address_ = f"/figure/{study.name}.png"
        image = html.Img(src=address_, alt=f"{figure}: {study.document.get('title', '')}")
        picture.insert(0, html.A(image, href=address_, target="_blank"))
    verdict = text["verdict"] if text["verdict"] in _VERDICTS else "undecided"
    return html.Tr(
        [
            html.Td(html.Span(verdict, className=f"verdict {verdict}")),
            html.Td([html.Strong(text["id"]), html.P(text["sentence"]), *note]),
            html.Td(text["paper"], **attributes(data_label="paper")),
            html.Td(text["ours"], **attributes(data_label="ours")),
            html.Td(picture, className="picture"),
        ]
    )


VIEW = View(
    name="claims",
    title="Claims",
    about="What the two papers say, what came out here, and whether it holds.",
    state=Asked,
    controls={
        "paper": Choice("Paper", {"both": "both", **_PAPERS}),
        "verdict": Choice("Verdict", {"all": "all", **{x: x for x in _VERDICTS}}),
        "words": Text("With the words", "repetition"),
    },
    panels={},
    draw=_draw,
    said="above",
)
