"""Studies that train: nothing is trained twice, a lost run alone is trained again, and failed ones are named."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daybreak import measure, pictures, studies
from daybreak.errors import RequestError, WorkError
from daybreak.lab import Lab, Saved
from daybreak.lab.sweeps import sweep
from daybreak.studies import Claim, Findings, Study, StudyStatus, TrainedData, _runs
from daybreak.studies.emergence import fig3, precision
from daybreak.training import Stop
from tests.lab.compute.sweeping import TOY

RUNS = sweep.runs(TOY.replace("seeds = 12", "seeds = 2"))


def _tables(saved: list[Saved]) -> dict[str, dict[str, np.ndarray]]:
    lengths = [x.result.plateau.length for x in saved if x.result.plateau is not None]
    return {"plateaus": {"seed": np.array([x.run.seed for x in saved]), "plateau": np.array(lengths)}}


def _judge(tables: dict) -> Findings:
    law = measure.fit_law("C", tables["plateaus"])
    return Findings((Claim("A99", "It ends.", "", str(law), "holds", "A note."),), {"plateau": law})


def _draw(tables: dict, findings: Findings):
    return pictures.panels(["nothing"])[0]


STUDY = Study(
    "fig99",
    "emergence",
    "A study that trains",
    {"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    TrainedData(lambda scale: RUNS[:2] if scale == "smoke" else RUNS, _tables),
    _judge,
    _draw,
)


def times(lab: Path) -> dict[str, int]:
    return {x.parent.name: x.stat().st_mtime_ns for x in lab.glob("runs/*/result.json")}


def contents(folder: Path) -> dict[str, bytes]:
    return {x.name: x.read_bytes() for x in folder.iterdir() if x.name != "claims.json"}


def test_nothing_twice_and_a_lost_run_alone(tmp_path: Path) -> None:
    lab, states = tmp_path / "lab", []
    first = studies.reproduce(STUDY, "laptop", tmp_path / "first", lab, workers=1, on_change=states.append)
    assert (first.runs, len(times(lab))) == (4, 4)
    assert first.training_seconds
    assert states[-1].outcomes.total() == 4
    assert [claim.verdict for claim in first.findings.claims] == ["holds"]

    before, states = times(lab), []
    again = studies.reproduce(STUDY, "laptop", tmp_path / "again", lab, workers=1, on_change=states.append)
    assert not states, "nothing is trained"
    assert times(lab) == before
    assert {x.name: x.read_bytes() for x in again.folder.iterdir()} == {
        x.name: x.read_bytes() for x in first.folder.iterdir()
    }

    lost = RUNS[2].id
    shutil.rmtree(lab / "runs" / lost)
    assert studies.statuses([STUDY], tmp_path / "again", Lab(lab)) == [
        {
            "smoke": StudyStatus(results=False, runs=2, trained=2, in_tables=None),
            "laptop": StudyStatus(results=True, runs=4, trained=3, in_tables=None),
            "paper": StudyStatus(results=False, runs=4, trained=3, in_tables=None),
        }
    ]
    once_more = studies.reproduce(STUDY, "laptop", tmp_path / "once_more", lab, workers=1)
    changed = {name for name, time in times(lab).items() if before[name] != time}
    assert changed == {lost}
    assert contents(once_more.folder) == contents(first.folder)

    tiny = studies.reproduce(STUDY, "smoke", tmp_path / "tiny", lab, workers=1)
    (claim,) = tiny.findings.claims
    assert claim.verdict == "undecided"
    assert claim.note == "Smoke scale: tiny networks, which decide nothing. A note."


def test_failed_runs_are_named(tmp_path: Path) -> None:
    """A step that no 32-bit number holds."""
    impossible = replace(RUNS[0], stop=Stop(budget=2**40, every=2**40))
    study = replace(STUDY, data=TrainedData(lambda scale: [impossible], _tables))
    with pytest.raises(
        WorkError, match=f"1 of 1 runs failed: {impossible.id}. 'daybreak runs show ID --lab .*' says why"
    ):
        studies.reproduce(study, "smoke", tmp_path / "out", tmp_path / "lab", workers=1)
    assert not (tmp_path / "out" / "emergence" / "fig99" / "smoke" / "claims.json").exists()


def test_a_precision_that_this_machine_lacks_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daybreak.training.hardware.has_bfloat16", lambda: False)
    with pytest.raises(RequestError, match="not known to multiply bfloat16"):
        studies.reproduce(precision.STUDY, "smoke", tmp_path / "out", tmp_path / "lab", workers=1)
    assert not list(tmp_path.iterdir())


def test_a_figure_is_in_one_precision_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_runs, "has_bfloat16", lambda: True)
    assert isinstance(fig3.STUDY.data, TrainedData)
    assert isinstance(precision.STUDY.data, TrainedData)
    here = fig3.STUDY.data.runs("laptop")
    assert {run.precision for run in here} == {"bfloat16"}
    monkeypatch.setattr(_runs, "has_bfloat16", lambda: False)
    elsewhere = fig3.STUDY.data.runs("laptop")
    assert [replace(run, precision="float32") for run in here] == elsewhere
    assert {run.precision for run in precision.STUDY.data.runs("laptop")} == {"float32", "bfloat16"}  # what it compares
