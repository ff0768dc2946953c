"""Slurm for real: a controller and a node on this machine, a job and a driver that are killed in the middle of a sweep."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daybreak.errors import RequestError
from daybreak.lab.compute.slurm import SlurmExecutor
from tests.end_to_end.test_command import COMMAND
from tests.lab.compute.sweeping import TOY, measurements

_NEEDED = ("munged", "slurmctld", "slurmd", "sbatch")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(x, path=f"{os.environ['PATH']}:/usr/sbin") for x in _NEEDED) or os.geteuid() != 0,
        reason="needs Debian's slurm-wlm and munge, and root to start them",
    ),
]


@pytest.fixture(scope="module")
def slurm() -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands talk to a cluster made for the occasion: this machine, two cores, loopback."""
    folder = Path(tempfile.mkdtemp(prefix="slurm"))  # a short path: the sockets live in it
    (folder / "key").write_bytes(secrets.token_bytes(1024))
    (folder / "key").chmod(0o400)
    host, (controller, node) = socket.gethostname(), _free_ports()
    (folder / "slurm.conf").write_text(f"""
ClusterName=daybreak
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthInfo=socket={folder}/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=2000
PartitionName=main Nodes=ALL Default=YES
""")
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    files = {
        "key-file": "key",
        "socket": "munge",
        "pid-file": "munge.pid",
        "log-file": "munge.log",
        "seed-file": "seed",
    }
    munge = ["munged", "--foreground", "--force", *(f"--{option}={folder / name}" for option, name in files.items())]
    daemons = []
    try:
        for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            with (folder / f"{command[0]}.out").open("wb") as output:
                daemons.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output))
            time.sleep(0.5)
        _wait(lambda: "idle" in _slurm(environment, "sinfo", "--noheader", "--format=%T"))
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.kill()
            daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as other:
        for x in (one, other):
            x.bind(("127.0.0.1", 0))
        return [x.getsockname()[1] for x in (one, other)]


def _slurm(environment: dict[str, str], *command: str) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def _wait(condition: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def _running(environment: dict[str, str]) -> list[str]:
    return _slurm(environment, "squeue", "--noheader", "--states=RUNNING", "--format=%i").split()


def _done(lab: Path) -> int:
    return len(list(lab.glob("runs/*/result.json")))


def _driver(lab: Path, programs: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.lab.compute.sweeping", str(lab), str(programs), "2", "slurm"]
    environment = {**environment, "JAX_COMPILATION_CACHE_DIR": str(programs)}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_a_job_and_a_driver_killed_in_the_middle_lose_nothing(
    slurm: dict[str, str], undisturbed: Path, programs: Path, tmp_path: Path
) -> None:
    with _driver(tmp_path, programs, slurm) as driver:
        _wait(lambda: driver.poll() is not None or (_done(tmp_path) >= 2 and _running(slurm)))
        driver.send_signal(signal.SIGKILL)
    before = _done(tmp_path)
    assert 2 <= before < 24
    assert list(tmp_path.glob(".daybreak-slurm/*/*.id")), "its jobs are still known, and go on"
    with _driver(tmp_path, programs, slurm) as driver:
        _wait(lambda: driver.poll() is not None or (_done(tmp_path) > before and _running(slurm)))
        _slurm(slurm, "scancel", "--signal=KILL", "--full", *_running(slurm)[:1])
        _, message = driver.communicate(timeout=300)
    assert driver.returncode == 0, message
    assert measurements(tmp_path) == measurements(undisturbed), "to the bit, on Slurm and on this machine alone"
    assert not (tmp_path / ".daybreak-slurm").exists()
    _wait(lambda: not _running(slurm))


def test_the_command_saves_what_was_reached_when_interrupted(
    slurm: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    (tmp_path / "toy.toml").write_text(TOY.replace("budget = 120", "budget = 9_000_000").replace("0.02", "0.0"))
    line = [
        "sweep",
        "toy.toml",
        "--executor",
        "slurm",
        "--partition",
        "main",
        "--sbatch=--time=60",
        "--checkpoint",
        "9999",
    ]
    environment = {**slurm, "JAX_COMPILATION_CACHE_DIR": str(programs)}
    with subprocess.Popen(
        [*COMMAND, *line], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as command:
        _wait(lambda: command.poll() is not None or list(tmp_path.glob("lab/.daybreak-slurm/*/*.messages")))
        time.sleep(8)
        command.send_signal(signal.SIGTERM)  # Ctrl-C is ignored where tests run in the background
        _, message = command.communicate(timeout=60)
    assert command.returncode == 130, message
    assert "runs are done in lab 'lab', and" in message
    assert list(tmp_path.glob("lab/runs/*/checkpoint.safetensors"))
    _wait(lambda: not _running(slurm))


@pytest.mark.parametrize(
    ("line", "path", "sentence"),
    [
        (["--partition", "gpu"], None, "partition = 'gpu' is not allowed: Slurm has main."),
        ([], "/nowhere", "executor = 'slurm' is not allowed: there is no command sbatch here."),
    ],
)
def test_a_cluster_that_is_not_there_is_one_sentence(
    slurm: dict[str, str], tmp_path: Path, line: list[str], path: str | None, sentence: str
) -> None:
    (tmp_path / "toy.toml").write_text(TOY)
    done = subprocess.run(
        [*COMMAND, "sweep", "toy.toml", "--executor", "slurm", *line],
        cwd=tmp_path,
        env={**slurm, "PATH": path or slurm["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (tmp_path / "lab").exists()


def test_of_an_answer_with_many_lines_the_last_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sbatch", "sinfo"):
        (tmp_path / name).write_text(
            "#!/bin/sh\necho 'sinfo: error: host' >&2\necho 'sinfo: fatal: no controller' >&2\nexit 1\n"
        )
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match=r"Slurm does not answer \(sinfo: fatal: no controller\)\."):
        _ = SlurmExecutor(tmp_path / "lab").workers
