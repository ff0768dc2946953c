"""`daybreak sweep`: shows a plan, refuses without writing, and shows progress."""

import io
import json
import time
from pathlib import Path

import pytest
from rich.console import Console

from daybreak.cli import main
from daybreak.cli._watch import view, watching
from daybreak.cli.sweep import _sources
from daybreak.lab import Lab, device
from daybreak.lab.compute.messages import RunStatus
from daybreak.lab.compute.state import Assignment, State
from tests.lab import made
from tests.lab.compute.sweeping import RUNS, TOY


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("toy.toml").write_text(TOY)


def test_a_dry_run_plans_and_writes_nothing(capsys) -> None:
    before = sorted(Path().iterdir())
    assert main(["sweep", "toy.toml", "--dry-run", "--workers", "2", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["runs"], plan["existing"], plan["workers"]) == (24, 0, 2)
    assert sum(cohort["runs"] for cohort in plan["cohorts"]) == 24
    assert 0 < plan["seconds_to_start"] < plan["seconds_expected"] <= plan["seconds_at_most"]
    assert plan["rates_by"] == {"timed on this machine": 1}
    assert main(["sweep", "toy.toml", "--dry-run", "--workers", "2"]) == 0
    message = capsys.readouterr().out
    assert "24 runs, of which 0 are in the lab and 24 are to be trained." in message
    assert "1 cohort, longest first, for 2 workers" in message
    assert "runs  steps  minutes at most" in message
    (duration,) = (line for line in message.splitlines() if "Estimated by measured rates" in line)
    assert ("whole budget" in duration) == ("at most" in duration.lower()), "only the limit needs that condition"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("option", ["--dry-run", "--json"])
def test_a_precision_that_this_machine_lacks_is_refused_before_anything_starts(
    capsys, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr("daybreak.training.hardware.has_bfloat16", lambda: False)
    Path("half.toml").write_text('preset = "paper-a-regression"\nprecision = "bfloat16"\n')
    assert main(["sweep", "half.toml", option]) == 2
    assert "its CPU is not known to multiply bfloat16" in capsys.readouterr().err
    assert not Path("lab").exists()


def test_a_dry_run_states_the_time_that_the_labs_runs_took(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a planted second for each step: 12 runs of 120 steps are left, for two workers."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(Path("programs").absolute()))
    monkeypatch.setattr("daybreak.cli.sweep.cores", lambda: [0, 1])
    lab = Lab("lab").open()
    for run in RUNS[:12]:
        lab.save(run, made.record(), seconds=1.0, command="by hand", device=device(), step_seconds=1.0)
    assert main(["sweep", "toy.toml", "--dry-run", "--workers", "2", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["existing"] == 12
    assert plan["rates_by"] == {"runs in the lab": 1}
    (cohort,) = plan["cohorts"]
    assert cohort["seconds"] == pytest.approx(12 * 120)
    assert plan["seconds_at_most"] == pytest.approx(12 * 120 + plan["seconds_to_start"])


def test_a_dry_run_keeps_settings_of_one_name_apart(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Markov chain has lag weights, and a Transformer initial weights."""
    monkeypatch.setattr("daybreak.lab.compute.calibration.calibrate", lambda *_: 0)  # tested with the toy model
    Path("weights.toml").write_text(
        '[task]\nname = "markov"\nL = 2\nweights = [[0.7, 0.3], [0.5, 0.5]]\n[model]\nname = "transformer"\n'
    )
    assert main(["sweep", "weights.toml", "--dry-run", "--workers", "1", "--json"]) == 0
    cohorts = json.loads(capsys.readouterr().out)["cohorts"]
    assert sorted(x for cohort in cohorts for x in cohort["task_weights"]) == [[0.5, 0.5], [0.7, 0.3]]
    assert not any({"weights", "model_weights"} & set(cohort) for cohort in cohorts)


def test_what_is_seen_while_a_sweep_runs() -> None:
    pair = {run.id: run for run in RUNS[:2]}
    status = RunStatus(60, loss=0.25, accuracy=None, attention=0.5, emerged=40)
    assignment = Assignment(pair, dict.fromkeys(pair, 1e6), "worker 1", {RUNS[0].id: status}, steps_per_second=345.6)
    state = State(24, existing=3, operations=8e6, computed=2e6, under_way={0: assignment})
    state.outcomes.update(emerged=4, failed=1)
    state.first_report = time.monotonic() - 60
    console = Console(width=100, file=io.StringIO())
    console.print(view(state))
    message = console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert "8 of 24 runs · 4 emerged, 1 failed · 346 steps a second · at most about 3 min left" in message
    assert "worker 1  2 runs at step 60 of 120  SingleLocation(T=4, d=2" in message
    assert f"{RUNS[0].id[:8]} seed 0  step 60  loss 0.25    attention 0.50  emerged at step 40" in message
    state.expected, state.operations_expected = dict.fromkeys(pair, 60.0), 4e6
    console.print(view(state, "paper A, figure 3"))
    message = " ".join(console.file.getvalue().split())  # pyright: ignore[reportAttributeAccessIssue]
    assert "about 84 s (by paper A, figure 3), at most 3 min left" in message


def test_where_there_is_no_terminal_a_line_now_and_then(capsys) -> None:
    state = State(5, existing=2)
    state.under_way[0] = Assignment({}, {}, steps_per_second=0.26)
    with watching("2/3 fig3") as seldom, watching("", every=0.0) as always:
        seldom(state)
        assert not capsys.readouterr().err, "not in the first minute"
        always(state)
        always(state)
    assert capsys.readouterr().err == "2 of 5 runs · 0.3 steps a second\n" * 2
    with watching("2/3 fig3", every=0.0) as titled:
        titled(state)
    assert capsys.readouterr().err.startswith("2/3 fig3 · 2 of 5 runs")


def test_sources_of_rates_make_a_sentence() -> None:
    assert _sources({"programs of the same kind": 2}) == "from programs of the same kind"
    counts = {"programs of the same kind": 2, "timed on this machine": 1}
    assert _sources(counts) == "2 from programs of the same kind, 1 timed on this machine"
