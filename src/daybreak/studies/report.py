"""One page of all results in a folder: a scoreboard of claims, then each figure with its laws, verdicts and cost.

The page is one file: pictures are part of it. All text is escaped.
"""

import base64
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from daybreak.studies._study import VERDICTS, Verdict
from daybreak.studies.catalogue import STUDIES
from daybreak.studies.results import StudyResult, read_all

_SIGNS: dict[Verdict, str] = {"holds": "✓", "fails": "✗", "undecided": "?", "outside": "○"}
_PAPERS = {
    "emergence": "Paper A: Zucchet, D'Angelo, Lampinen, Chan (2025), The emergence of sparse attention, arXiv 2505.17863",
    "incremental": "Paper B: Yüksel, Alvarez Lucendo, Flammarion (2026), Incremental learning of sparse attention patterns in "
    "transformers, arXiv 2602.19143",
    "language": "Our own: induction heads in natural text",
}
_STYLE = """
:root { color-scheme: light dark; --line: #d0d0d0; --soft: #5a5a5a; --holds: #0072B2; --fails: #B34700;
  --outside: #7A3E8E; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --soft: #b0b0b0; --holds: #56B4E9; --fails: #E69F00;
  --outside: #D7A6E8; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
h3 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
img { max-width: 100%; background: #fff; border-radius: 6px; padding: .5rem; box-sizing: border-box; }
code { font-size: .9em; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .8rem; margin: .3rem 0 1rem; font-size: .9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: .9rem; }
.holds { color: var(--holds); } .fails { color: var(--fails); } .undecided { color: var(--soft); }
.outside { color: var(--outside); }
.verdict { font-weight: 600; white-space: nowrap; }
"""


def write_report(out: Path) -> Path:
    """Write `report.html` with all results under a folder; returns its path."""
    path, part = out / "report.html", out / ".report.part"
    part.write_text(page(read_all(out)), encoding="utf-8")
    part.replace(path)
    return path


def page(results: Iterable[StudyResult]) -> str:
    """The page as text."""
    results = list(results)
    claims = [claim for one in results for claim in one.document["claims"]]
    counts = Counter(str(claim["verdict"]) for claim in claims)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _SIGNS if counts[verdict])
    missing = ", ".join(study.name for study in STUDIES if study.name not in {one.name for one in results})
    papers = (
        text for paper, text in _PAPERS.items() if any(one.document["study"].startswith(paper) for one in results)
    )
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Daybreak: results</title>\n<style>{_STYLE}</style>",
            f"<h1>Results</h1>\n<p>{len(claims)} claims of {len(results)} figures: {total}.</p>",
            f'<p class="soft">Not in this folder: {missing}.</p>' if missing else "",
            *(f'<p class="soft">{escape(text)}</p>' for text in papers),
            "<h2>Claims</h2>",
            _facts({f'<span class="{x}">{_SIGNS[x]} {x}</span>': meaning for x, meaning in VERDICTS.items()}),
            "<table>\n<tr><th>verdict<th>claim<th>sentence<th>figure<th>scale",
            *(_row(one, claim) for one in results for claim in one.document["claims"]),
            "</table>\n<h2>Figures</h2>",
            *(_section(one) for one in results),
            "</html>\n",
        ]
    )


def _row(one: StudyResult, claim: dict[str, Any]) -> str:
    name, scale = escape(one.name, quote=True), escape(str(one.document["scale"]))
    cells = (escape(str(claim["id"])), escape(str(claim["sentence"])), f'<a href="#{name}">{name}</a>', scale)
    return f"<tr><td>{_verdict(claim)}" + "".join(f"<td>{cell}" for cell in cells)


def _section(one: StudyResult) -> str:
    document = one.document
    facts = {"run it": f"<code>{escape(str(document['command']))}</code>", "cost": escape(one.cost)}
    facts |= {
        f"law, {escape(str(name))}": f"<code>{escape(str(law['formula']))}</code> &nbsp; R² {law['r2']:.4f}, "
        f"{law['rows']} rows, {law['censored']} censored; 95 %: {escape(_intervals(law))}"
        for name, law in document["laws"].items()
    }
    return "\n".join(
        [
            f'<h3 id="{escape(one.name, quote=True)}">{escape(one.name)}: {escape(str(document["title"]))}</h3>',
            _picture(one),
            _facts(facts),
            *(_claim(claim) for claim in document["claims"]),
        ]
    )


def _claim(claim: dict[str, Any]) -> str:
    facts = {"paper": claim["paper"], "measured": claim["ours"], "note": claim["note"]}
    details = _facts({name: escape(str(text)) for name, text in facts.items()})
    return f"<p>{_verdict(claim)} <b>{escape(str(claim['id']))}</b> {escape(str(claim['sentence']))}</p>\n{details}"


def _facts(facts: dict[str, str]) -> str:
    return "<dl>" + "".join(f"<dt>{name}<dd>{text}" for name, text in facts.items() if text) + "</dl>"


def _verdict(claim: dict[str, Any]) -> str:
    verdict = claim["verdict"] if claim["verdict"] in _SIGNS else "undecided"
    return f'<span class="verdict {verdict}">{_SIGNS[verdict]} {verdict}</span>'


def _intervals(law: dict[str, Any]) -> str:
    return ", ".join(f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in law["intervals"].items())


def _picture(one: StudyResult) -> str:
    path = one.folder / "figure.png"
    if not path.exists():
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(str(one.document["title"]), quote=True)}" src="data:image/png;base64,{data}">'
