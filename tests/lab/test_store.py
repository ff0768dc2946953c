"""Runs come back as they were saved, once each; what is damaged is set aside and nothing else."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.lab import DamageError, Lab, result
from daybreak.lab._marker import SCRATCH
from daybreak.models import MinimalAttention
from daybreak.tasks import MarkovChain
from daybreak.training import Optimizer, Run, canonical, to_json
from tests.lab import made

FILES = ("run.json", "curves.parquet", "result.json")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "lab").open()


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab of five runs, not to be changed."""
    lab = Lab(tmp_path_factory.mktemp("few") / "lab")
    made.fill(lab)
    return lab.path


def _bytes(lab: Lab) -> dict[str, bytes]:
    """Every file of the runs of a lab, by its place."""
    files = (x for x in (lab.path / "runs").rglob("*") if x.is_file())
    return {str(x.relative_to(lab.path)): x.read_bytes() for x in files}


def _state(folder: Path) -> dict[str, tuple]:
    """Every file and folder: its place, size, time of change, and content."""
    return {
        str(x.relative_to(folder)): (x.lstat().st_mtime_ns, x.lstat().st_size, x.is_file() and x.read_bytes())
        for x in [folder, *sorted(folder.rglob("*"))]
    }


@pytest.mark.parametrize(
    ("run", "record"),
    [
        (made.run(), made.record()),
        (made.recall(), made.record(accuracy=True)),
        (
            Run(MarkovChain(L=2, weights=(0.7, 0.3)), MinimalAttention(), Optimizer(name="adamw", clip=1.0)),
            made.record(accuracy=True, outcome="censored"),
        ),
    ],
)
def test_what_is_saved_comes_back(lab: Lab, run: Run, record) -> None:
    assert not lab.has(run)
    lab.save(run, record, **made.SOURCE)
    assert lab.has(run)
    saved = lab.load(run.id)
    assert (saved.run, saved.result.id, saved.result.outcome) == (run, run.id, record.outcome)
    assert saved.record is not None
    np.testing.assert_array_equal(saved.record.steps, record.steps)
    assert saved.record.curves.keys() == record.curves.keys()
    for name, curve in record.curves.items():
        np.testing.assert_array_equal(saved.record.curves[name], curve, strict=True)
    assert saved.document["provenance"] | made.SOURCE == saved.document["provenance"]
    assert lab.results() == [saved.result]
    assert not list((lab.path / SCRATCH).iterdir())


def test_a_folder_is_named_by_the_digest_of_its_run(lab: Lab) -> None:
    (run,) = made.fill(lab, 1)
    content = (lab.path / "runs" / run.id / "run.json").read_bytes()
    assert content == canonical(run)
    assert json.loads(content) == json.loads(json.dumps(to_json(run)))
    assert hashlib.sha256(content).hexdigest().startswith(run.id)


def test_a_run_is_kept_once(lab: Lab) -> None:
    (run,) = made.fill(lab, 1)
    before = _bytes(lab)
    lab.save(run, made.record(700.0), **made.SOURCE)
    lab.save_failure(run, "too late", **made.SOURCE)
    assert _bytes(lab) == before


def test_the_measurement_is_the_same_bytes_wherever_it_was_made(tmp_path: Path) -> None:
    one, other = (Lab(tmp_path / name).open() for name in "ab")
    one.save(made.run(), made.record(), seconds=1.0, command="one", device="here")
    other.save(made.run(), made.record(), seconds=2.0, command="other", device="there")
    ours, theirs = _bytes(one), _bytes(other)
    assert ours.keys() == theirs.keys()
    for place in ours:
        if place.endswith("result.json"):
            assert ours[place] != theirs[place]
            ours[place], theirs[place] = (x[place].partition(b'"provenance"')[0] for x in (ours, theirs))
        assert ours[place] == theirs[place]


def test_a_failure_is_kept_until_the_run_succeeds(lab: Lab) -> None:
    run = made.run()
    lab.save_checkpoint(run, b"half way")
    lab.save_failure(run, "Traceback: it broke", **made.SOURCE)
    assert not lab.has(run)
    saved = lab.load(run.id)
    assert (saved.record, saved.result.outcome, saved.result.plateau) == (None, "failed", None)
    assert saved.document["traceback"] == "Traceback: it broke"
    assert lab.load_checkpoint(run) == b"half way"
    assert [x.outcome for x in lab.results()] == ["failed"]
    lab.save(run, made.record(), **made.SOURCE)
    assert lab.has(run)
    assert [x.outcome for x in lab.results()] == ["emerged"]
    assert lab.load_checkpoint(run) is None


def test_a_checkpoint_lasts_until_the_run_is_done(lab: Lab) -> None:
    run = made.run()
    assert lab.load_checkpoint(run) is None
    assert lab.unfinished() == []
    for data in (b"", bytes(range(256)) * 1000, b"later"):
        lab.save_checkpoint(run, data)
        assert lab.load_checkpoint(run) == data
    assert not lab.has(run)
    assert (lab.unfinished(), lab.results()) == ([run.id], [])
    lab.save(run, made.record(), **made.SOURCE)
    assert lab.load_checkpoint(run) is None
    assert lab.unfinished() == []


def test_a_checkpoint_left_by_a_writer_killed_at_its_last_step_goes_with_the_next_save(lab: Lab) -> None:
    (run,) = made.fill(lab, 1)
    lab.save_checkpoint(run, b"stale")
    lab.save(run, made.record(), **made.SOURCE)
    assert lab.load_checkpoint(run) is None


def test_what_is_missing_of_many_and_what_is_left_beside_those_that_are_done(lab: Lab) -> None:
    done = made.fill(lab, 3)
    lab.save_failure(made.run(3), "no", **made.SOURCE)
    lab.save_checkpoint(made.run(4), b"on its way")
    lab.save_checkpoint(done[1], b"stale")
    runs = [*done, *(made.run(seed) for seed in (3, 4, 5))]
    assert lab.missing(runs) == runs[3:]
    (lab.path / "index.parquet").write_bytes(b"rubbish")
    assert lab.missing(runs) == runs[3:]
    lab.tidy(runs)
    assert [lab.load_checkpoint(run) for run in runs[1:5]] == [None, None, None, b"on its way"]


def test_reading_makes_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "nowhere")
    assert (lab.results(), lab.unfinished(), lab.damaged(), lab.columns()) == ([], [], [], {})
    assert not lab.has(made.run())
    assert lab.load_checkpoint(made.run()) is None
    assert not lab.path.exists()


@pytest.mark.parametrize("name", ["0123456789abcdef", "", "..", "../../etc", "/etc", "0123"])
def test_an_unknown_name_is_refused(lab: Lab, name: str) -> None:
    made.fill(lab, 1)
    with pytest.raises(RequestError, match="is not among the finished runs of lab"):
        lab.load(name)


def test_ids_may_be_shortened_where_they_stay_unique(few: Path) -> None:
    lab = Lab(few)
    names = [x.id for x in lab.results()]
    assert lab.find(names[0]) == names[0]
    for name in names:
        assert lab.find(name[:8]) == name
    with pytest.raises(RequestError, match=r"no run in lab '.*lab' starts with 'xyz'\."):
        lab.find("xyz")
    with pytest.raises(RequestError, match="at least one character"):
        lab.find("")


def test_an_id_that_is_too_short_is_refused(lab: Lab) -> None:
    made.fill(lab, 17)  # so that two of them start with the same digit
    names = [x.id for x in lab.results()]
    shared = next(x for x in "0123456789abcdef" if sum(name.startswith(x) for name in names) > 1)
    with pytest.raises(RequestError, match=rf"runs in lab .* start with '{shared}', such as .*: give more characters"):
        lab.find(shared)


def test_an_unfinished_run_is_found_too(lab: Lab) -> None:
    made.fill(lab, 1)
    lab.save_checkpoint(made.run(1), b"half way")
    assert lab.find(made.run(1).id[:8]) == made.run(1).id


@pytest.mark.parametrize("place", ["a_file", "a_file/below"])
def test_a_lab_cannot_be_a_file(tmp_path: Path, place: str) -> None:
    (tmp_path / "a_file").write_text("mine")
    with pytest.raises(RequestError, match="is not allowed: a file is in its way"):
        Lab(tmp_path / place).open()
    assert (tmp_path / "a_file").read_text() == "mine"


def test_opening_sweeps_what_killed_writers_left(lab: Lab) -> None:
    (lab.path / SCRATCH / "0011223344556677").write_bytes(b"half a f")
    made.fill(lab, 2)
    assert not list((lab.path / SCRATCH).iterdir())
    assert len(lab.results()) == 2


def test_two_labs_merge_by_copying(tmp_path: Path) -> None:
    one, other = (Lab(tmp_path / name).open() for name in "ab")
    for lab, seeds in ((one, (0, 1, 2)), (other, (2, 3))):
        for seed in seeds:
            lab.save(made.run(seed), made.record(200.0 + seed), **made.SOURCE)
    assert len(one.results()) == 3
    subprocess.run(["cp", "-r", f"{other.path}/runs/.", f"{one.path}/runs/"], check=True)  # noqa: S607
    assert {x.id for x in one.results()} == {made.run(seed).id for seed in range(4)}
    assert one.damaged() == []


@settings(max_examples=60)
@given(
    st.sampled_from(FILES),
    st.integers(0, 4),
    st.sampled_from(["cut", "flip", "remove", "append", "swap"]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_damage_anywhere_is_set_aside_and_harms_nothing_else(
    few: Path, tmp_path_factory: pytest.TempPathFactory, file: str, which: int, how: str, place: int, indexed: bool
) -> None:
    lab = Lab(tmp_path_factory.mktemp("damage") / "lab")
    shutil.copytree(few, lab.path)
    if indexed:
        lab.open().close()
    run = made.run(which)
    path = lab.path / "runs" / run.id / file
    if how == "append":
        path.write_bytes(path.read_bytes() + b"\n")
    elif how == "swap":  # with the same file of another run
        path.write_bytes((lab.path / "runs" / made.run((which + 1) % 5).id / file).read_bytes())
    else:
        made.harm(path, how, place)
    left = bytes(path.read_bytes()) if path.exists() else None

    before, others = _state(lab.path), {made.run(seed).id for seed in range(5) if seed != which}
    reader = Lab(lab.path)
    assert {x.id for x in reader.results()} == others
    found = [(x.folder, file in x.why or how == "swap") for x in reader.damaged()]
    assert found == ([] if (file, how) == ("result.json", "remove") else [(lab.path / "runs" / run.id, True)])
    assert not reader.has(run)
    assert _state(lab.path) == before, "a reader changes nothing"

    lab.open()
    assert {x.id for x in lab.results()} == others
    if (file, how) == ("result.json", "remove"):  # then it looks as it did before it was done
        assert (lab.damaged(), lab.unfinished()) == ([], [run.id])
    else:
        (found,) = lab.damaged()
        assert found.folder == lab.path / "damaged" / f"{run.id}.1"
        assert file in found.why or how == "swap"
        kept = found.folder / file
        assert (kept.read_bytes() if kept.exists() else None) == left, "kept as it was found"
    assert not lab.has(run)
    lab.save(run, made.record(200.0 + 20 * which), **made.SOURCE)
    assert lab.has(run)
    assert len(lab.results()) == 5


def test_damage_that_leaves_size_and_time_alone_is_found_when_the_run_is_read(
    few: Path, tmp_path: Path, caplog
) -> None:
    lab = Lab(shutil.copytree(few, tmp_path / "lab")).open()
    assert len(lab.results()) == 5
    path = lab.path / "runs" / made.run(3).id / "curves.parquet"
    stat = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DamageError, match=r"written; the next command that trains into this lab sets it aside\."):
        Lab(lab.path).load(made.run(3).id)
    with pytest.raises(DamageError, match=r"curves.parquet is not what was written; it was set aside in"):
        lab.load(made.run(3).id)
    assert made.run(3).id in caplog.text
    assert len(lab.results()) == 4


def test_the_same_run_damaged_twice_is_kept_twice(lab: Lab) -> None:
    for text in ("{", "}"):
        (run,) = made.fill(lab, 1)
        (lab.path / "runs" / run.id / "result.json").write_text(text)
        assert not lab.has(run)
    assert [x.folder.name for x in lab.damaged()] == [f"{run.id}.1", f"{run.id}.2"]


def test_a_folder_that_is_not_named_like_a_run_is_left_alone(lab: Lab) -> None:
    (run,) = made.fill(lab, 1)
    shutil.copytree(lab.path / "runs" / run.id, lab.path / "runs" / "a copy")
    (lab.path / "runs" / "notes.txt").write_text("not a run")
    assert [x.id for x in lab.results()] == [run.id]
    assert lab.damaged() == []
    assert (lab.path / "runs" / "a copy" / "result.json").exists()


def test_a_run_of_a_newer_version_is_left_alone_and_reported(lab: Lab, caplog) -> None:
    runs = made.fill(lab, 2)
    path = lab.path / "runs" / runs[0].id / "result.json"
    document = json.loads(path.read_bytes()) | {"schema": result.SCHEMA + 1}
    del document["sha256"]
    path.write_bytes(result.seal(document))
    assert [x.id for x in lab.results()] == [runs[1].id]
    assert "update Daybreak" in caplog.text
    for ask in (lambda: lab.load(runs[0].id), lambda: lab.has(runs[0])):
        with pytest.raises(RequestError, match="has schema 2, and this version reads up to 1: update Daybreak"):
            ask()
    assert path.exists()


def test_reading_a_lab_does_not_wait_for_jax(few: Path) -> None:
    code = (
        "import sys; from daybreak.lab import Lab; assert len(Lab(sys.argv[1]).query()) == 5; "
        "sys.exit(bool({'jax', 'scipy', 'duckdb', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(few)], timeout=60, check=False).returncode == 0
