"""Ray for real: two nodes on this machine, one of them killed in the middle of a sweep."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.conduct import Rules, State, conduct
from daybreak.lab.ray import RayExecutor
from tests.lab.sweeping import PAIRS, RUNS, measurements

pytest.importorskip("ray", reason="Ray is not installed: pip install 'daybreak[ray]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]  # Ray leaves files and processes to the garbage collector


class _Cluster:
    """A head and a second node, each with one core."""

    def __init__(self, folder: str, programs: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self._environment = {
            **os.environ,
            "JAX_COMPILATION_CACHE_DIR": str(programs),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        port = self.address.rpartition(":")[2]
        self.head = self._start("--head", f"--port={port}", f"--temp-dir={folder}", "--include-dashboard=false")
        while self._connecting(int(port)):
            time.sleep(0.2)
        self.second = self._start(f"--address={self.address}")

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
        node = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--object-store-memory=80000000"]
        return subprocess.Popen(
            [*ray, *node, *options],
            env=self._environment,
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
        if node.poll() is None:
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()


@pytest.fixture
def cluster(programs: Path) -> Iterator[_Cluster]:
    folder = tempfile.mkdtemp(prefix="ray")  # a short path: Ray's sockets live in it
    made = _Cluster(folder, programs)
    yield made
    for node in (made.second, made.head):
        made.kill(node)
    shutil.rmtree(folder, ignore_errors=True)


def test_a_node_killed_in_the_middle_loses_nothing(
    cluster: _Cluster, undisturbed: Path, programs: Path, tmp_path: Path
) -> None:
    import ray

    nodes: set[str] = set()
    killed: list[int] = []

    def kill_the_second_node(state: State) -> None:
        nodes.update(labour.where for labour in state.under_way.values() if labour.where)
        if not killed and len(nodes) > 1 and state.outcomes.total() >= 4:
            killed.append(state.outcomes.total())
            cluster.kill(cluster.second)

    executor = RayExecutor(cluster.address, workers=2)
    state = conduct(
        RUNS,
        Lab(tmp_path),
        executor,
        command="a test",
        memory=PAIRS,
        rules=Rules(retries=5, checkpoint=0.0),
        on_change=kill_the_second_node,
    )
    assert killed
    assert killed[0] < 24
    assert state.outcomes.total() == 24
    assert not state.outcomes["failed"]
    assert measurements(tmp_path) == measurements(undisturbed), "to the bit, on Ray and on this machine alone"
    assert not ray.is_initialized()


def test_an_address_where_nobody_answers_is_refused(tmp_path: Path) -> None:
    executor = RayExecutor("127.0.0.1:1", workers=1)
    with pytest.raises(RequestError, match="no Ray cluster answers there"):
        conduct(RUNS[:1], Lab(tmp_path), executor, command="a test")
