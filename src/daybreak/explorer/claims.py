"""Claims: the scoreboard of both papers, as `daybreak reproduce` wrote it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from dash import html
from dash.development.base_component import Component

from daybreak.explorer import address
from daybreak.explorer.controls import Choice, Text
from daybreak.explorer.figures import Palette
from daybreak.explorer.parts import attributes, commands
from daybreak.explorer.view import Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.studies import STUDIES, VERDICTS
from daybreak.studies._study import Verdict
from daybreak.studies.results import StudyResult, shipped

_PAPERS = {"emergence": "A, emergence", "incremental": "B, incremental", "language": "our own, language"}
_UNFOLDED = 15  # claims that are shown at once; figures of more are folded up
_CATALOGUE = {study.name: i for i, study in enumerate(STUDIES)}
_FIELDS = ("id", "sentence", "paper", "ours", "verdict", "note")


@final
@dataclass(frozen=True)
class ClaimsState:
    """Which claims are shown."""

    paper: Literal["all", "emergence", "incremental", "language"] = "all"
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
        if state.paper in ("all", claim.study.place.split("/")[0])
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
    where = "come with Daybreak" if workspace.results == shipped() else f"are in {workspace.results}"
    return Drawing(tables={"claims": columns}, text=[*_scoreboard(claims, state), html.P(f"These results {where}.")])


def _scoreboard(claims: list[_Claim], state: ClaimsState) -> list[Any]:
    """Counts, an index of figures, and the claims of each figure, folded up if there are many."""
    groups: dict[str, list[_Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.study.place, []).append(claim)
    link = html.A("CSV", href=f"/data/claims/claims.csv{address.write(state)}", download="", className="quiet")
    folds = [
        html.Button(label, type="button", className="quiet", **attributes(data_fold=way))
        for way, label in (("open", "open all"), ("close", "close all"))
    ]
    bar = html.Div([*_counts(claims), *folds, link], className="bar")
    if not claims:
        return [bar, html.P("No claim matches.")]
    unfolded = len(claims) <= _UNFOLDED
    return [bar, _index(groups), *(_group(place, some, unfolded) for place, some in groups.items())]


def _counts(claims: list[_Claim], *, short: bool = False) -> list[Component]:
    """How many claims have each verdict; in short, as signs."""
    counts = Counter(map(_verdict, claims))
    return [
        html.Span(
            f"{counts[x]}" if short else f"{counts[x]} {x.removesuffix('s')}",
            className=f"verdict {x}",
            title=VERDICTS[x],
        )
        for x in VERDICTS
        if counts[x]
    ]


def _verdict(claim: _Claim) -> Verdict:
    found: list[Verdict] = [x for x in VERDICTS if x == claim.text["verdict"]]
    return found[0] if found else "undecided"


def _index(groups: dict[str, list[_Claim]]) -> Component:
    """Figures of each paper with the verdicts on their claims; a press shows a figure."""
    parts = []
    for paper, label in _PAPERS.items():
        lines = [
            html.Li(
                html.Button(
                    [html.Span(_figure(place)), html.Span(_counts(some, short=True), className="counts")],
                    type="button",
                    title=str(some[0].study.document["title"]),
                    **attributes(data_show=_anchor(place)),
                )
            )
            for place, some in groups.items()
            if place.startswith(f"{paper}/")
        ]
        if lines:
            parts += [html.H2(f"Paper {label}"), html.Ul(lines)]
    return html.Nav(parts, className="index", **attributes(aria_label="Figures"))


def _figure(place: str) -> str:
    """The name of a figure, with its scale if that is not the usual one."""
    _, figure, scale = place.split("/")
    return figure if scale == "laptop" else f"{figure}, {scale}"


def _anchor(place: str) -> str:
    return f"claims-of-{place.replace('/', '-')}"


def _group(place: str, claims: list[_Claim], unfolded: bool) -> Component:
    """The claims of a figure, with the figure once."""
    study = claims[0].study
    head = [html.Strong(_figure(place)), html.Span(str(study.document["title"])), *_counts(claims, short=True)]
    picture = []
    if study.picture is not None:
        source = f"/figure/{place}.png"
        image = html.Img(src=source, alt=f"{_figure(place)}: {study.document['title']}")
        picture = [html.A(image, href=source, target="_blank", className="picture")]
    heads = html.Thead(html.Tr([html.Th(x, scope="col") for x in ("verdict", "claim", "paper", "ours, with interval")]))
    table = html.Table([heads, html.Tbody([_row(claim) for claim in claims])])
    region = html.Div(table, className="table", tabIndex=0, role="region", **attributes(aria_label=_figure(place)))
    return html.Details(
        [html.Summary(head), html.Div([*picture, region])],
        id=_anchor(place),
        key=place,
        open=unfolded,
        className="group",
    )


def _row(claim: _Claim) -> Component:
    text, verdict = claim.text, _verdict(claim)
    note = [html.Details([html.Summary("how the verdict was reached"), html.P(text["note"])])] if text["note"] else []
    return html.Tr(
        [
            html.Td(html.Span(verdict, className=f"verdict {verdict}", title=VERDICTS[verdict])),
            html.Td([html.Strong(text["id"]), html.P(text["sentence"]), *note]),
            html.Td(text["paper"], **attributes(data_label="paper")),
            html.Td(text["ours"], **attributes(data_label="ours")),
        ]
    )


VIEW = View(
    name="claims",
    title="Claims",
    about="Claims of the two papers, what Daybreak measured, and whether each claim holds.",
    state=ClaimsState,
    controls={
        "paper": Choice("Paper", {"all": "all", **_PAPERS}),
        "verdict": Choice("Verdict", {"all": "all", **{x: x for x in VERDICTS}}),
        "words": Text("Containing the words", "repetition"),
    },
    panels={},
    draw=_draw,
    text_place="above",
)
