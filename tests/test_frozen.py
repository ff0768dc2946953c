"""What an earlier version wrote stays readable: runs keep their ids, and a stored lab its contents.

`frozen/runs.json` holds documents of runs by their ids, `frozen/lab` a lab, `frozen/rows.json` the rows of its index. All were
written by version 0.1.0 at commit 1ca0fc2, and are never written again: a new version adds files of its own.
"""

import json
import shutil
from pathlib import Path

import pytest

from daybreak.lab import Lab
from daybreak.training import canonical, evaluations, from_json

FROZEN = Path(__file__).parent / "frozen"
RUNS = json.loads((FROZEN / "runs.json").read_text())
ROWS = json.loads((FROZEN / "rows.json").read_text())
GOING = "068c5af56c208ac1"


def _read_today(row):
    """A row as it is read now, with the precision that all runs had.

    A run without a level ended as asked, and its last step is no bound on a plateau.
    """
    row = row | {"precision": "float32"}
    if row["level"]:
        return row
    return {name: x for name, x in row.items() if name not in ("plateau", "censored", "plateau_low")} | {
        "outcome": "completed"
    }


EXPECTED = [_read_today(row) for row in ROWS]


@pytest.fixture
def lab(tmp_path):
    return Lab(shutil.copytree(FROZEN / "lab", tmp_path / "lab"))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_keeps_its_id_and_its_document(name):
    run = from_json(RUNS[name])
    assert run.id == name
    assert json.loads(canonical(run)) == RUNS[name]


def test_the_index_of_an_older_lab_has_the_same_rows(lab):
    rows = [{name: x for name, x in row.items() if x is not None} for row in lab.query().to_pylist()]
    assert rows == EXPECTED
    assert [row["outcome"] for row in rows].count("completed") == 2


def test_every_run_of_an_older_lab_is_loaded(lab):
    for row in EXPECTED:
        saved = lab.load(row["id"])
        assert json.loads(canonical(saved.run)) == RUNS[row["id"]]
        assert saved.result.outcome == row["outcome"]
        if row["outcome"] != "failed":
            assert saved.record is not None
            assert saved.record.steps[-1] == row["last_step"]
            assert (saved.result.plateau and saved.result.plateau.length) == row.get("plateau")
    assert lab.damaged() == []


def test_an_unfinished_run_of_an_older_lab_goes_on(lab):
    assert lab.unfinished() == [GOING]
    run = from_json(RUNS[GOING])
    checkpoint = lab.load_checkpoint(run)
    assert checkpoint is not None
    progress = next(evaluations([run], {run.id: checkpoint}))
    assert progress.steps == [80]  # the checkpoint was at step 60
