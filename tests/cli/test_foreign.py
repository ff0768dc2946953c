"""Folders of somebody else: after any verb, every file in them has the same bytes at the same place, and no new one is there.

Hypothesis draws the folders: names that a lab has too, names of runs, links, pipes, hidden files; alone or inside a real lab.
"""

import os
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from daybreak.cli import main
from daybreak.errors import RequestError
from daybreak.explorer import Workspace
from daybreak.lab import Lab
from daybreak.lab._marker import is_id
from tests.lab import made
from tests.lab.compute.sweeping import TOY

RUN = made.run(0).id
NAMES = (
    "notes.txt",
    "tmp",
    "tmp/notes.txt",
    "runs",
    "runs/exp1/result.json",
    "runs/exp1/run.json",
    f"runs/{RUN}",
    "runs/0123456789abcdef",
    "runs/0123456789abcdef/result.json",
    "runs/0123456789abcdef/run.json",
    "runs/0123456789abcdef/checkpoint.safetensors",
    "runs/0123456789abcdef/observed.jsonl",
    "runs/fedcba9876543210/curves.parquet",
    "runs/.hidden",
    "result.json",
    "lab.json",
    "index.parquet",
    "index.sha256",
    ".lock",
    ".daybreak-scratch/part",
    ".hidden",
    "damaged/0123456789abcdef.1/why.txt",
    "damaged/notes",
    "0123456789abcdef",
    "results/emergence/fig3/laptop/claims.json",
    "a name with spaces, ünïcode\nand a line",
)
CONTENTS = (b"", b"precious\n", b"{}", b'{"schema": 1}', b"PAR1", bytes(range(256)))
KINDS = st.one_of(st.sampled_from(CONTENTS), st.sampled_from(["folder", "pipe", "link", "broken link"]))
FOLDERS = st.dictionaries(st.sampled_from(NAMES), KINDS, min_size=1, max_size=7)

READERS = (
    ("runs", "list"),
    ("runs", "list", "--where", "T > 1"),
    ("runs", "show", "0"),
    ("runs", "show", RUN),
    ("fit", "--law", "C * T**a"),
    ("forecast", RUN),
    ("sweep", "{toy}", "--dry-run", "--workers", "1"),
    ("runs", "export", "../runs.csv", "--curves"),
)
WRITERS = (
    ("train", "toy", "--task.T", "4", "--task.d", "2", "--stop.budget", "10", "--stop.every", "10"),
    ("sweep", "{toy}", "--workers", "1"),
    ("reproduce", "fig15", "--scale", "smoke"),
    ("runs", "import", "{csv}"),
)
SECONDS = 60  # generous


class Hang(BaseException):
    """Not an Exception: the command would make a sentence of it."""


@contextmanager
def _no_hang() -> Iterator[None]:
    def hangs(*_) -> None:
        raise Hang(f"it took longer than {SECONDS} seconds")

    usual = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)


def _make(folder: Path, drawn: dict[str, bytes | str], secret: Path) -> None:
    """What was drawn, as far as one name does not stand in the way of another."""
    for name, kind in sorted(drawn.items()):
        place = folder / name
        with suppress(FileExistsError, NotADirectoryError):
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists() or place.is_symlink():
                continue
            match kind:
                case bytes():
                    place.write_bytes(kind)
                case "folder":
                    place.mkdir()
                case "pipe":
                    os.mkfifo(place)
                case "link":
                    place.symlink_to(secret)
                case _:
                    place.symlink_to("nowhere")


def _snapshot(folder: Path) -> dict[str, tuple[int, bytes | str, int]]:
    """Every name below a folder: its kind, its content, and when that was written."""
    found = {}
    for place in sorted(folder.rglob("*")):
        status = place.lstat()
        content = str(place.readlink()) if place.is_symlink() else b""
        if stat.S_ISREG(status.st_mode):
            content = place.read_bytes()
        is_folder = stat.S_ISDIR(status.st_mode)
        found[str(place.relative_to(folder))] = (status.st_mode, content, 0 if is_folder else status.st_mtime_ns)
    return found


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep file, a file that links point to, and an empty folder to work in."""
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "toy.toml").write_text(TOY)
    (folder / "curves.csv").write_text("step,loss\n0,1\n")
    (folder / "secret").write_text("what lies outside")
    made.fill(Lab(folder / "lab"))
    (folder / "here").mkdir()
    return folder


def _ask(arguments: tuple[str, ...], lab: Path, around: Path) -> int:
    line = [x.format(toy=around / "toy.toml", csv=around / "curves.csv") for x in arguments]
    with _no_hang():
        code = main([*line, "--lab", str(lab)])
    (around / "runs.csv").unlink(missing_ok=True)
    return code


EXAMPLES = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],  # a case is short enough to be read; to shrink it takes long
    database=None,
)


@EXAMPLES
@given(drawn=FOLDERS, arguments=st.sampled_from(READERS + WRITERS))
def test_in_a_folder_that_is_no_lab_nothing_changes(
    drawn, arguments: tuple[str, ...], around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = around / "here" / "theirs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _make(folder, drawn, around / "secret")
    monkeypatch.chdir(around / "here")
    before = _snapshot(around)
    code = _ask(arguments, folder, around)
    assert code in ((2,) if arguments in WRITERS and set(before) - {"here/theirs/.lock"} else (0, 1, 2))
    assert _snapshot(around) == before


@EXAMPLES
@given(drawn=FOLDERS, arguments=st.sampled_from(READERS))
def test_a_reader_changes_nothing_in_a_lab_with_files_of_others(
    drawn, arguments: tuple[str, ...], around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = around / "here" / "lab"
    shutil.rmtree(lab, ignore_errors=True)
    shutil.copytree(around / "lab", lab)
    _make(lab, drawn, around / "secret")
    monkeypatch.chdir(around / "here")
    before = _snapshot(around)
    assert _ask(arguments, lab, around) in (0, 1, 2)
    with _no_hang(), suppress(RequestError):
        workspace = Workspace(lab, around / "here" / "results")
        workspace.runs()
        workspace.damaged()
        workspace.studies()
    assert _snapshot(around) == before


@settings(EXAMPLES, max_examples=5)
@given(drawn=FOLDERS)
def test_a_writer_leaves_files_of_others_in_its_lab_as_they_are(
    drawn, around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = around / "here" / "lab"
    shutil.rmtree(lab, ignore_errors=True)
    shutil.copytree(around / "lab", lab)
    own = set(_snapshot(lab))
    theirs = {x: kind for x, kind in drawn.items() if not x.startswith((".lock", ".daybreak-scratch", "index."))}
    _make(lab, theirs, around / "secret")
    monkeypatch.chdir(around / "here")
    before = _snapshot(lab)
    assert _ask(WRITERS[0], lab, around) in (0, 1, 2)
    after = _snapshot(lab)
    # A folder that is named like a run is one of the lab's; if it is no run it is set aside, and nothing of it is lost.
    places = [x for x in before if x not in own and not is_id(x.split("/")[1] if "/" in x else "")]
    assert {x: after.get(x) for x in places} == {x: before[x] for x in places}
    assert {x: after.get(x) for x in own if RUN in x} == {x: before[x] for x in own if RUN in x}
    assert {x[1] for x in before.values()} <= {x[1] for x in after.values()}


def test_the_drawn_folders_have_something_in_them(around: Path, tmp_path: Path) -> None:
    _make(tmp_path, dict.fromkeys(NAMES, b"precious"), around / "secret")
    assert len(_snapshot(tmp_path)) > 20
