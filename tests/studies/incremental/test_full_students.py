"""Figure 3 of the full model: its students are runs of the lab, and the model is one training that is read on its way."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from daybreak.lab import Lab
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.inline import InlineExecutor
from daybreak.models import Transformer
from daybreak.studies import TrainedData
from daybreak.studies.incremental import fig3
from daybreak.training import Run

DATA: Any = fig3.STUDY.data


def window(run: Run) -> int:
    assert isinstance(run.model, Transformer)
    return run.model.window


def test_the_campaign_is_five_new_seeds_of_three_students_and_one_model() -> None:
    runs = DATA.runs("laptop")
    students = [run for run in runs if window(run)]
    assert {run.seed for run in runs} == {5, 6, 7, 8, 9}
    assert sorted(window(run) for run in students) == [4] * 5 + [8] * 5 + [12] * 5
    assert {run.stop.budget for run in students} == {2000}
    assert max(run.stop.budget for run in runs) == 2000
    assert len({run.id for run in runs}) == len(runs)


def test_rounds_train_every_run_once_and_the_shorter_ones_first() -> None:
    rounds = DATA.rounds("laptop")
    assert sorted(run.id for part in rounds for run in part) == sorted(run.id for run in DATA.runs("laptop"))
    assert sorted(window(run) for run in rounds[0]) == [0] * 5 + [4] * 5 + [8] * 5 + [12] * 5
    budgets = [{run.stop.budget for run in part if not window(run)} for part in rounds]
    assert [len(x) for x in budgets] == [1] * len(budgets)
    assert all(max(a) < min(b) for a, b in itertools.pairwise(budgets))
    assert sorted(window(run) for run in DATA.trainings("laptop")) == [0] * 5 + [4] * 5 + [8] * 5 + [12] * 5
    assert {run.stop.budget for run in DATA.trainings("laptop")} == {2000}
    whole = TrainedData(DATA.runs, DATA.tables)
    assert whole.trainings("smoke") == DATA.runs("smoke")
    assert whole.rounds("smoke") == [DATA.runs("smoke")], "without files to keep, all at once"


def test_the_model_goes_on_from_its_own_end_and_is_compared_with_its_students(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab")
    for part in DATA.rounds("smoke"):
        train_missing(part, lab, InlineExecutor(), command="test", keep=DATA.keep)
    saved = [lab.load(run.id) for run in DATA.runs("smoke")]
    path = sorted((x for x in saved if not window(x.run)), key=lambda x: x.run.stop.budget)
    assert path[1].document["provenance"]["from_run"] == path[0].result.id
    curves = DATA.tables(saved)["curves"]
    assert curves["step"].tolist() == list(range(0, 41, 5))
    model, student = path[1].model(), next(x for x in saved if window(x.run) == 4).model()
    inputs = model.examples().inputs
    p, q = (log_softmax(x(inputs), axis=2) for x in (student, model))
    assert curves["student_1"][-1] == pytest.approx(np.mean(np.sum(np.exp(p) * (p - q), axis=2)), rel=1e-3)
    between = curves["student_2"][[0, 2, 4]]  # steps 0, 10, 20: read at the first and the last of them
    assert between[1] == pytest.approx((between[0] + between[2]) / 2, rel=1e-5)
    assert np.all(np.array([curves[f"student_{n}"] for n in (1, 2, 3)]) > -1e-6)
