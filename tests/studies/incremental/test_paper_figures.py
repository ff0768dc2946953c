"""The map from figures of paper B to studies is one to one, and leaves no claim of the paper out."""

import json
from collections import Counter
from pathlib import Path

from daybreak import studies
from daybreak.studies.incremental.paper_figures import PAPER_FIGURES

RESULTS = Path(__file__).parents[3] / "results" / "incremental"


def test_every_claim_of_the_paper_belongs_to_one_figure() -> None:
    mapped = Counter(claim for figure in PAPER_FIGURES for claim in figure.claims)
    assert set(mapped.values()) == {1}
    for folder in RESULTS.glob("b-*/laptop"):
        for claim in json.loads((folder / "claims.json").read_text())["claims"]:
            ours = claim["paper"].startswith("ours")
            assert (claim["id"] in mapped) == (not ours), claim["id"]


def test_every_figure_has_a_study_that_exists_and_has_its_claims() -> None:
    for figure in PAPER_FIGURES:
        assert studies.find(figure.study).paper == "incremental"
        folder = RESULTS / figure.study / "laptop"
        if folder.exists():
            known = {claim["id"] for claim in json.loads((folder / "claims.json").read_text())["claims"]}
            assert set(figure.claims) <= known
    subjects = [(figure.number, figure.subject) for figure in PAPER_FIGURES]
    assert len(set(subjects)) == len(subjects)
    assert {x.name for x in studies.STUDIES if x.paper == "incremental" and x.name.startswith("b-")} == {
        figure.study for figure in PAPER_FIGURES
    }
