"""Verbs that read a lab change nothing: no file, no time of a file, no new folder, in a lab or in another folder."""

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from daybreak.advice import law_of_lab
from daybreak.cli import main
from daybreak.errors import RequestError
from daybreak.explorer import Workspace
from daybreak.lab import Lab
from daybreak.studies import find, statuses
from daybreak.training import Stop
from daybreak.training.checkpoint import pack
from tests.lab import made

LAW = ("fit", "--law", "C * d**a")
READERS = [
    ("runs", "list"),
    ("runs", "list", "--json", "--where", "T > 1"),
    ("runs", "show", made.run(0, d=16).id),
    ("runs", "show", made.run(9).id),
    ("runs", "show", made.run(8).id),
    ("runs", "export", "{out}/runs.csv", "--curves"),
    ("runs", "delete", made.run(0, d=16).id),
    LAW,
    ("forecast", made.run(0, d=16).id, "--at", "100"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab whose index is older than its runs, with one that is damaged, one that still trains, one without a level."""
    lab = Lab(tmp_path_factory.mktemp("readers") / "lab").open()
    for d in (16, 32, 64):
        lab.save(made.run(0, d=d), made.record(3.0 * d), **made.SOURCE)
    lab.close()
    lab.open()
    lab.save(made.run(1, d=16), made.record(52.0), **made.SOURCE)
    lab.save(made.run(2, stop=Stop(level=0.0)), made.record(outcome="completed"), **made.SOURCE)
    lab.save(made.run(8), made.record(), **made.SOURCE)
    (lab.path / "runs" / made.run(8).id / "curves.parquet").write_bytes(b"PAR1")
    lab.save_checkpoint(made.run(9), pack(made.run(9).id, {}, made.record(count=9).curves))
    return lab.path


def _state(folder: Path) -> dict[str, tuple]:
    """Every file and folder: its place, the time of its last change, and its content."""
    return {
        str(x.relative_to(folder)): (x.lstat().st_mtime_ns, x.lstat().st_mode, x.is_file() and x.read_bytes())
        for x in [folder, *sorted(folder.rglob("*"))]
    }


def _places(lab: Path, tmp_path: Path) -> dict[str, Path]:
    """The lab with and without its index, as an older version left it, empty; somebody's folder; none at all."""
    places = {name: Path(shutil.copytree(lab, tmp_path / name)) for name in ("stale", "unindexed", "unmarked")}
    (places["unindexed"] / "index.parquet").unlink()
    for name in ("daybreak-lab.json", "index.parquet"):
        (places["unmarked"] / name).unlink()
    shutil.rmtree(places["unmarked"] / ".daybreak-scratch")
    Lab(tmp_path / "empty").open()
    foreign = tmp_path / "foreign"
    for name in ("tmp/notes.txt", "runs/exp1/result.json", "runs/0123456789abcdef/result.json", "damaged/1/why.txt"):
        (foreign / name).parent.mkdir(parents=True, exist_ok=True)
        (foreign / name).write_text("precious")
    return places | {"empty": tmp_path / "empty", "foreign": foreign, "nowhere": tmp_path / "nowhere"}


def test_no_reader_changes_anything_anywhere(kept: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    out.mkdir()
    shutil.copy(Path(__file__).parents[2] / "examples" / "small.toml", out)
    places = _places(kept, tmp_path / "places")
    before = _state(tmp_path / "places")
    assert main(["sweep", str(out / "small.toml"), "--dry-run", "--lab", str(places["stale"])]) == 0
    for name, place in places.items():
        for arguments in READERS:
            code = main([x.format(out=out) for x in arguments] + ["--lab", str(place)])
            assert code in (0, 1, 2), arguments
            assert "Traceback" not in capsys.readouterr().err
            assert _state(tmp_path / "places") == before, (name, arguments)
        with suppress(RequestError):
            law_of_lab(Lab(place))  # advise --lab
        statuses([find("fig1a")], out, Lab(place))  # reproduce --list
        workspace = Workspace(place, out)
        workspace.runs()
        workspace.stamp()
        workspace.damaged()
        assert _state(tmp_path / "places") == before, name


def test_a_lab_is_listed_the_same_with_and_without_its_index(kept: Path, tmp_path: Path, capsys) -> None:
    lists = []
    for name, place in _places(kept, tmp_path).items():
        if name in ("stale", "unindexed", "unmarked"):
            assert main(["runs", "list", "--lab", str(place)]) == 0
            lists.append(capsys.readouterr().out.replace(name, "lab"))
    assert len(set(lists)) == 1
    assert "6 runs: 1 unfinished, 4 emerged, 1 completed.\nLeft out: " in lists[0]


def test_a_run_without_a_level_is_no_bound_for_a_law(kept: Path, capsys) -> None:
    assert main([*LAW, "--lab", str(kept), "--json"]) == 0
    said = capsys.readouterr().out
    assert '"runs": 4' in said
    assert '"censored": 0' in said


def test_damage_is_a_sentence(kept: Path, capsys) -> None:
    assert main(["runs", "show", made.run(8).id, "--lab", str(kept)]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "is damaged: curves.parquet is not what was written; the next command that trains into this lab" in err


EMPTY = [
    ("runs", "list"),
    ("runs", "delete", "0", "--yes"),
    LAW,
    ("forecast", "0"),
    ("advise", "--T", "64", "--d", "32"),
    ("reproduce", "fig1a"),
    ("explore",),
    ("sweep", "small.toml"),
    ("train", "toy", "--task.T", "4", "--task.d", "2"),
]


@pytest.mark.parametrize("arguments", EMPTY, ids=lambda x: x[0])
@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_folder_name_is_not_the_current_folder(tmp_path, monkeypatch, capsys, arguments, text) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--lab", text]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "a folder needs a name" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("runs", "list"), LAW, ("train", "toy", "--task.T", "4", "--task.d", "2")])
def test_the_root_folder_is_no_lab(capsys, arguments) -> None:
    before = sorted(Path("/").iterdir())
    assert main([*arguments, "--lab", "/"]) == 2
    err = capsys.readouterr().err
    assert "there is no lab in folder '/'" in err or "is not a lab" in err
    assert sorted(Path("/").iterdir()) == before
