"""Real faults: killed in the middle of writing, a full disk, a disk that only reads."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab._marker import SCRATCH
from tests.lab import made

# Children save run after run, each of them killed at some moment, when a line comes in. They are forked, because starting
# Python anew costs a second each; their parent does nothing else, so that no thread is forked with it.
KILLED = """
import os, random, signal, sys, time
from daybreak.lab import Lab
from tests.lab import made

lab, runs, record = Lab(sys.argv[1]), [made.run(seed) for seed in range(400)], made.record()
Lab(sys.argv[2]).open().save(runs[0], record, **made.SOURCE)  # imports what a child would import
for _ in sys.stdin:
    child = os.fork()
    if not child:
        lab.open()
        for run in runs:
            if run.seed % 3 == 0 and not lab.has(run):
                lab.save_checkpoint(run, b"x" * 20_000)
            lab.save(run, record, **made.SOURCE)
        os._exit(0)
    time.sleep(random.uniform(0.02, 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("killed", flush=True)
os._exit(0)
"""


def test_killed_at_any_moment_every_run_is_done_or_not_done(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab").open()
    seen: list[set[str]] = []
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(lab.path), str(tmp_path / "other")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(20):
            process.stdin.write("again\n")
            process.stdin.flush()
            assert process.stdout.readline() == "killed\n"
            seen.append({x.id for x in lab.results()})
        process.stdin.close()
    assert process.returncode == 0
    assert not lab.damaged()
    assert all(before <= after for before, after in pairwise(seen)), "nothing is ever lost"
    assert len(seen[-1]) > len(seen[0])
    (lab.path / "index.parquet").unlink()
    assert {x.id for x in lab.results()} == seen[-1], "the index missed nothing"
    for name in seen[-1]:
        record = lab.load(name).record
        assert record is not None
        assert len(record.steps) == 40
    lab.open()
    assert not list((lab.path / SCRATCH).iterdir())


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root, to mount a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def test_a_full_disk_stops_the_saving_and_harms_nothing(disk: Path) -> None:
    lab = Lab(disk / "lab").open()
    saved = []
    with pytest.raises(OSError, match="No space left") as stopped:
        for seed in range(1000):
            lab.save(made.run(seed), made.record(count=200), **made.SOURCE)
            saved.append(made.run(seed).id)
    assert stopped.value.errno == errno.ENOSPC
    assert saved
    assert {x.id for x in lab.results()} == set(saved)
    assert not lab.damaged()
    assert not list((lab.path / SCRATCH).iterdir()), "what could not be written is not left behind"
    with pytest.raises(OSError, match="No space left"):
        lab.save_checkpoint(made.run(2000), b"x" * 600_000)
    assert lab.load_checkpoint(made.run(2000)) is None
    for file in (lab.path / "runs" / saved[0]).iterdir():
        file.unlink()
    lab.save(made.run(len(saved)), made.record(count=5), **made.SOURCE)
    assert {x.id for x in lab.results()} == {*saved[1:], made.run(len(saved)).id}


def test_a_lab_that_can_only_be_read_is_read(disk: Path, caplog) -> None:
    lab = Lab(disk / "lab")
    runs = made.fill(lab, 3)
    (lab.path / "runs" / runs[0].id / "run.json").write_text("{}")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)  # noqa: S607
    try:
        for _ in range(2):
            assert {x.id for x in lab.results()} == {runs[1].id, runs[2].id}
        assert "run.json is not what was written; it could not be set aside" in caplog.text
        assert lab.load(runs[1].id).run == runs[1]
        with pytest.raises(RequestError, match=r"it cannot be written to \(Read-only file system\)"):
            lab.open()
        with pytest.raises(OSError, match="Read-only"):
            lab.save(made.run(9), made.record(), **made.SOURCE)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)  # noqa: S607


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_lab_of_someone_else_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RequestError, match="it cannot be written to"):
            Lab(tmp_path / "lab").open()
    finally:
        tmp_path.chmod(0o700)


def test_another_writer_may_sweep_while_we_write(tmp_path: Path) -> None:
    """Two processes save the same runs, and each keeps sweeping what the other is writing."""
    code = (
        "import sys; from daybreak.lab import Lab; from tests.lab import made; lab = Lab(sys.argv[1])\n"
        "for seed in range(25): lab.open(); lab.save(made.run(seed), made.record(), **made.SOURCE)"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "lab")], stderr=subprocess.PIPE) for _ in "ab"]
    for process in both:
        _, message = process.communicate(timeout=120)
        assert process.returncode == 0, message.decode()
    lab = Lab(tmp_path / "lab")
    assert len(lab.results()) == 25
    assert not lab.damaged()
