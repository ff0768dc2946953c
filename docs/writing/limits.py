"""The claims that the page of limits lists: those whose regime our grids do not reach, and those that our measurements do not decide."""

from collections.abc import Callable

from docs.writing.markdown import plain

from daybreak.studies.results import StudyResult

_BEGIN, _END = "<!-- written by make docs: begin -->", "<!-- written by make docs: end -->"


def page(text: str, results: list[StudyResult]) -> str:
    """The page with its list written again; the sentences around it are kept."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    tables = [
        _table(results, "outside", "why", lambda claim: _sentences(claim["note"], 2)),
        _table(results, "undecided", "measured", lambda claim: claim["ours"]),
    ]
    return f"{before}{_BEGIN}\n\n" + "\n".join(tables) + f"\n{_END}{after}"


def _table(results: list[StudyResult], verdict: str, column: str, text: Callable[[dict[str, str]], str]) -> str:
    rows = [
        f"| [{one.name}](gallery.md#{one.name}) | {claim['id']} | {plain(claim['sentence'])} | {plain(text(claim))} |"
        for one in results
        for claim in one.document["claims"]
        if claim["verdict"] == verdict
    ]
    head = f"### {verdict.capitalize()}: {len(rows)}\n\n| figure | claim | sentence | {column} |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _sentences(note: str, count: int) -> str:
    """The first sentences of a note."""
    return ". ".join(note.split(". ")[:count]).rstrip(".") + "."
