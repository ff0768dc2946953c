"""One rule for stages: the same runs get the same number of them in every study that counts them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from daybreak.studies import tables
from daybreak.studies._study import Table, select
from daybreak.studies.incremental._trained import NEW_SEEDS, SEEDS, stages, to_be_confirmed, transition_steps
from tests.studies.incremental.planted import NEVER
from tests.studies.incremental.planted import tables as planted

RESULTS = Path(__file__).parents[3] / "results" / "incremental"
PUBLISHED = {  # where the five runs of figure 1 are, and which rows they are
    "b-fig1": {},
    "fig3-minimal": {},
    "b-fig4-left": {"eps": 1e-9},
    "b-fig4-right": {"m": 1.7},
    "b-fig5": {"train": 9000},
}


def curves(study: str, setting: dict[str, float]) -> Table:
    table = tables.read(RESULTS / study / "laptop" / "curves.parquet")
    for name, value in setting.items():
        table = select(table, table[name] == value)
    return table


def measured(study: str, claim: str) -> str:
    document = json.loads((RESULTS / study / "laptop" / "claims.json").read_text())
    return next(x["ours"] for x in document["claims"] if x["id"] == claim)


def test_the_five_runs_of_figure_1_have_the_same_stages_in_every_study() -> None:
    """In the committed tables, and in the sentences that were written from them."""
    rows = {study: stages(curves(study, setting)) for study, setting in PUBLISHED.items()}
    first = rows["b-fig1"]
    assert first["seed"].tolist() == list(SEEDS)
    for study, other in rows.items():
        for column in ("seed", "stages", "second", "third", "in_order"):
            assert other[column].tolist() == first[column].tolist(), study
    numbers = ", ".join(map(str, first["stages"]))
    assert f"stages: {numbers}" in measured("b-fig1", "B1")
    assert f"1.7: {numbers}" in measured("b-fig4-right", "B4r")
    for claim in ("B3-minimal-truths", "B3-minimal-students"):
        orders = measured("fig3-minimal", claim).partition(", one seed")[0].split("; ")
        assert [order.count("→") + 1 for order in orders] == first["stages"].tolist()
    both = f"{transition_steps(first, 'second')} and {transition_steps(first, 'third')}"
    assert both in measured("b-fig1", "B1")
    assert f"ε = 1e-09: {both}" in measured("b-fig4-left", "B4l")


def test_the_five_runs_on_fresh_data_have_the_same_stages_in_both_studies() -> None:
    one, other = stages(curves("b-online", {})), stages(curves("b-fig5", {"train": 0}))
    assert one["stages"].tolist() == other["stages"].tolist()
    assert f"stages: {', '.join(map(str, one['stages']))}" in measured("b-online", "B6-9-online")
    best = re.findall(r"online: ([\d, ]+)", measured("b-fig5", "B5"))
    assert best == [", ".join(map(str, other["best_stage"]))]


@pytest.mark.parametrize(
    ("times", "number"), [((330, 575), 3), ((400, 410), 2), ((600, NEVER), 2), ((NEVER, NEVER), 1)]
)
def test_a_planted_run_has_the_same_stages_in_every_study_that_trains_it(
    times: tuple[float, float], number: int
) -> None:
    for study, settings in (("b-fig1", ()), ("b-fig5", ("train",)), ("b-online", ()), ("b-reversed", ())):
        assert set(stages(planted(study, lambda run: times)["curves"], *settings)["stages"]) == {number}


def test_a_merged_stage_lasts_no_time_and_one_that_is_still_on_lasts_until_the_end() -> None:
    rows = {
        times: stages(planted("b-fig1", lambda run, x=times: x)["curves"])
        for times in ((400, 410), (330, 575), (600, NEVER))
    }
    assert [x["apart"][0] for x in rows.values()] == pytest.approx([0, 245, 200], abs=3)
    assert transition_steps(rows[400, 410], "third") == "not by 800"


def test_only_verdicts_on_seeds_that_were_seen_are_to_be_confirmed() -> None:
    assert "after these runs had been seen" in to_be_confirmed({"seed": np.array(SEEDS)})
    assert to_be_confirmed({"seed": np.array(NEW_SEEDS)}) == ""
    assert not set(SEEDS) & set(NEW_SEEDS)
