"""The Slurm executor: each cohort is a batch job, and its messages come back through a folder on a disk that all nodes share.

    LAB/.daybreak-slurm/<token>/alive          its time changes while the driver is there; without it a worker ends by itself
                                <n>.job        what to train, as `messages.encode` writes it
                                <n>.messages   what the worker answers, one frame after the other
                                <n>.out        what its process printed
                                <n>.id         its number in Slurm

Slurm's own commands are called, and nothing is pickled. Slurm's requeueing is off: the driver retries, from checkpoints. The same
folder must be visible on every node, and Daybreak installed in the same place.

    python -m daybreak.lab.compute.slurm FOLDER N THREADS      what a job runs
"""

import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, final

from daybreak import _machine
from daybreak.errors import RequestError, WorkError
from daybreak.lab.compute._frames import frame, take
from daybreak.lab.compute.executor import Event

if TYPE_CHECKING:
    from daybreak.lab.compute.messages import Job, Message

FOLDER = ".daybreak-slurm"
_POLL = 0.2  # seconds between two looks for messages
_ASK = 5.0  # seconds between two questions to Slurm's controller: it serves many
_LATE = 10.0  # seconds for the last messages of a job that has ended: a network disk may be behind
_ALIVE = 10.0  # seconds between two signs of life of the driver …
_ORPHANED = 600.0  # … and without one, after which a worker ends
_NOTICE = 60  # seconds before a job's time limit in which it sends checkpoints
_TAIL = 4000  # characters of a job's output that explain its end


@final
class SlurmExecutor:
    """Batch jobs of a Slurm cluster."""

    def __init__(
        self,
        lab: Path,
        workers: int | None = None,
        threads: int = 1,
        gpus: int = 0,
        partition: str = "",
        options: Sequence[str] = (),
    ):
        """Nothing is submitted yet.

        Args:
            lab: folder of the lab, on a disk that all nodes share.
            workers: jobs at a time; by default the partition's cores divided by `threads`.
            threads: cores of each job.
            gpus: of each job.
            partition: of Slurm; its default one if empty.
            options: further options of `sbatch`, such as `--time=60`.
        """
        self._folder = lab.absolute() / FOLDER / secrets.token_hex(8)
        self._workers, self._threads, self._gpus = workers, threads, gpus
        self._partition, self._options = partition, tuple(options)
        self._jobs: dict[int, _BatchJob] = {}
        self._asked = self._alive = 0.0

    def open(self) -> None:
        """Check that Slurm answers, and has the partition."""
        self._nodes  # noqa: B018  (raises)

    def close(self) -> None:
        """Cancel all jobs, and remove their folder."""
        _cancel([job.id for job in self._jobs.values()])
        self._jobs.clear()
        _remove(self._folder)

    @property
    def workers(self) -> int:
        """Jobs at a time."""
        return self._workers or max(1, sum(count * cores for count, cores, _ in self._nodes) // self._threads)

    @property
    def memory(self) -> float:
        """80 % of the memory that goes with the cores of a job, on the node with the least; this machine's if Slurm knows none."""
        known = [size / cores for _, cores, size in self._nodes if size > 1]  # Slurm's default is one megabyte
        each = 1e6 * min(known) if known else _machine.memory() / len(_machine.cores())
        return 0.8 * each * self._threads

    @property
    def at_once(self) -> float:
        """One per core of a job, all on a GPU."""
        return float("inf") if self._gpus else self._threads

    def submit(self, number: int, job: "Job") -> None:
        """Write the job to the folder, and give it to Slurm."""
        from daybreak.lab.compute.messages import encode

        if not self._folder.exists():
            _cancel_left_behind(self._folder.parent)  # the lab is locked: no other driver is there
            self._folder.mkdir(parents=True)
        self._sign_of_life()
        (self._folder / f"{number}.job").write_bytes(encode(job))
        slurm_id = _call(self._command(number)).partition(";")[0].strip()
        (self._folder / f"{number}.id").write_text(slurm_id)
        self._jobs[number] = _BatchJob(slurm_id, self._folder / f"{number}.messages")

    def events(self, timeout: float) -> Sequence[Event]:
        """Messages that workers have written."""
        self._sign_of_life()
        end = time.monotonic() + timeout
        while not (events := [event for number in list(self._jobs) for event in self._received(number)]):
            self._ask()
            if time.monotonic() >= end:
                break
            time.sleep(_POLL)
        return events

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Each worker ends its step and writes checkpoints; one that takes longer is left to `close`."""
        _call(["scancel", "--quiet", "--batch", "--signal=INT", *(job.id for job in self._jobs.values())], check=False)
        end = time.monotonic() + seconds
        while self._jobs and time.monotonic() < end:
            yield from self.events(min(_POLL, seconds))

    def kill(self, number: int) -> None:
        """Cancel the job."""
        _cancel([self._jobs.pop(number).id])

    def _command(self, number: int) -> list[str]:
        # -P: a file in the working directory must not replace a module.
        module = [sys.executable, "-P", "-m", "daybreak.lab.compute.slurm"]
        worker = shlex.join([*module, str(self._folder), str(number), str(self._threads)])
        return [
            *("sbatch", "--parsable", "--job-name=daybreak", "--no-requeue", f"--signal=B:INT@{_NOTICE}"),
            *(f"--output={self._folder / f'{number}.out'}", f"--cpus-per-task={self._threads}"),
            *([f"--partition={self._partition}"] if self._partition else []),
            *([f"--gpus={self._gpus}"] if self._gpus else []),
            *self._options,
            f"--wrap=exec {worker}",
        ]

    def _received(self, number: int) -> Iterator[Event]:
        """Messages of a job that have arrived; the last one is `Ended`, or `Died` if the job has ended without it."""
        from daybreak.lab.compute.messages import Died, Ended

        job = self._jobs[number]
        for message in job.messages():
            yield Event(number, message)
            if isinstance(message, Ended):
                del self._jobs[number]
                return
        if job.gone is not None and time.monotonic() - job.gone > _LATE:
            del self._jobs[number]
            yield Event(
                number, Died(f"Slurm's job {job.id} has ended.\n{_tail(self._folder / f'{number}.out')}".rstrip())
            )

    def _ask(self) -> None:
        """Note which jobs Slurm no longer has. If its controller does not answer, nothing is known."""
        if time.monotonic() - self._asked < _ASK:
            return
        self._asked = time.monotonic()
        with suppress(WorkError):
            there = set(_call(["squeue", "--me", "--noheader", "--format=%i"]).split())
            for job in self._jobs.values():
                job.gone = None if job.id in there else job.gone or time.monotonic()

    def _sign_of_life(self) -> None:
        if time.monotonic() - self._alive > _ALIVE and self._folder.exists():
            (self._folder / "alive").touch()
            self._alive = time.monotonic()

    @cached_property
    def _nodes(self) -> list[tuple[int, int, float]]:
        """The partition's nodes: how many of a kind, cores and megabytes of each."""
        if shutil.which("sbatch") is None:
            raise RequestError(
                "executor = 'slurm' is not allowed: there is no command sbatch here. Start the sweep on a machine of a Slurm cluster."
            )
        try:
            lines = _call(["sinfo", "--noheader", "--format=%R %D %c %m"]).splitlines()
            default = _call(["sinfo", "--noheader", "--format=%P"]).split()
        except WorkError as error:
            why = str(error).splitlines()[-1]
            raise RequestError(f"executor = 'slurm' is not allowed: Slurm does not answer ({why}).") from None
        chosen = self._partition or next((x.rstrip("*") for x in default if x.endswith("*")), "")
        rows = [line.split() for line in lines]
        nodes = [
            (int(count), int(cores.rstrip("+")), float(size.rstrip("+")))
            for name, count, cores, size in rows
            if name == chosen
        ]
        if not nodes:
            there = ", ".join(sorted({name for name, *_ in rows})) or "none"
            raise RequestError(f"partition = {chosen!r} is not allowed: Slurm has {there}.")
        return nodes


@final
class _BatchJob:
    """A job that was given to Slurm, and how far its messages were read."""

    def __init__(self, slurm_id: str, file: Path):
        self.id, self._file = slurm_id, file
        self.gone: float | None = None  # when Slurm was first seen not to have it, by the monotonic clock
        self._at, self._buffer = 0, bytearray()

    def messages(self) -> Iterator:
        """Those that have arrived completely since the last call."""
        from daybreak.lab.compute.messages import decode

        with suppress(FileNotFoundError), self._file.open("rb") as file:
            file.seek(self._at)
            new = file.read()
            self._at += len(new)
            self._buffer += new
        while (content := take(self._buffer)) is not None:
            yield decode(content)


def _call(command: Sequence[str], *, check: bool = True) -> str:
    """What a command of Slurm prints.

    Raises:
        WorkError: it failed; the message is what it said.
    """
    done = subprocess.run(list(command), capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 (Slurm's commands)
    if check and done.returncode:
        raise WorkError(f"{command[0]}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def _cancel(ids: Sequence[str]) -> None:
    if ids:
        _call(["scancel", "--quiet", *ids], check=False)


def _cancel_left_behind(parent: Path) -> None:
    """Cancel the jobs of a driver that was killed, and remove its folder."""
    for folder in parent.glob("*"):
        _cancel([file.read_text() for file in folder.glob("*.id")])
        _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # another one may be there, or none ever was
        folder.parent.rmdir()


def _tail(file: Path) -> str:
    try:
        return file.read_text(errors="replace")[-_TAIL:]
    except OSError:
        return ""


def _work(folder: Path, number: str, threads: int) -> None:
    """A job: train, and write each message to the folder, until the driver gives no sign of life any more."""
    os.environ |= _machine.thread_limit(threads)  # before JAX starts its threads
    from daybreak.lab.compute.messages import Started, encode
    from daybreak.lab.compute.programs import cache_variables, program_cache
    from daybreak.lab.compute.work import answers, deliver

    os.environ |= cache_variables(program_cache())  # of this node
    driver = _Driver(folder / "alive")
    with (folder / f"{number}.messages").open("ab") as file:

        def send(message: "Message") -> None:
            file.write(frame(encode(message)))
            file.flush()
            if not driver.is_there():
                sys.exit("The driver has gone.")

        send(Started(f"{socket.gethostname()} job {os.environ.get('SLURM_JOB_ID', '?')}"))
        deliver(answers((folder / f"{number}.job").read_bytes()), send)


@final
class _Driver:
    """The driver, as a worker sees it: clocks of two machines are not compared, only whether the time of its file changes."""

    def __init__(self, file: Path):
        self._file, self._seen, self._at = file, 0, time.monotonic()

    def is_there(self) -> bool:
        """Whether it gave a sign of life in the last minutes; not if its folder is gone."""
        try:
            now = self._file.stat().st_mtime_ns
        except OSError:
            return False
        if now != self._seen:
            self._seen, self._at = now, time.monotonic()
        return time.monotonic() - self._at < _ORPHANED


if __name__ == "__main__":
    _work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
