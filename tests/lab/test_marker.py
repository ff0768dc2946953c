"""What is not a lab's own is never changed, moved or deleted."""

import hashlib
import shutil
from pathlib import Path

import pytest

from daybreak.cli import main
from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab._marker import MARKER, check_lab, is_lab
from tests.lab import made

FROZEN = Path(__file__).parents[1] / "frozen" / "lab"


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(x for x in folder.rglob("*") if x.is_file())
    return {str(x.relative_to(folder)): hashlib.sha256(x.read_bytes()).hexdigest() for x in files}


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of somebody's work, with the names that labs use or used."""
    for name in ("tmp/notes.txt", "runs/exp1/result.json", "runs/0123456789abcdef/result.json", "damaged/x", "lab.py"):
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).write_text("precious")
    return tmp_path / "work"


def test_a_writer_refuses_a_folder_with_other_files_and_changes_nothing(foreign: Path, capsys) -> None:
    before = _digests(foreign)
    assert main(["train", "toy", "--task.T", "4", "--task.d", "2", "--lab", str(foreign)]) == 2
    assert "has other files in it and is not a lab" in capsys.readouterr().err
    with pytest.raises(RequestError, match="is not a lab"):
        Lab(foreign).open()
    assert _digests(foreign) == before


def test_a_reader_leaves_every_file_where_it_is(foreign: Path) -> None:
    before = _digests(foreign)
    lab = Lab(foreign)
    assert lab.query(unfinished=True).num_rows == 0
    assert lab.unfinished() == []
    assert [x.folder for x in lab.damaged()] == [foreign / "runs" / "0123456789abcdef"], "reported, and left alone"
    assert _digests(foreign) == before


def test_a_new_lab_is_marked_and_other_files_in_a_lab_stay(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    assert (lab.path / MARKER).exists() and is_lab(lab.path)
    (lab.path / "tmp").mkdir()
    (lab.path / "tmp" / "notes.txt").write_text("precious")
    (lab.path / "runs" / "exp1").mkdir()
    (lab.path / "runs" / "exp1" / "result.json").write_text("precious")
    made.fill(Lab(lab.path).open(), 2)
    assert Lab(lab.path).query().num_rows == 2
    assert (lab.path / "tmp" / "notes.txt").read_text() == "precious"
    assert (lab.path / "runs" / "exp1" / "result.json").read_text() == "precious"


def test_a_lab_of_an_older_version_is_one(tmp_path: Path) -> None:
    old = Path(shutil.copytree(FROZEN, tmp_path / "lab"))
    assert not (old / MARKER).exists() and is_lab(old)
    check_lab(old)
    assert Lab(old).open().query().num_rows == 9
