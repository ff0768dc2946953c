"""Verdicts of trained studies on planted runs: claims hold where they were planted, and fail where others were."""

from typing import Any

import numpy as np
import pytest

from daybreak import pictures, studies
from daybreak.studies.incremental._trained import stages
from daybreak.training import Run
from tests.studies.incremental.planted import NEVER, findings, tables, verdicts


def paper(run: Run) -> tuple[float, float]:
    return 330, 575


def late(run: Run) -> tuple[float, float]:
    return 600, NEVER


def at_once(run: Run) -> tuple[float, float]:
    return 400, 400


def test_figure_1() -> None:
    assert set(verdicts("b-fig1", paper).values()) == {"holds"}
    assert verdicts("b-fig1", late) == {"B1": "fails", "B1-divergence": "fails", "B-overlap": "holds"}
    assert verdicts("b-fig1", paper, part=False)["B-overlap"] == "fails"


def test_transitions_are_found_where_they_were_planted() -> None:
    rows = stages(tables("b-fig1", paper)["curves"])
    np.testing.assert_allclose(rows["second"], 330, atol=5)
    np.testing.assert_allclose(rows["third"], 575, atol=5)
    assert rows["stages"].tolist() == [3] * 5
    assert rows["contradicted"].tolist() == [0] * 5
    assert rows["best_stage"].tolist() == [3] * 5


def test_figure_2() -> None:
    assert set(verdicts("b-fig2", lambda run: (200, 400)).values()) == {"holds"}
    assert verdicts("b-fig2", lambda run: (200, 400), part=False) == {"B2": "fails", "B2-order": "holds"}
    assert verdicts("b-fig2", lambda run: (0, 0))["B2"] == "fails", "one head per block from the start"


def test_figure_4_left() -> None:
    def law(run: Run, power: float) -> tuple[float, float]:
        model: Any = run.model
        if model.epsilon == 0:
            return NEVER, NEVER
        second = 125 + 50 * np.log(1 / model.epsilon) ** power / 20.7 ** (power - 1)
        return second, second + 375

    assert verdicts("b-fig4-left", lambda run: law(run, 2)) == {
        "B4l": "holds",
        "B4l-zero": "holds",
        "B4l-trained": "holds",
    }
    assert verdicts("b-fig4-left", lambda run: law(run, 1))["B4l-trained"] == "fails"
    assert verdicts("b-fig4-left", paper) == {"B4l": "fails", "B4l-zero": "fails", "B4l-trained": "fails"}


def test_figure_4_right() -> None:
    def law(run: Run) -> tuple[float, float]:
        task: Any = run.task
        return 750, 750 + 1000 * (task.m - 1)

    assert verdicts("b-fig4-right", law) == {"B4r": "holds", "B4r-blurred": "holds"}
    assert verdicts("b-fig4-right", at_once) == {"B4r": "fails", "B4r-blurred": "fails"}


def test_figure_5() -> None:
    def stop(run: Run) -> float:
        task: Any = run.task
        return {200: 200, 600: 200, 2000: 450}.get(task.train, NEVER)

    assert set(verdicts("b-fig5", paper, best=stop).values()) == {"holds"}
    assert set(verdicts("b-fig5", paper).values()) == {"fails"}


def test_a_part_of_the_seeds_decides_nothing() -> None:
    results = {
        count: verdicts("b-online", lambda run, n=count: paper(run) if run.seed < n else late(run))
        for count in (2, 3, 4)
    }
    assert [x["B6-9-online"] for x in results.values()] == ["fails", "undecided", "holds"]


@pytest.mark.parametrize(
    "name", ["b-online", "b-reversed", "b-weights", "b-overlapping", "b-four-heads", "b-two-layers"]
)
def test_variants(name: str) -> None:
    budget = 2000 if name in ("b-weights", "b-overlapping", "b-two-layers") else 800
    assert set(verdicts(name, lambda run: (0.4 * budget, 0.7 * budget)).values()) == {"holds"}
    assert "fails" in verdicts(name, late).values()


def test_two_layers_by_their_heads() -> None:
    for never in ({"times": lambda run: (0, 0)}, {"times": lambda run: (240, 420), "part": False}):
        assert verdicts("b-two-layers", **never)["B11-19-layers-heads"] == "fails", (
            "heads apart from the start, or together for ever"
        )


@pytest.mark.parametrize(("study", "claim"), [("b-sgd", "B11-19-sgd"), ("b-sgd-sum", "B11-19-sgd-sum")])
def test_sgd(study: str, claim: str) -> None:
    def law(run: Run, slower: float) -> tuple[float, float]:
        factor = slower if run.optimizer.name == "sgd" else 1
        return factor * 330, factor * 575

    assert verdicts(study, lambda run: law(run, 10)) == {claim: "holds", f"{claim}-slower": "holds"}
    assert verdicts(study, lambda run: law(run, 2))[f"{claim}-slower"] == "fails"
    never = findings(study, lambda run: law(run, 100)).claims
    assert [x.verdict for x in never] == ["undecided", "fails"]
    assert "at least" in never[1].ours
    assert verdicts(study, lambda run: law(run, 15))[f"{claim}-slower"] == "undecided", "the third never came"


def test_early_stopping() -> None:
    def stop(run: Run) -> float:
        model: Any = run.model
        return 700 if model.window == 0 else 200

    assert verdicts("early-stopping", paper, best=stop) == {"B-early-stopping": "holds"}
    assert verdicts("early-stopping", paper, best=lambda run: 900 - stop(run)) == {"B-early-stopping": "fails"}


@pytest.mark.parametrize("study", [x for x in studies.STUDIES if x.paper == "incremental" and x.name.startswith("b-")])
def test_pictures(study: studies.Study) -> None:
    if study.name in ("b-fig3", "b-fig10"):  # needs parameters; needs no runs
        return
    made = tables(study.name, paper)
    with pictures.look():
        figure = study.draw(made, study.judge(made))
    assert all(ax.has_data() for ax in figure.axes if ax.get_visible())
