"""Runs that the tables of a figure lack are added to them, and nothing that was measured is lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daybreak import studies
from daybreak.errors import WorkError
from daybreak.lab import Lab, Saved
from daybreak.studies import Study, TrainedData, _runs, tables
from daybreak.training import Run
from tests.studies.test_training import RUNS, STUDY, contents, times


def _tables(saved: list[Saved]) -> dict[str, dict[str, np.ndarray]]:
    """The runs that diverged have curves, and no plateau."""
    return {
        "plateaus": _runs.plateaus(saved, ("T", "d")),
        "curves": _runs.curve_table(saved, ("T", "d"), ("clean_loss",)),
    }


def _study(runs: list[Run]) -> Study:
    return replace(STUDY, data=TrainedData(lambda scale: runs, _tables))


def _claims(folder: Path) -> dict:
    return json.loads((folder / "claims.json").read_text())


def _write_claims(folder: Path, **changed: object) -> None:
    (folder / "claims.json").write_text(json.dumps(_claims(folder) | changed))


def _ids(path: Path) -> set[str]:
    return set(tables.read(path)["id"].tolist())


def test_tables_are_those_of_all_runs_trained_at_once(tmp_path: Path) -> None:
    """Whatever part was measured first, and though its lab is lost."""
    whole = studies.reproduce(_study(RUNS), "laptop", tmp_path / "whole", tmp_path / "lab", workers=1)
    out = tmp_path / "parts"
    part = studies.reproduce(_study(RUNS[1:3]), "laptop", out, tmp_path / "lost", workers=1)
    shutil.rmtree(tmp_path / "lost")
    _write_claims(part.folder, training_seconds=7200)
    (status,) = studies.statuses([_study(RUNS)], out, Lab(tmp_path / "none"))
    assert (status["laptop"].in_tables, status["laptop"].runs) == (2, 4)
    added = studies.reproduce(_study(RUNS), "laptop", out, tmp_path / "other", add=True, workers=1)
    assert set(times(tmp_path / "other")) == {RUNS[0].id, RUNS[3].id}, "only these are trained"
    assert contents(added.folder) == contents(whole.folder)
    assert _claims(added.folder)["runs"] == 4
    seconds = sum(x.seconds for x in Lab(tmp_path / "other").results())
    assert _claims(added.folder)["training_seconds"] == round(7200 + seconds)

    again = studies.reproduce(_study(RUNS), "laptop", out, tmp_path / "empty", add=True, workers=1)
    assert not times(tmp_path / "empty"), "nothing is lacking"
    assert contents(again.folder) == contents(whole.folder)
    assert _claims(again.folder)["training_seconds"] == round(7200 + seconds)


def test_add_without_tables_trains_all(tmp_path: Path) -> None:
    done = studies.reproduce(STUDY, "smoke", tmp_path, tmp_path / "lab", add=True, workers=1)
    assert done.runs == 2


def test_rows_of_runs_that_the_figure_does_not_have_are_not_lost(tmp_path: Path) -> None:
    """Of a smaller grid, or of other runs altogether, as on a machine that lacks the precision of the tables."""
    folder = studies.reproduce(_study(RUNS), "laptop", tmp_path, tmp_path / "lab", workers=1).folder
    before = {x.name: x.read_bytes() for x in folder.iterdir()}
    elsewhere = [replace(run, seed=run.seed + 100) for run in RUNS]
    for runs, count in ((RUNS[:2], 2), (elsewhere, 4)):
        with pytest.raises(
            WorkError, match=f"have {count} runs that the figure does not have here, such as .* leave out --add"
        ):
            studies.reproduce(_study(runs), "laptop", tmp_path, tmp_path / "other", add=True, workers=1)
    assert {x.name: x.read_bytes() for x in folder.iterdir()} == before
    assert not (tmp_path / "other").exists(), "it is refused before anything is trained"


def test_no_row_twice_after_an_interruption_between_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = studies.reproduce(_study(RUNS), "laptop", tmp_path / "whole", tmp_path / "lab", workers=1)
    out = tmp_path / "parts"
    folder = studies.reproduce(_study(RUNS[:2]), "laptop", out, tmp_path / "lab", workers=1).folder
    write, written = tables.write, []

    def interrupted(*arguments: object) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(arguments)
        write(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(tables, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            studies.reproduce(_study(RUNS), "laptop", out, tmp_path / "lab", add=True, workers=1)
    assert {len(_ids(x)) for x in folder.glob("*.parquet")} == {2, 4}
    studies.reproduce(_study(RUNS), "laptop", out, tmp_path / "lab", add=True, workers=1)
    assert contents(folder) == contents(whole.folder)


def test_a_run_that_diverged_is_trained_once(tmp_path: Path) -> None:
    wild = replace(RUNS[0], optimizer=replace(RUNS[0].optimizer, name="sgd", learning_rate=1e30))
    runs = [wild, *RUNS[1:]]
    whole = studies.reproduce(_study(runs), "laptop", tmp_path / "whole", tmp_path / "lab", workers=1)
    assert _ids(whole.folder / "curves.parquet") - _ids(whole.folder / "plateaus.parquet") == {wild.id}
    out = tmp_path / "parts"
    folder = studies.reproduce(_study(RUNS[1:]), "laptop", out, tmp_path / "lost", workers=1).folder
    for lab in ("second", "third"):
        studies.reproduce(_study(runs), "laptop", out, tmp_path / lab, add=True, workers=1)
        assert contents(folder) == contents(whole.folder)
    assert set(times(tmp_path / "second")) == {wild.id}
    assert not times(tmp_path / "third")
    studies.judge_again(_study(runs), "laptop", out)
    assert set(_claims(folder)["trained"]) == {run.id for run in runs}


def test_without_claims_the_time_of_earlier_runs_is_not_known(tmp_path: Path) -> None:
    folder = studies.reproduce(_study(RUNS[:2]), "laptop", tmp_path, tmp_path / "lab", workers=1).folder
    (folder / "claims.json").unlink()
    studies.reproduce(_study(RUNS), "laptop", tmp_path, tmp_path / "lab", add=True, workers=1)
    assert _claims(folder)["runs"] == 4
    assert "training_seconds" not in _claims(folder)


@pytest.mark.parametrize("claims", [b"no JSON", None])
def test_damaged_claims_are_refused_before_anything_is_trained(tmp_path: Path, claims: bytes | None) -> None:
    folder = studies.reproduce(_study(RUNS[:2]), "laptop", tmp_path, tmp_path / "lab", workers=1).folder
    if claims is None:
        _write_claims(folder, training_seconds="2 h")
    else:
        (folder / "claims.json").write_bytes(claims)
    with pytest.raises(WorkError, match=r"claims\.json is not what a study writes"):
        studies.reproduce(_study(RUNS), "laptop", tmp_path, tmp_path / "other", add=True, workers=1)
    assert not (tmp_path / "other").exists()


def test_what_nothing_can_be_added_to_stays_as_it_is(tmp_path: Path) -> None:
    folder = studies.reproduce(STUDY, "smoke", tmp_path, tmp_path / "lab", workers=1).folder
    before = {x.name: x.read_bytes() for x in folder.iterdir()}
    with pytest.raises(WorkError, match="rows do not name their runs"):
        studies.reproduce(STUDY, "smoke", tmp_path, tmp_path / "other", add=True, workers=1)
    assert {x.name: x.read_bytes() for x in folder.iterdir()} == before
    shutil.rmtree(folder)

    studies.reproduce(_study(RUNS[:2]), "smoke", tmp_path, tmp_path / "lab", workers=1)
    curves = tables.read(folder / "curves.parquet")
    for name, table in (("curves", curves | {"more": curves["seed"]}), ("extra", curves)):
        tables.write(folder, name, table)
        before = {x.name: x.read_bytes() for x in folder.iterdir()}
        with pytest.raises(WorkError, match="one is missing, or another version wrote them"):
            studies.reproduce(_study(RUNS[:3]), "smoke", tmp_path, tmp_path / "lab", add=True, workers=1)
        assert {x.name: x.read_bytes() for x in folder.iterdir()} == before
        tables.write(folder, "curves", curves)


def test_tables_without_the_precision_are_of_float32(tmp_path: Path) -> None:
    whole = studies.reproduce(_study(RUNS), "laptop", tmp_path / "whole", tmp_path / "lab", workers=1)
    folder = studies.reproduce(_study(RUNS[:2]), "laptop", tmp_path / "parts", tmp_path / "lab", workers=1).folder
    plateaus = tables.read(folder / "plateaus.parquet")
    tables.write(folder, "plateaus", {name: column for name, column in plateaus.items() if name != "precision"})
    studies.reproduce(_study(RUNS), "laptop", tmp_path / "parts", tmp_path / "lab", add=True, workers=1)
    assert contents(folder) == contents(whole.folder)


def test_a_table_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    folder = studies.reproduce(_study(RUNS), "laptop", tmp_path, tmp_path / "lab", workers=1).folder
    (folder / "plateaus.parquet").unlink()
    for add in (True, False):
        with pytest.raises(WorkError, match="have no 'plateaus': a table is missing"):
            if add:
                studies.reproduce(_study(RUNS), "laptop", tmp_path, tmp_path / "lab", add=True, workers=1)
            else:
                studies.judge_again(_study(RUNS), "laptop", tmp_path)


def test_a_run_without_a_row_in_some_table_is_not_lacking(tmp_path: Path) -> None:
    def half(saved: list[Saved]) -> dict[str, dict[str, np.ndarray]]:
        return {
            "plateaus": _runs.plateaus(saved, ()),
            "first": _runs.plateaus([x for x in saved if x.run.seed == 0], ()),
        }

    study = replace(STUDY, data=TrainedData(lambda scale: RUNS, half))
    studies.reproduce(study, "laptop", tmp_path, tmp_path / "lab", workers=1)
    again = studies.reproduce(study, "laptop", tmp_path, tmp_path / "empty", add=True, workers=1)
    assert (again.added, again.runs) == (0, 4)
    assert not times(tmp_path / "empty")
