"""The report: all results on one page that needs no other file, with all text escaped."""

import json
import re
from pathlib import Path

import pytest

from daybreak import studies
from daybreak.errors import WorkError
from daybreak.studies.results import read_all


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name in ("fig1b", "fig1c"):
        studies.reproduce(studies.find(name), "smoke", folder)
    return folder


def test_the_page_has_every_claim_and_every_picture(out: Path) -> None:
    text = studies.write_report(out).read_text()
    claims = [claim for one in read_all(out) for claim in one.document["claims"]]
    assert len(claims) > 3
    for claim in claims:
        assert text.count(f">{claim['id']}<") == 2, "on the scoreboard and below its figure"
    assert text.count('src="data:image/png;base64,') == 2
    assert "daybreak reproduce fig1c --scale smoke" in text
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"(src|href)=\"(?!data:|#)", text), "nothing is fetched"
    assert not list(out.glob(".*")), "nothing half-written is left"


def test_text_is_text(out: Path) -> None:
    path = out / "emergence" / "fig1b" / "smoke" / "claims.json"
    kept = path.read_text()
    document = json.loads(kept)
    document["title"] = '"><script>alert(1)</script>'
    document["claims"][0] |= {"sentence": "<img src=x>", "verdict": "<b>"}
    path.write_text(json.dumps(document))
    text = studies.write_report(out).read_text()
    path.write_text(kept)
    assert "<script" not in text
    assert "<img src=x>" not in text
    assert "<b>" not in text.replace("<b>A", "")


def test_every_verdict_has_a_sign_and_a_meaning(out: Path) -> None:
    path = out / "emergence" / "fig1c" / "smoke" / "claims.json"
    kept = path.read_text()
    document = json.loads(kept)
    document["claims"][0] |= {"verdict": "outside"}
    path.write_text(json.dumps(document))
    text = studies.write_report(out).read_text()
    path.write_text(kept)
    assert text.count('<span class="verdict outside">○ outside</span>') == 2, "on the scoreboard and below its figure"
    assert "1 outside" in text
    for verdict, meaning in studies.VERDICTS.items():
        assert f"{verdict}</span><dd>{meaning}" in text


def test_the_largest_scale_counts(out: Path) -> None:
    small = out / "emergence" / "fig1b" / "smoke" / "claims.json"
    large = out / "emergence" / "fig1b" / "laptop" / "claims.json"
    large.parent.mkdir()
    large.write_text(small.read_text().replace('"smoke"', '"laptop"'))
    assert [one.document["scale"] for one in read_all(out)] == ["laptop", "smoke"]
    large.unlink()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"claims": []}'])
def test_what_no_study_wrote_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "emergence" / "fig1b" / "smoke" / "claims.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(WorkError, match="is not what a study writes"):
        studies.write_report(tmp_path)
