"""The driver: what exists is not run again, and no fault loses a run, doubles it, or takes another with it."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet

from daybreak.errors import RequestError, WorkError
from daybreak.lab import Lab
from daybreak.lab.compute.driver import Rules
from daybreak.lab.compute.state import State
from daybreak.lab.lock import locked
from daybreak.lab.reading.progress import run_curves
from daybreak.training import Run, Stop
from tests.lab.compute.sweeping import RUNS, carry_out, measurements


def _workers() -> list[int]:
    """The worker processes that this process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"daybreak.lab.compute.local_worker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def _to_each_worker(act: Callable[[int], None]) -> Callable[[State], None]:
    """Do something to every worker, once, as soon as it is there."""
    seen: set[int] = set()

    def on_change(state: State) -> None:
        for process in set(_workers()) - seen:
            seen.add(process)
            act(process)

    return on_change


def _result(lab: Path, run: Run) -> dict:
    return json.loads((lab / "runs" / run.id / "result.json").read_text())


def _indexed(lab: Path) -> set[str]:
    """The runs in the index on disk."""
    return {*parquet.read_table(lab / "index.parquet")["id"].to_pylist()}


def test_what_exists_is_not_run_again(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    shutil.copytree(undisturbed, lab)
    gone = [RUNS[3], RUNS[17]]
    for run in gone:
        shutil.rmtree(lab / "runs" / run.id)
    state = carry_out(lab, programs)
    assert (state.total, state.existing, state.outcomes.total()) == (24, 22, 2)
    assert measurements(lab) == measurements(undisturbed)
    assert _indexed(lab) == {run.id for run in RUNS}
    left_behind = lab / "runs" / RUNS[5].id / "checkpoint.safetensors"
    left_behind.write_bytes(b"of a driver that was killed between a result and the end of its checkpoint")
    again = carry_out(lab, programs)
    assert not left_behind.exists()
    assert (again.existing, again.outcomes.total()) == (24, 0)
    assert not _workers()


def test_company_and_threads_of_tiny_runs_do_not_matter(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    """Half of the runs, so that pairs are others, on two workers."""
    carry_out(tmp_path, programs, workers=2, runs=RUNS[1::2])
    expected = measurements(undisturbed)
    for name, measured in measurements(tmp_path).items():
        assert measured == expected[name]


def test_a_sweep_where_the_system_cannot_fix_cores(
    undisturbed: Path, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: neither this process nor its workers have the calls."""
    for name in ("sched_getaffinity", "sched_setaffinity"):
        monkeypatch.delattr(os, name)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "del os.sched_getaffinity, os.sched_setaffinity\n"
        "pathlib.Path(__file__).with_name('seen').touch()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    state = carry_out(tmp_path / "lab", programs, runs=RUNS[:2])
    assert (tmp_path / "seen").exists(), "the worker had them"
    assert state.outcomes.total() == 2
    assert measurements(tmp_path / "lab").items() <= measurements(undisturbed).items()


def test_a_run_that_raises_takes_no_other_with_it(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    bad = replace(RUNS[0], stop=Stop(budget=2**40, every=2**40))  # a step that no 32-bit number holds
    state = carry_out(tmp_path, programs, runs=[RUNS[0], bad], rules=Rules(retries=1))
    assert state.outcomes == {"emerged": 1, "failed": 1}
    assert "OverflowError" in _result(tmp_path, bad)["traceback"]
    assert (tmp_path / "runs" / RUNS[0].id / "curves.parquet").read_bytes() == measurements(undisturbed)[RUNS[0].id][0]


def test_a_run_that_hangs_is_given_up(programs: Path, tmp_path: Path) -> None:
    forever = replace(RUNS[0], stop=Stop(budget=10**9, every=10**9))
    state = carry_out(tmp_path, programs, runs=[forever], rules=Rules(retries=0, patience=6.0))
    assert state.outcomes == {"failed": 1}
    assert "it sent no message for 6 seconds" in _result(tmp_path, forever)["traceback"]
    assert not _workers()


def test_a_worker_out_of_memory_is_replaced(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    """Address space for an interpreter but not for JAX: always, and the run fails; once, and nothing is lost."""
    scarce = (150 << 20, 150 << 20)
    starve = _to_each_worker(lambda process: resource.prlimit(process, resource.RLIMIT_AS, scarce) and None)
    lost = carry_out(tmp_path / "lost", programs, runs=RUNS[:1], rules=Rules(retries=1), on_change=starve)
    assert lost.outcomes == {"failed": 1}
    assert "The worker died: its process" in _result(tmp_path / "lost", RUNS[0])["traceback"]
    healed = carry_out(tmp_path / "lost", programs, runs=RUNS[:1])
    assert healed.outcomes == {"emerged": 1}, "the same command tries failed runs again"
    assert measurements(tmp_path / "lost")[RUNS[0].id] == measurements(undisturbed)[RUNS[0].id]


def test_a_damaged_checkpoint_means_starting_over(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    lab = Lab(tmp_path).open()
    lab.save_checkpoint(RUNS[0], b"rubbish")
    carry_out(tmp_path, programs, runs=RUNS[:2])
    expected = measurements(undisturbed)
    assert measurements(tmp_path) == {run.id: expected[run.id] for run in sorted(RUNS[:2], key=lambda run: run.id)}


def test_interrupted_it_says_what_is_safe(programs: Path, tmp_path: Path) -> None:
    def interrupt(state: State) -> None:
        if state.outcomes.total() >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        carry_out(tmp_path, programs, on_change=interrupt)
    done = len(list((tmp_path / "runs").glob("*/result.json")))
    begun = len(list((tmp_path / "runs").glob("*/checkpoint.safetensors")))
    assert re.fullmatch(
        f"Interrupted: {done} of 24 runs are done in lab {str(tmp_path)!r}"
        + (f", and {begun} more are saved up to step [0-9]+( to [0-9]+)?" if begun else "")
        + r"\. Run the same command again to go on\.",
        str(stop.value),
    )
    assert not _workers()
    assert len(_indexed(tmp_path)) == done, "readers find a fresh index"


def test_a_lab_in_use_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(RequestError, match=f"is in use: process {os.getpid()} writes to it"):
        carry_out(tmp_path, tmp_path)
    with locked(tmp_path):
        pass


def test_the_lock_dies_with_its_holder(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from daybreak.lab.lock import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RequestError, match=f"process {holder.pid} writes to it"), locked(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("where", ["a_file", "a_file/lab"])
def test_a_lab_that_cannot_be_is_refused(tmp_path: Path, where: str) -> None:
    (tmp_path / "a_file").write_text("")
    with pytest.raises(RequestError, match="a file is in its way"):
        carry_out(tmp_path / where, tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of 200 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    made = subprocess.run(mount, check=False, capture_output=True)
    if made.returncode:
        pytest.skip("mounting a file system needs root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)  # noqa: S607


def test_a_full_disk_stops_the_sweep_and_loses_nothing(undisturbed: Path, programs: Path, small_disk: Path) -> None:
    lab = small_disk / "lab"
    with pytest.raises(WorkError, match=r"No space left on device\): \d+ of 24 runs are done in lab") as full:
        carry_out(lab, programs)
    done = len(list((lab / "runs").glob("*/result.json")))
    assert f": {done} of 24 runs" in str(full.value)
    assert 0 < done < 24
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)  # noqa: S607
    state = carry_out(lab, programs)
    assert (state.existing, state.outcomes.total()) == (done, 24 - done)
    assert measurements(lab) == measurements(undisturbed)


def test_interrupted_workers_send_the_step_that_they_have_reached(programs: Path, tmp_path: Path) -> None:
    """With rules by which no checkpoint would come for hours."""
    long = [replace(run, stop=Stop(budget=2**30, every=10, level=0.0)) for run in RUNS[:2]]
    first: dict[str, int] = {}

    def interrupt(state: State) -> None:
        (assignment,) = state.under_way.values()
        first.update({name: x.step for name, x in assignment.statuses.items()})
        if any(first.values()):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"0 of 2 runs are done .*, and 2 more are saved up to step"):
        carry_out(tmp_path, programs, runs=long, rules=Rules(checkpoint=1e6), on_change=interrupt)
    for run in long:
        assert run_curves(Lab(tmp_path), run.id).steps[-1] >= first[run.id]
    assert not _workers()
