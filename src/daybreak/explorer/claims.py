"""Claims: the scoreboard of both papers, as `daybreak reproduce` wrote it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from dash import html

from daybreak.explorer import address
from daybreak.explorer.controls import Choice, Text
from daybreak.explorer.figures import Palette
from daybreak.explorer.parts import attributes, commands
from daybreak.explorer.view import Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.studies import STUDIES
from daybreak.studies.results import StudyResult

_PAPERS = {"emergence": "A, emergence", "incremental": "B, incremental"}
_VERDICTS = ("holds", "fails", "undecided", "outside")
_CATALOGUE = {study.name: i for i, study in enumerate(STUDIES)}
_FIELDS = ("id", "sentence", "paper", "ours", "verdict", "note")


@final
@dataclass(frozen=True)
class ClaimsState:
    """Which claims are shown."""

    paper: Literal["both", "emergence", "incremental"] = "both"
    verdict: Literal["all", "holds", "fails", "undecided", "outside"] = "all"
    words: str = ""


class _Claim(NamedTuple):
    study: StudyResult
    text: dict[str, str]  # its fields


def _selected(workspace: Workspace, state: ClaimsState) -> list[_Claim]:
    claims = [
        _Claim(study, {name: str(claim.get(name, "")) for name in _FIELDS})
        for study in sorted(workspace.studies().values(), key=_order)
        for claim in study.document["claims"]
    ]
    return [
        claim
        for claim in claims
        if state.paper in ("both", claim.study.place.split("/")[0])
        and state.verdict in ("all", claim.text["verdict"])
        and state.words.lower() in " ".join(claim.text.values()).lower()
    ]


def _order(study: StudyResult) -> tuple[Any, ...]:
    """As in the papers; what is not in the catalogue comes last."""
    paper, figure, scale = study.place.split("/")
    return paper, _CATALOGUE.get(figure, len(_CATALOGUE)), figure, scale


def _draw(workspace: Workspace, state: ClaimsState, colours: Palette) -> Drawing:
    if not workspace.studies():
        return Drawing(
            text=commands(
                f"The folder {str(workspace.results)!r} has no results. Reproduce some figures, half a minute in all:",
                f"daybreak reproduce fig1c fig2-left b-fig10 --out {workspace.results}",
            )
        )
    claims = _selected(workspace, state)
    columns = {name: np.array([claim.text[name] for claim in claims], np.str_) for name in _FIELDS}
    columns["study"] = np.array([claim.study.place for claim in claims], np.str_)
    return Drawing(tables={"claims": columns}, text=_scoreboard(claims, state))


def _scoreboard(claims: list[_Claim], state: ClaimsState) -> list[Any]:
    counts = Counter(claim.text["verdict"] for claim in claims)
    score = [html.Span(f"{counts[x]} {x.removesuffix('s')}", className=f"verdict {x}") for x in _VERDICTS if counts[x]]
    link = html.A("CSV", href=f"/data/claims/claims.csv{address.write(state)}", download="", className="quiet")
    heads = html.Thead(
        html.Tr([html.Th(x, scope="col") for x in ("verdict", "claim", "paper", "ours, with interval", "figure")])
    )
    rows = html.Tbody([_row(claim) for claim in claims])
    table = html.Div(html.Table([heads, rows]), className="table claims", tabIndex=0, role="region")
    return [html.Div([*score, link], className="bar"), table if claims else html.P("No claim matches.")]


def _row(claim: _Claim) -> Any:
    study, text = claim
    _, figure, scale = study.place.split("/")
    note = [html.Details([html.Summary("how the verdict was reached"), html.P(text["note"])])] if text["note"] else []
    picture: list[Any] = [html.Span(f"{figure}, {scale}")]
    if study.picture is not None:
        address_ = f"/figure/{study.place}.png"
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
    about="Claims of the two papers, what Daybreak measured, and whether each claim holds.",
    state=ClaimsState,
    controls={
        "paper": Choice("Paper", {"both": "both", **_PAPERS}),
        "verdict": Choice("Verdict", {"all": "all", **{x: x for x in _VERDICTS}}),
        "words": Text("Containing the words", "repetition"),
    },
    panels={},
    draw=_draw,
    text_place="above",
)
