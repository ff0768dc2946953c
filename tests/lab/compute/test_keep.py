"""Files to keep: part of the job and not of the run, the same through every executor, checked against the stored record."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from daybreak.cli import main
from daybreak.errors import RequestError
from daybreak.lab import DamageError, Lab
from daybreak.lab._files import sha256
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.inline import InlineExecutor
from daybreak.lab.result import seal
from daybreak.training import Stop
from tests.lab.compute.sweeping import RUNS, carry_out, measurements

RUN = RUNS[0]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab of one run that has kept everything; not to be changed."""
    lab = Lab(tmp_path_factory.mktemp("kept") / "lab")
    train_missing([RUN], lab, InlineExecutor(), command="a test", keep=("parameters", "maps"))
    return lab.path


def test_the_network_of_a_run_gives_its_loss(kept: Path) -> None:
    saved = Lab(kept).load(RUN.id)
    model = saved.model()
    examples = model.examples()
    outputs = model(examples.inputs)
    assert outputs.shape == (32, 1, 2)
    loss = np.mean(np.sum((outputs[:, 0] - examples.target) ** 2, axis=1)) / 2
    assert loss == pytest.approx(saved.result.final["clean_loss"], rel=1e-5)
    np.testing.assert_allclose(model(examples.inputs[0]), outputs[0], rtol=1e-6)
    assert model.attention(examples.inputs)[0].shape == (32, 1, 1, 4)
    np.testing.assert_allclose(model.attention(examples.inputs)[0].sum(axis=-1), 1, rtol=1e-5)
    with pytest.raises(RequestError, match=r"inputs of shape \(3, 2\).*sequences of shape \(4, 2\)"):
        model(np.zeros((3, 2)))


def test_what_is_kept_is_no_part_of_the_run(kept: Path, undisturbed: Path) -> None:
    """The same record and the same result, but for the digests of the files."""
    curves, result = measurements(kept)[RUN.id]
    expected, plain = measurements(undisturbed)[RUN.id]
    assert curves == expected
    document, other = json.loads(result), json.loads(plain)
    assert document.pop("files").keys() - other.pop("files").keys() == {"parameters.safetensors", "maps.safetensors"}
    assert document == other


def test_a_finished_run_that_lacks_them_is_trained_again_to_the_same_bits(
    kept: Path, undisturbed: Path, programs: Path, tmp_path: Path
) -> None:
    """By worker processes: the files come through their messages."""
    shutil.copytree(undisturbed / "runs" / RUN.id, tmp_path / "lab" / "runs" / RUN.id)
    lab = Lab(tmp_path / "lab")
    with pytest.raises(RequestError, match=f"run {RUN.id} has not kept its parameters: give --keep parameters"):
        lab.load(RUN.id).model()
    before = lab.load(RUN.id).document
    state = carry_out(lab.path, programs, runs=[RUN], keep=("parameters", "maps"))
    assert (state.existing, state.outcomes.total()) == (0, 1)
    for name in ("parameters.safetensors", "maps.safetensors"):
        assert (lab.path / "runs" / RUN.id / name).read_bytes() == (kept / "runs" / RUN.id / name).read_bytes()
    after = lab.load(RUN.id).document
    assert after["files"].items() > before["files"].items()
    assert after["provenance"] == before["provenance"]
    assert lab.load_checkpoint(RUN) is None
    again = carry_out(lab.path, programs, runs=[RUN], keep=("maps",))
    assert again.existing == 1


def test_another_record_is_not_mixed_with_the_stored_one(kept: Path, tmp_path: Path, caplog) -> None:
    """Stored by a machine whose last bits are others."""
    lab = Lab(tmp_path).open()
    record = Lab(kept).load(RUN.id).record
    assert record is not None
    other = replace(record, curves=record.curves | {"clean_loss": record.curves["clean_loss"] * np.float32(1 + 1e-6)})
    lab.save(RUN, other, seconds=1.0, command="daybreak elsewhere", device="another")
    before = (tmp_path / "runs" / RUN.id / "result.json").read_bytes()
    state = train_missing([RUN], lab, InlineExecutor(), command="a test", keep=("parameters",))
    assert state.outcomes == {"failed": 1}
    assert "its record is not the one in the lab" in caplog.text
    assert "'another' by 'daybreak elsewhere'" in caplog.text
    assert (tmp_path / "runs" / RUN.id / "result.json").read_bytes() == before
    assert not (tmp_path / "runs" / RUN.id / "parameters.safetensors").exists()


def test_a_damaged_file_is_noticed_and_made_again(kept: Path, tmp_path: Path) -> None:
    lab = Lab(shutil.copytree(kept, tmp_path / "lab"))
    file = lab.path / "runs" / RUN.id / "maps.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    with pytest.raises(DamageError, match=r"maps\.safetensors is not what was written\. Delete that file"):
        lab.load(RUN.id).maps()
    assert lab.has(RUN), "its record is undamaged"
    file.unlink()
    train_missing([RUN], lab, InlineExecutor(), command="a test", keep=("maps",))
    assert file.read_bytes() == (kept / "runs" / RUN.id / "maps.safetensors").read_bytes()


def test_with_another_budget_they_are_reused_or_go_on(kept: Path, tmp_path: Path) -> None:
    lab = Lab(shutil.copytree(kept, tmp_path / "lab"))
    longer = replace(RUN, stop=replace(RUN.stop, budget=5000))
    state = train_missing([longer], lab, InlineExecutor(), command="a test", keep=("maps", "parameters"))
    assert state.reused == 1
    assert lab.load(longer.id).kept("maps") == lab.load(RUN.id).kept("maps")
    budgets = [replace(RUN, stop=Stop(budget=x, every=10, level=0.0)) for x in (25, 60)]
    for run in budgets:
        train_missing([run], lab, InlineExecutor(), command="a test", keep=("maps", "parameters"))
    assert lab.load(budgets[1].id).document["provenance"]["from_run"] == budgets[0].id
    fresh = Lab(tmp_path / "fresh")
    train_missing(budgets[1:], fresh, InlineExecutor(), command="a test", keep=("maps", "parameters"))
    for what in ("maps", "parameters"):
        assert lab.load(budgets[1].id).kept(what) == fresh.load(budgets[1].id).kept(what)


def test_the_command_shows_maps_and_exports_parameters(kept: Path, undisturbed: Path, tmp_path: Path, capsys) -> None:
    picture, out = tmp_path / "maps.png", tmp_path / "out"
    assert main(["runs", "show", RUN.id, "--lab", str(kept), "--maps", str(picture)]) == 0
    assert picture.stat().st_size > 10_000
    assert main(["runs", "export", "--parameters", str(out), "--lab", str(kept)]) == 0
    about = json.loads((out / f"{RUN.id}.json").read_text())
    arrays = load_file(out / f"{RUN.id}.safetensors")
    assert about["parameters"] == {name: list(x.shape) for name, x in arrays.items()} == {"a": [4], "W": [2, 2]}
    assert (about["task"]["name"], about["model"]["name"], about["seed"]) == ("single-location", "toy", RUN.seed)
    capsys.readouterr()
    for line, sentence in (
        (["show", RUN.id, "--maps", str(picture)], "has not kept its maps"),
        (["export", "--parameters", str(out)], "none of these runs has kept its parameters"),
        (["export"], "give either a FILE"),
        (["export", "runs.csv", "--parameters", str(out)], "give either a FILE"),
    ):
        assert main(["runs", *line, "--lab", str(undisturbed)]) == 2
        assert sentence in capsys.readouterr().err


def test_parameters_of_a_task_that_is_not_known_here_are_exported(kept: Path, tmp_path: Path, caplog) -> None:
    """A reader loads no file that a lab names, and needs none for this."""
    lab = Lab(shutil.copytree(kept, tmp_path / "lab"))
    settings = json.loads((lab.path / "runs" / RUN.id / "run.json").read_text())
    settings["task"]["name"] = "needle"
    asked = json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()
    name = sha256(asked)[:16]
    folder = (lab.path / "runs" / RUN.id).rename(lab.path / "runs" / name)
    (folder / "run.json").write_bytes(asked)
    document = json.loads((folder / "result.json").read_text())
    document |= {"id": name, "files": document["files"] | {"run.json": sha256(asked)}}
    (folder / "result.json").write_bytes(seal({key: x for key, x in document.items() if key != "sha256"}))
    out = tmp_path / "out"
    assert main(["runs", "export", "--parameters", str(out), "--lab", str(lab.path)]) == 0
    assert json.loads((out / f"{name}.json").read_text())["task"]["name"] == "needle"
    assert load_file(out / f"{name}.safetensors").keys() == {"a", "W"}
    (folder / "parameters.safetensors").write_bytes(b"x")
    assert main(["runs", "export", "--parameters", str(out), "--lab", str(lab.path)]) == 2
    assert "parameters.safetensors is not what was written" in caplog.text
