"""docs/reference/formats.md says what is in the files: schema numbers, keys, and what happens with a newer one.

`frozen/lab` is a lab of version 0.1.0 (see test_frozen.py), `frozen/0.2.0` one of version 0.2.0, made by its `frozen.toml` with
`--keep parameters maps`. Neither is ever written again.
"""

import json
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

import daybreak
from daybreak.cli import main
from daybreak.errors import RequestError, UnknownKind, WorkError
from daybreak.lab import Lab, _marker, index, result
from daybreak.lab.compute.driver import train_missing
from daybreak.lab.compute.inline import InlineExecutor
from daybreak.studies import results
from daybreak.training import Run, Stop, canonical, checkpoint, from_json, run
from tests.lab import made

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()
FROZEN = Path(__file__).parent / "frozen"
OLD, NEW = FROZEN / "lab", FROZEN / "0.2.0" / "lab"
IN_CODE = {
    "lab": _marker.SCHEMA,
    "run": run.SCHEMA,
    "result": result.SCHEMA,
    "curves": result.SCHEMA,
    "checkpoint": checkpoint.SCHEMA,
    "state": checkpoint.SCHEMA,
    "parameters": result.SCHEMA,
    "maps": result.SCHEMA,
    "index": index.VERSION,
    "claims": results.SCHEMA,
}


def _header(path: Path) -> dict:
    (size,) = struct.unpack_from("<Q", path.read_bytes())
    return json.loads(path.read_bytes()[8 : 8 + size])


def _keys(title: str) -> set[str]:
    """What the table under a heading names."""
    (section,) = re.findall(rf"^### {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return {key for row in section.splitlines() if row.startswith("|") for key in re.findall(r"`(\w+)`", row)}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return Path(shutil.copytree(NEW, tmp_path / "lab"))


def test_the_schema_numbers_of_the_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\w+) \| `[\w.-]+` \| (\d+) \|", PAGE, re.MULTILINE)
    assert {name: int(number) for name, number in rows} == IN_CODE


def test_frozen_files_have_the_numbers_and_keys_of_the_page() -> None:
    assert json.loads((NEW / "daybreak-lab.json").read_text()) == {"schema": IN_CODE["lab"]}
    for folder in (*(OLD / "runs").iterdir(), *(NEW / "runs").iterdir()):
        settings = json.loads((folder / "run.json").read_text())
        assert settings["schema"] == IN_CODE["run"]
        assert settings.keys() <= _keys("run.json")
        if (folder / "result.json").exists():
            document = json.loads((folder / "result.json").read_text())
            assert document["schema"] == IN_CODE["result"]
            assert document.keys() <= _keys("result.json")
            assert document["provenance"].keys() <= _keys("result.json")
    for name, folder in (("checkpoint", OLD), ("state", NEW)):
        files = list(folder.rglob(f"{name}.safetensors"))
        assert files
        for file in files:
            assert json.loads(_header(file)["__metadata__"]["daybreak"])["schema"] == IN_CODE[name]
    kept = _header(next(NEW.rglob("maps.safetensors"))).keys() - {"__metadata__"}
    assert kept <= _keys("maps.safetensors")


def test_every_run_of_version_0_2_0_is_read_with_what_it_kept(lab: Path) -> None:
    table = Lab(lab).query().to_pylist()
    assert sorted(row["outcome"] for row in table) == ["censored", "completed", "emerged", "emerged"]
    assert {row["daybreak"] for row in table} == {"0.2.0"}
    for row in table:
        saved = Lab(lab).load(row["id"])
        assert canonical(saved.run) == (lab / "runs" / row["id"] / "run.json").read_bytes()
        assert saved.record is not None
        assert saved.record.steps[-1] == row["last_step"]
        assert saved.model()(np.zeros((3, 4, 2))).shape == (3, 1, 2)
        assert saved.maps().layers[0].shape[1:] == (8, 1, 1, 4)
    assert Lab(lab).damaged() == []


def test_a_censored_run_of_version_0_2_0_goes_on_with_a_larger_budget(lab: Path) -> None:
    """Promised for the same minor version only; while it holds for later ones too, nothing is lost."""
    (name,) = Lab(lab).query("outcome = 'censored'")["id"].to_pylist()
    old = Lab(lab).load(name).run
    longer = Run(old.task, old.model, old.optimizer, Stop(40, 10, old.stop.level), old.seed, old.batch, old.evaluation)
    state = train_missing([longer], Lab(lab), InlineExecutor(), command="test")
    assert state.continued == 1
    assert Lab(lab).load(longer.id).document["provenance"]["from_run"] == name


def test_claims_of_version_0_1_0_have_no_schema_and_are_read(tmp_path: Path) -> None:
    documents = [x.document for x in results.read_all(ROOT / "results")]
    folder = tmp_path / "emergence" / "fig1c" / "laptop"
    folder.mkdir(parents=True)
    old = json.loads((ROOT / "results" / "emergence" / "fig1c" / "laptop" / "claims.json").read_text())
    old.pop("schema")
    (folder / "claims.json").write_text(json.dumps(old))
    assert [x.document for x in results.read_all(tmp_path)] == [old]
    known = {*re.findall(r"`(\w+)`", next(x for x in PAGE.splitlines() if x.startswith("| `claims.json` | keys")))}
    assert {key for document in documents for key in document} <= known


def test_a_newer_lab_is_not_written_to(lab: Path, capsys) -> None:
    (lab / "daybreak-lab.json").write_text('{"schema": 2}\n')
    before = sorted(lab.rglob("*"))
    with pytest.raises(RequestError, match=r"schema 2, and this version writes 1\). Update Daybreak"):
        Lab(lab).open()
    assert main(["sweep", str(FROZEN / "0.2.0" / "frozen.toml"), "--lab", str(lab), "--workers", "1"]) == 2
    assert main(["train", "toy", "--task.T", "4", "--task.d", "2", "--lab", str(lab)]) == 2
    assert "Update Daybreak" in capsys.readouterr().err
    assert main(["runs", "list", "--lab", str(lab)]) == 0
    assert (lab / "daybreak-lab.json").read_text() == '{"schema": 2}\n'
    assert sorted(lab.rglob("*")) == before


def test_a_newer_run_is_unknown_here() -> None:
    settings = json.loads(next(NEW.rglob("run.json")).read_text()) | {"schema": run.SCHEMA + 1}
    with pytest.raises(UnknownKind, match="schema 2 of a run is not known here"):
        from_json(settings)
    with pytest.raises(RequestError, match="schema = None is not allowed: this version reads 1"):
        from_json({})


def test_a_newer_run_is_listed_shown_and_exported_as_plain_data(tmp_path: Path, capsys) -> None:
    lab = Lab(tmp_path / "lab").open()
    name = made.store(lab, json.loads(canonical(made.run())) | {"schema": run.SCHEMA + 1}, made.record().curves)
    at = ["--lab", str(tmp_path / "lab")]
    for request in (["list"], ["show", name], ["export", str(tmp_path / "runs.csv")]):
        assert main(["runs", *request, *at]) == 0, request
    assert name in (tmp_path / "runs.csv").read_text()
    assert main(["runs", "show", name, *at]) == 0
    assert "schema 2 of a run" in capsys.readouterr().out


def test_newer_claims_are_refused_with_a_sentence(tmp_path: Path) -> None:
    document = json.loads(next((ROOT / "results").glob("*/*/*/claims.json")).read_text())
    for schema, match in (
        (results.SCHEMA + 1, "has schema 2, and this version reads up to 1: update"),
        ("x", "is not"),
    ):
        (tmp_path / "claims.json").write_text(json.dumps(document | {"schema": schema}))
        with pytest.raises(WorkError, match=match):
            results.read(tmp_path)


def test_one_version_for_the_package_the_citation_and_the_changelog() -> None:
    citation = dict(re.findall(r"^([\w-]+): (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    released = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert (citation["version"], citation["date-released"]) == released[0]
    assert released[0][0] == daybreak.__version__
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
