"""The local executor: worker processes of this machine, each on its own cores.

A worker is a new interpreter at the other end of a socket. Its cores are fixed before JAX starts, and JAX uses one
thread for each. The number of threads decides the order of sums, and so the last bits of a measurement: it is a setting
(one by default), and does not depend on the machine or its load.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

from daybreak import _machine
from daybreak.lab.compute._frames import send, take
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.messages import Died, Ended, Job, Started, decode, encode
from daybreak.lab.compute.programs import cache_variables, program_cache

_PATIENCE = 60.0  # seconds for a worker to receive a job; it always listens, so a slower one is stopped or swapped out
_CHUNK = 1 << 20


@final
class LocalExecutor:
    """Worker processes on this machine, started when they are needed and replaced when they die."""

    def __init__(self, workers: int | None = None, threads: int = 1, cache: Path | None = None):
        """Nothing is started yet.

        Args:
            workers: processes at a time; by default the number of cores divided by `threads`.
            threads: threads of each worker.
            cache: folder for compiled programs, so that no worker compiles them again; by default `program_cache()`.
        """
        self._cores = _machine.cores()
        self._threads = min(threads, len(self._cores))
        self._slots: list[_Worker | None] = [None] * (workers or max(1, len(self._cores) // self._threads))
        self._cache = cache or program_cache()
        self._selector = selectors.DefaultSelector()
        self._events: list[Event] = []

    def open(self) -> None:
        """Workers are started when there is work."""

    def close(self) -> None:
        """Kill all workers."""
        for slot in range(len(self._slots)):
            self._end(slot)

    @property
    def workers(self) -> int:
        """Processes at a time."""
        return len(self._slots)

    @property
    def memory(self) -> float:
        """An equal part of 80 % of this machine's memory."""
        return 0.8 * _machine.memory() / self.workers

    @property
    def at_once(self) -> float:
        """One per core of a worker."""
        return self._threads

    def submit(self, number: int, job: Job) -> None:
        """Give a job to a worker that has none."""
        slot = next(i for i, worker in enumerate(self._slots) if worker is None or worker.job is None)
        worker = self._slots[slot] or self._start(slot)
        worker.job = number
        self._events.append(Event(number, Started(f"worker {slot + 1}")))
        try:
            worker.socket.settimeout(_PATIENCE)
            send(worker.socket, encode(job))
        except OSError as error:
            self._lose(slot, str(error))

    def events(self, timeout: float) -> Sequence[Event]:
        """Messages that workers have sent."""
        for key, _ in self._selector.select(0 if self._events else timeout):
            self._receive(key.data)
        events, self._events = self._events, []
        return events

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Each worker ends its step and sends checkpoints; one that takes longer is left to `close`."""
        for worker in self._slots:
            if worker is not None and worker.job is not None:
                worker.interrupt()
        end = time.monotonic() + seconds
        while any(worker is not None and worker.job is not None for worker in self._slots) and time.monotonic() < end:
            yield from self.events(0.1)

    def kill(self, number: int) -> None:
        """Kill the worker that has the job."""
        for slot, worker in enumerate(self._slots):
            if worker is not None and worker.job == number:
                self._end(slot)

    def _start(self, slot: int) -> "_Worker":
        cores = [self._cores[(slot * self._threads + i) % len(self._cores)] for i in range(self._threads)]
        worker = self._slots[slot] = _Worker(cores, self._environment())
        self._selector.register(worker.socket, selectors.EVENT_READ, slot)
        return worker

    def _environment(self) -> dict[str, str]:
        threads = str(self._threads)
        return {
            **os.environ,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            **_machine.thread_limit(self._threads),  # where cores cannot be fixed
            **cache_variables(self._cache),
        }

    def _receive(self, slot: int) -> None:
        worker = self._slots[slot]
        assert worker is not None  # noqa: S101
        try:
            data = worker.socket.recv(_CHUNK)
        except OSError:
            data = b""
        if not data:
            self._lose(slot, worker.why())
            return
        worker.received += data
        while worker.job is not None and (frame := take(worker.received)) is not None:
            message = decode(frame)
            self._events.append(Event(worker.job, message))
            if isinstance(message, Ended):
                worker.job = None

    def _lose(self, slot: int, why: str) -> None:
        worker = self._slots[slot]
        if worker is not None and worker.job is not None:
            self._events.append(Event(worker.job, Died(why)))
        self._end(slot)

    def _end(self, slot: int) -> None:
        worker, self._slots[slot] = self._slots[slot], None
        if worker is not None:
            self._selector.unregister(worker.socket)
            worker.end()


class _Worker:
    """A process and the socket to it."""

    def __init__(self, cores: Sequence[int], environment: dict[str, str]):
        self.job: int | None = None
        self.received = bytearray()
        self.socket, other = socket.socketpair()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        with other:
            self._process = subprocess.Popen(  # noqa: S603 (our own module, and numbers)
                # -P: a file in the working directory must not replace a module.
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "daybreak.lab.compute.local_worker",
                    str(other.fileno()),
                    *map(str, cores),
                ],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the driver
            )

    def why(self) -> str:
        """How the process ended, and the end of its output."""
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed its socket"
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - 4000))
        return f"its process {how}\n{self._output.read().decode(errors='replace')}".rstrip()

    def interrupt(self) -> None:
        """As Ctrl-C would, which does not reach it: `work` then yields checkpoints."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Kill it, if it still runs."""
        self._process.kill()
        self._process.wait()
        self.socket.close()
        self._output.close()
