"""Drivers and workers killed with SIGKILL at random moments, and started again until the sweep is done."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lab.compute.sweeping import measurements

ROUNDS = int(os.environ.get("DAYBREAK_CRASH_ROUNDS", "4"))  # 20 were seen to pass; they take four minutes of a core


def _start(lab: Path, programs: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lab.compute.sweeping", str(lab), str(programs), str(workers)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def _workers(driver: int) -> list[int]:
    """The workers of a driver: its children."""
    try:
        return [int(x) for x in Path(f"/proc/{driver}/task/{driver}/children").read_text().split()]
    except OSError:  # it is gone
        return []


def _work_done(lab: Path) -> int:
    """Files that a sweep has written: one per unfinished run, two more when it is done."""
    return sum(1 for _ in lab.glob("runs/*/*"))


def _kill(chance: random.Random, driver: subprocess.Popen[str], lab: Path) -> str:
    """Kill the driver, a worker, or both, at a moment between the start and the end of what is left to do."""
    now = _work_done(lab)
    moment = chance.uniform(now - 10, 72)  # before `now` means: while it starts
    delay = chance.uniform(0, 2.0 if moment < now else 0.05)
    while moment > _work_done(lab) and driver.poll() is None:
        time.sleep(0.01)
    time.sleep(delay)
    workers = _workers(driver.pid)
    whom = chance.choice(["driver", "worker", "both"]) if workers else "driver"
    if driver.poll() is None and whom != "driver":
        os.kill(chance.choice(workers), signal.SIGKILL)
    if whom != "worker":
        driver.kill()
    return whom


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(4))  # so that both cores have their part
def test_killed_at_random_moments_the_lab_is_as_if_undisturbed(
    batch: int, undisturbed: Path, programs: Path, tmp_path: Path
) -> None:
    expected = measurements(undisturbed)
    killed = 0
    for i in range(batch, ROUNDS, 4):
        chance = random.Random(i)  # noqa: S311
        lab, workers = tmp_path / str(i), 1 + (i % 10 == 0)
        kills = chance.choice([1, 1, 1, 2])
        while True:
            with _start(lab, programs, workers) as driver:
                while kills and driver.poll() is None:
                    kills -= 1
                    killed += 1
                    if _kill(chance, driver, lab) != "worker":
                        break
                _, message = driver.communicate(timeout=120)
            if driver.returncode == 0:
                break
            assert driver.returncode == -signal.SIGKILL, message
        found = measurements(lab)
        assert list(found) == list(expected), "every run once"
        assert found == expected
        assert not list(lab.glob("runs/*/checkpoint*")), "what is done needs no checkpoint"
        assert not (lab / "damaged").exists()
    assert killed >= ROUNDS // 4
