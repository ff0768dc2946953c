"""README and findings cannot drift from results/: totals, verdicts, and every number that is quoted for a claim."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "findings"
PAGES = sorted(FOLDER.glob("*.md"))
PAPERS = ("emergence", "incremental", "language")
VERDICTS = ("holds", "fails", "undecided", "outside")


def _documents(paper: str = "*") -> Iterator[dict[str, Any]]:
    for file in (ROOT / "results").glob(f"{paper}/*/laptop/claims.json"):
        yield json.loads(file.read_text())


CLAIMS: dict[str, dict[str, str]] = {claim["id"]: claim for one in _documents() for claim in one["claims"]}
STUDIES: dict[str, str] = {claim["id"]: Path(one["study"]).name for one in _documents() for claim in one["claims"]}


def _numbers(text: str) -> Iterator[str]:
    """Numbers of a text without their sign; those of names such as R² or W* do not count."""
    return (x.replace(",", "") for x in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<=[\^ABTdHVN])\d+\.\d+", text))


def _unknown(text: str, *claims: dict[str, str]) -> list[str]:
    """The numbers of a text that are not, rounded, in any of the claims."""
    known = [float(x.rstrip(".,")) for claim in claims for x in _numbers(" ".join(claim.values()).replace("−", "-"))]
    return [
        x
        for x in _numbers(text)
        if not any(abs(float(x) - y) <= 0.501 * 10.0 ** -len(x.partition(".")[2]) for y in known)
    ]


def _rows(page: Path) -> Iterator[tuple[str, str, str]]:
    """Claim, verdict and what was measured, of each row of a table that names a claim."""
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        names = [x for x in cells if re.fullmatch(r"`[ABLR][\w-]*`", x)]
        if line.startswith("|") and names:
            words = [x for x in cells if x in VERDICTS]
            measured = cells[1] if page.stem == "index" else cells[3]
            yield names[0].strip("`"), words[0], measured.rstrip(" |")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_verdicts_and_numbers_of_a_page_are_those_of_the_results(page: Path) -> None:
    rows = list(_rows(page))
    assert len(rows) > 7
    wrong = [
        f"{name}: {verdict} is {CLAIMS[name]['verdict']}"
        for name, verdict, _ in rows
        if verdict != CLAIMS[name]["verdict"]
    ]
    wrong += [f"{name}: {x} is not in its claim" for name, _, text in rows for x in _unknown(text, CLAIMS[name])]
    assert not wrong, "\n".join(wrong)


def test_every_claim_has_its_row() -> None:
    named = Counter(name for page in PAGES if page.stem != "index" for name, _, _ in _rows(page))
    assert named == Counter(CLAIMS.keys())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_command_of_every_number_is_on_its_page(page: Path) -> None:
    commands = re.findall(r"^    daybreak reproduce (.+)$", page.read_text(), re.MULTILINE)
    named = {name for command in commands for name in command.split() if not name.startswith("-")}
    assert named <= set(STUDIES.values())
    if page.stem != "index":
        assert named == {STUDIES[name] for name, _, _ in _rows(page)}
    else:
        assert commands == ["--from-tables"]


def test_own_claims_are_marked() -> None:
    lines = [line for page in PAGES if page.stem != "index" for line in page.read_text().splitlines()]
    for name, claim in CLAIMS.items():
        (line,) = (line for line in lines if line.startswith(f"| `{name}` |"))
        assert ("*own:*" in line) == claim["paper"].startswith("ours"), name


def test_a_wrong_number_is_noticed() -> None:
    claim = {"id": "A1", "ours": "d^0.497, B 2: 3.07 [2.83, 3.33], from -3.6% to 12 of 5,319"}
    assert _unknown("d^0.50 B = 2: 3.1 times, 2.8 to 3.3; −4 %, 12 of 5319", claim) == []
    assert _unknown("d^0.51, 3.08 times, 2.9, 5 %, 13 of 5320", claim) == ["0.51", "3.08", "2.9", "5", "13", "5320"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decimals_outside_of_tables_are_of_claims_on_the_page(page: Path) -> None:
    prose = "\n".join(x for x in page.read_text().splitlines() if not x.startswith("|") and "arXiv" not in x)
    decimals = " ".join(re.findall(r"(?<![\w.])\d+\.\d+", prose))
    assert not _unknown(decimals, *(CLAIMS[name] for name, _, _ in _rows(page)))


@pytest.mark.parametrize("page", [ROOT / "README.md", FOLDER / "index.md"], ids=lambda page: page.stem)
def test_totals_are_those_of_the_results(page: Path) -> None:
    text = page.read_text()
    for paper in PAPERS:
        counts = Counter(claim["verdict"] for one in _documents(paper) for claim in one["claims"])
        cells = [*(str(counts[verdict]) for verdict in VERDICTS), str(sum(counts.values()))]
        assert f"`results/{paper}` | {' | '.join(cells)} |" in text


def test_who_made_the_claims_is_counted_right() -> None:
    added = [x for x in CLAIMS.values() if re.match("ours|proposed|suggested", x["paper"])]
    text = (FOLDER / "index.md").read_text()
    assert [int(x) for x in re.findall(r"took (\d+) sentences|added\n(\d+)", text) for x in x if x] == [
        len(CLAIMS) - len(added),
        len(added),
    ]


def test_the_findings_in_the_readme_are_those_of_the_results() -> None:
    found = re.findall(r"^- \*\*((?s:.*?))\(([A-Z]\d[\w, ]*)\)\.$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(found) == 4
    for sentence, names in found:
        claims = [x for name in names.split(", ") for key, x in CLAIMS.items() if key.split("-")[0] == name]
        assert not _unknown(sentence, *claims), sentence


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
