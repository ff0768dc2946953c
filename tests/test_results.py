"""What is committed under results/ is what its tables say by today's rules: no claim, verdict or law was written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from daybreak import studies
from daybreak.studies import VERDICTS, Claim, tables

COMMITTED = sorted((Path(__file__).parent.parent / "results").glob("*/*/*/claims.json"))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parts[-3])
def test_claims_follow_from_their_tables(path: Path) -> None:
    document = json.loads(path.read_text())
    findings = studies.find(path.parts[-3]).judge({x.stem: tables.read(x) for x in path.parent.glob("*.parquet")})
    assert [claim.as_json() for claim in findings.claims] == document["claims"], (
        "run 'daybreak reproduce --from-tables'"
    )
    laws = json.loads(json.dumps({name: law.as_json() for name, law in findings.laws.items()}))
    assert _numbers(laws) == pytest.approx(_numbers(document["laws"]), rel=1e-6), "other processors round otherwise"
    assert _others(laws) == _others(document["laws"])


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parts[-3])
def test_verdicts_are_known_and_one_outside_the_grid_states_the_regime_and_its_cost(path: Path) -> None:
    claims = [
        Claim(**claim) for claim in json.loads(path.read_text())["claims"]
    ]  # refuses an `outside` without such a note
    assert {claim.verdict for claim in claims} <= VERDICTS.keys()


def _leaves(tree: Any, name: str = "") -> dict[str, Any]:
    if isinstance(tree, dict | list):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {key: leaf for i, x in items for key, leaf in _leaves(x, f"{name}/{i}").items()}
    return {name: tree}


def _numbers(tree: Any) -> dict[str, float]:
    return {name: leaf for name, leaf in _leaves(tree).items() if isinstance(leaf, float)}


def _others(tree: Any) -> dict[str, Any]:
    return {name: leaf for name, leaf in _leaves(tree).items() if not isinstance(leaf, float)}
