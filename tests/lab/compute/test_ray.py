"""Ray for real: two nodes on this machine, one of them killed in the middle of a sweep."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.end_to_end.test_command import COMMAND
from tests.lab.compute.sweeping import TOY, measurements

pytestmark = pytest.mark.slow


class _Cluster:
    """A head and a second node of one core each, that obey whoever knows a token made for the occasion."""

    def __init__(self, folder: str, programs: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "JAX_COMPILATION_CACHE_DIR": str(programs),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        port = self.address.rpartition(":")[2]
        self.head = self._start("--head", f"--port={port}", f"--temp-dir={folder}", "--include-dashboard=false")
        while self._connecting(int(port)):
            time.sleep(0.2)
        self.second = self._start(f"--address={self.address}")
        while not _processes(self.second, "raylet"):
            time.sleep(0.2)

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
        node = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--object-store-memory=80000000"]
        return subprocess.Popen(
            [*ray, *node, *options],
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _connecting(self, port: int) -> bool:
        with socket.socket() as probe:
            return bool(probe.connect_ex(("127.0.0.1", port)))

    @staticmethod
    def kill(node: subprocess.Popen[bytes]) -> None:
        """All processes of a node, with SIGKILL."""
        for process in _processes(node, ""):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        node.wait()


def _processes(node: subprocess.Popen[bytes], title: str) -> list[int]:
    """The processes of a node whose title has this in it; Ray names workers after what they are at."""
    parents, titles = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            titles[int(entry.name)] = (entry / "cmdline").read_bytes()[:200]

    def of_the_node(process: int) -> bool:
        return process == node.pid or (process in parents and of_the_node(parents[process]))

    return [process for process in titles if title.encode() in titles[process] and of_the_node(process)]


@pytest.fixture
def cluster(programs: Path) -> Iterator[_Cluster]:
    folder = tempfile.mkdtemp(prefix="ray")  # a short path: Ray's sockets live in it
    made = _Cluster(folder, programs)
    yield made
    for node in (made.second, made.head):
        made.kill(node)
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(lab: Path, programs: Path, address: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lab.compute.sweeping", str(lab), str(programs), "2", address]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_a_node_killed_in_the_middle_loses_nothing(
    cluster: _Cluster, undisturbed: Path, programs: Path, tmp_path: Path
) -> None:
    with _sweep(tmp_path, programs, cluster.address, cluster.environment) as driver:
        while driver.poll() is None and not (
            len(list(tmp_path.glob("runs/*/result.json"))) >= 2 and _processes(cluster.second, "ray::_stream")
        ):
            time.sleep(0.01)
        done = len(list(tmp_path.glob("runs/*/result.json")))
        cluster.kill(cluster.second)
        _, message = driver.communicate(timeout=120)
    assert driver.returncode == 0, message
    assert 2 <= done < 24
    assert measurements(tmp_path) == measurements(undisturbed), "to the bit, on Ray and on this machine alone"


def test_a_cluster_for_the_occasion(undisturbed: Path, programs: Path, tmp_path: Path) -> None:
    """The command itself, without an address; two shapes, so that two tasks run at a time."""
    (tmp_path / "toy.toml").write_text(TOY.replace("batch = 8", "batch = [8, 9]"))
    line = ["sweep", "toy.toml", "--executor", "ray", "--workers", "2", "--checkpoint", "0", "--json"]
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(programs)}
    done = subprocess.run(
        [*COMMAND, *line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(" of 48 runs" in line for line in done.stderr.splitlines()), "only progress, on a slow machine"
    assert "failed" not in json.loads(done.stdout)["outcomes"]
    found = measurements(tmp_path / "lab")
    assert len(found) == 48
    assert {name: found[name] for name in measurements(undisturbed)} == measurements(undisturbed)


def test_more_gpus_than_the_machine_has_are_refused(tmp_path: Path) -> None:
    """Ray would let the tasks wait for ever."""
    (tmp_path / "toy.toml").write_text(TOY)
    line = ["sweep", "toy.toml", "--executor", "ray", "--workers", "1", "--gpus", "64"]
    done = subprocess.run([*COMMAND, *line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "gpus = 64 is not allowed: Ray sees" in done.stderr
    assert not (tmp_path / "lab").exists()


def test_an_address_where_nobody_answers_is_refused(programs: Path, tmp_path: Path) -> None:
    with _sweep(tmp_path / "lab", programs, "127.0.0.1:1", dict(os.environ)) as driver:
        _, message = driver.communicate(timeout=120)
    assert driver.returncode == 1
    assert "cannot connect to a Ray cluster at '127.0.0.1:1'" in message
    assert not (tmp_path / "lab").exists()
