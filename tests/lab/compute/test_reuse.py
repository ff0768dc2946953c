"""More budget continues: what differs only in the budget shares its steps, to the last bit, and is never trained twice."""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from daybreak.cli import main
from daybreak.lab import Lab, Saved
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.inline import InlineExecutor
from daybreak.lab.compute.messages import Job
from daybreak.lab.compute.state import State
from daybreak.lab.reading import laws
from daybreak.tasks import SingleLocation
from daybreak.training import Run, Schedule, Stop, train
from tests.lab import made
from tests.lab.compute.sweeping import RUNS

ENDLESS = replace(RUNS[0], stop=Stop(every=20, level=0.0))
ADAPTIVE = replace(
    ENDLESS, task=SingleLocation(T=4, d=2, position="fixed", feature=False, B=2), schedule=Schedule("adaptive")
)


def _with(run: Run, budget: int, **changes) -> Run:
    return replace(run, stop=replace(run.stop, budget=budget, **changes))


def _train(lab: Lab, *runs: Run, **options) -> tuple[State, list[Job]]:
    """The state in the end, and the jobs that were computed."""
    executor = InlineExecutor()
    with patch.object(executor, "submit", wraps=executor.submit) as submit:
        state = train_missing(runs, lab, executor, command="a test", **options)
    return state, [call.args[1] for call in submit.call_args_list]


def _same_as_in_one_go(saved: Saved) -> None:
    (whole,) = train([saved.run])
    assert saved.record is not None
    assert saved.record.outcome == whole.outcome
    np.testing.assert_array_equal(saved.record.steps, whole.steps)
    assert list(saved.record.curves) == list(whole.curves)
    for name, curve in whole.curves.items():
        np.testing.assert_array_equal(saved.record.curves[name], curve, err_msg=name, strict=True)


@pytest.mark.parametrize("run", [ENDLESS, ADAPTIVE], ids=["constant", "adaptive"])
@pytest.mark.parametrize("first", [40, 50])
def test_a_longer_run_goes_on_from_the_end_of_a_shorter_one(run: Run, first: int, tmp_path: Path) -> None:
    """Also from a last evaluation that the longer run does not have, at step 50."""
    lab = Lab(tmp_path)
    short, long = _with(run, first), _with(run, 130)
    _train(lab, short)
    state, (job,) = _train(lab, long)
    assert (state.reused, state.continued, state.outcomes.total()) == (0, 1, 1)
    assert list(job.checkpoints) == [long.id]
    saved = lab.load(long.id)
    assert saved.document["provenance"]["from_run"] == short.id
    _same_as_in_one_go(saved)
    assert "from_run" not in lab.load(short.id).document["provenance"]


def test_without_its_end_a_longer_run_starts_anew(tmp_path: Path, caplog) -> None:
    """The end was removed, or is damaged."""
    lab = Lab(tmp_path)
    short, long = _with(ENDLESS, 40), _with(ENDLESS, 80)
    _train(lab, short)
    end = tmp_path / "runs" / short.id / "state.safetensors"
    content = end.read_bytes()
    end.write_bytes(content[:-3])
    _, (job,) = _train(lab, long)
    assert not job.checkpoints
    assert f"run {long.id} starts at step 0: the checkpoint of run {short.id} is unusable" in caplog.text
    assert lab.remove_states([short.id]) == len(content) - 3
    assert lab.remove_states() > 0
    assert not list(tmp_path.glob("runs/*/state.safetensors"))
    assert lab.remove_states() == 0
    _, (job,) = _train(lab, _with(ENDLESS, 120))
    assert not job.checkpoints
    assert lab.has(short)
    assert "from_run" not in lab.load(long.id).document["provenance"]


def test_a_record_that_determines_another_is_reused(tmp_path: Path) -> None:
    """Of a run that emerged: with more budget, and with less if it ends at one of the evaluations."""
    lab = Lab(tmp_path)
    emerged = _with(RUNS[0], 120)
    _train(lab, emerged)
    last = lab.load(emerged.id).result.last_step
    assert last is not None
    assert last < 120
    budgets = (100_000, last + 1, last, 20, 0)
    state, jobs = _train(lab, *(_with(emerged, budget) for budget in budgets if budget))
    assert (state.reused, jobs) == (4, [])
    for budget, outcome in zip(budgets, ("emerged", "emerged", "emerged", "censored"), strict=False):
        saved = lab.load(_with(emerged, budget).id)
        assert saved.result.outcome == outcome
        assert saved.document["provenance"]["from_run"] in {emerged.id, *(_with(emerged, x).id for x in budgets if x)}
        _same_as_in_one_go(saved)
    state, jobs = _train(lab, _with(emerged, 15))
    assert (state.reused, len(jobs)) == (0, 1)
    assert not jobs[0].checkpoints, "step 15 lies behind no end"


def test_a_margin_that_the_budget_cut_off_is_trained(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    whole = _with(RUNS[0], 120, margin=1.0)
    _train(lab, whole)
    saved = lab.load(whole.id)
    assert saved.result.plateau is not None
    cut = _with(whole, 10 * int(saved.result.plateau.bracket[1] / 10) + 10)
    other = Lab(tmp_path / "other")
    _train(other, cut)
    assert other.load(cut.id).result.outcome == "emerged"
    _, (job,) = _train(other, whole)
    assert list(job.checkpoints) == [whole.id]
    _same_as_in_one_go(other.load(whole.id))


def test_what_depends_on_the_budget_is_trained_anew(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    run = replace(ADAPTIVE, schedule=Schedule("budget"), stop=Stop(budget=40, every=20, level=1e-6))
    _train(lab, run)
    assert lab.load_state(run.id) is None
    state, (job,) = _train(lab, _with(run, 80), _with(run, 20))
    assert state.reused == 0
    assert not job.checkpoints


def test_other_settings_are_other_runs(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    _train(lab, _with(ENDLESS, 40))
    for other in (_with(ENDLESS, 80, every=10), _with(ENDLESS, 80, margin=0.5), replace(_with(ENDLESS, 80), seed=5)):
        _, (job,) = _train(lab, other)
        assert not job.checkpoints


def test_a_law_counts_a_trajectory_once(tmp_path: Path, capsys) -> None:
    lab, lengths = Lab(tmp_path).open(), (8, 16, 32, 64)
    for T in lengths:
        for budget in (500, 10_000):
            run = made.run(T=T, stop=Stop(budget=budget))
            lab.save(run, made.record(10.0 * T, outcome="censored" if budget == 500 else "emerged"), **made.SOURCE)
    longest = {made.run(T=T, stop=Stop(budget=10_000)).id for T in lengths}
    assert set(laws.table(lab)["id"]) == longest
    assert laws.table(lab, "budget = 500")["budget"].tolist() == [500] * 4
    short = made.run(T=32, stop=Stop(budget=500)).id
    assert main(["forecast", short, "--law", "C * T**a", "--lab", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["law"]["rows"] == 3, "not the longer run of the same trajectory"
