"""The Ray executor: cohorts on the nodes of a Ray cluster, or of a temporary one on this machine.

A job is a Ray task that yields messages; Ray carries them to the driver, so nodes need no shared disk. Ray's own
retries are off: the driver retries, from checkpoints. Every node needs Daybreak installed, at the driver's version.
"""

import math
import os
import secrets
import socket
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, final

from daybreak import _machine
from daybreak.errors import RequestError
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.messages import Died, Ended, Job, Started, decode, encode
from daybreak.lab.compute.programs import cache_variables, program_cache


@final
class RayExecutor:
    """Tasks of a Ray cluster."""

    def __init__(self, address: str | None = None, workers: int | None = None, threads: int = 1, gpus: float = 0.0):
        """Does not connect yet: `open` does.

        Args:
            address: of a running cluster, such as 10.0.0.1:6379 or "auto"; by default one is started on this machine.
            workers: cohorts trained at the same time; by default as many as fit on the cluster.
            threads: cores for a cohort.
            gpus: GPUs for a cohort; may be a fraction.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray sends no usage statistics
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's future default; without it Ray warns
        if address is None:
            # A temporary cluster listens on this machine only (the name is Ray's; its effect was seen in /proc/net/tcp). It …
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
            if "RAY_AUTH_MODE" not in os.environ:  # … accepts only our token, and stores none
                os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        try:
            import ray  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise RequestError(
                "executor = 'ray' needs Ray, which is not installed. Install Daybreak with its extra 'ray', or pip install ray."
            ) from None
        self._ray: Any = ray
        self._address, self._workers, self._threads, self._gpus = address, workers, threads, gpus
        self._jobs: dict[int, Any] = {}  # the stream of messages of each
        self._task: Any = None

    def open(self) -> None:
        """Connect to the cluster, or start one."""
        ray = self._ray
        options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        if self._address is None:
            options |= {"address": "local", "include_dashboard": False}
            options["num_cpus"] = (self._workers or len(_machine.cores())) * self._threads
        else:
            options["address"] = self._address
        try:
            _check_reachable(self._address)
            with (
                warnings.catch_warnings()
            ):  # of JAX: Ray's processes are forks only until they start their own programs
                warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                ray.init(**options)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            failed = f"connect to a Ray cluster at {self._address!r}" if self._address else "start a Ray cluster"
            raise RequestError(
                f"cannot {failed} ({str(error).splitlines()[0]}). "
                "If a cluster requires a token, set RAY_AUTH_MODE and RAY_AUTH_TOKEN as on its nodes."
            ) from None
        self._check_gpus()
        self._task = ray.remote(_stream).options(
            num_cpus=self._threads, num_gpus=self._gpus, max_retries=0, num_returns="streaming"
        )

    def _check_gpus(self) -> None:
        """Refuse more GPUs than this machine has, where tasks would wait for ever. A cluster may still grow: there they wait."""
        there = self._ray.cluster_resources().get("GPU", 0)
        if self._address is None and self._gpus > there:
            self._ray.shutdown()
            raise RequestError(
                f"gpus = {self._gpus:g} is not allowed: Ray sees {there:g} GPUs on this machine. "
                "--address connects to a cluster that has more."
            )

    def close(self) -> None:
        """Cancel what is under way, and leave the cluster."""
        for number in list(self._jobs):
            self.kill(number)
        self._ray.shutdown()

    @property
    def workers(self) -> int:
        """Cohorts that fit on the cluster now."""
        if self._workers is not None:
            return self._workers
        if not self._ray.is_initialized():
            return max(1, len(_machine.cores()) // self._threads)
        available = self._ray.cluster_resources()
        by_cpu = available.get("CPU", 1) / self._threads
        return max(1, int(min(by_cpu, available.get("GPU", 0) / self._gpus) if self._gpus else by_cpu))

    @property
    def memory(self) -> float:
        """80 % of what the node with the smallest memory per core has for a worker."""
        if not self._ray.is_initialized():
            return math.inf
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return 0.8 * min(node.get("memory", 0) * self._threads / node["CPU"] for node in nodes if node.get("CPU"))

    @property
    def at_once(self) -> float:
        """One per core of a worker, all on a GPU."""
        return math.inf if self._gpus else self._threads

    def submit(self, number: int, job: Job) -> None:
        """Queue a task."""
        self._jobs[number] = self._task.remote(encode(job), self._threads)

    def events(self, timeout: float) -> Sequence[Event]:
        """Messages that tasks have yielded."""
        if not self._jobs:
            return []
        streams = {stream: number for number, stream in self._jobs.items()}
        ready, _ = self._ray.wait(list(streams), num_returns=len(streams), timeout=0)
        if not ready:
            ready, _ = self._ray.wait(list(streams), num_returns=1, timeout=timeout)
        return [Event(streams[stream], self._next(streams[stream], stream)) for stream in ready]

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Nothing: Ray kills a task that is cancelled. What its last checkpoint has is safe."""
        return iter(())

    def kill(self, number: int) -> None:
        """Let Ray kill the task's process."""
        self._ray.cancel(self._jobs.pop(number), force=True)

    def _next(self, number: int, stream: Any) -> Any:
        try:
            message = decode(self._ray.get(next(stream)))
        except (StopIteration, self._ray.exceptions.RayError) as error:
            message = Died(f"{type(error).__name__}: {error}")
        if isinstance(message, Ended | Died):
            del self._jobs[number]
        return message


def _check_reachable(address: str | None) -> None:
    """Raise OSError if nothing listens at the address; Ray itself would wait for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and "//" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()


def _stream(job: bytes, threads: int) -> Iterator[bytes]:
    """The task: messages of a job, as bytes."""
    os.environ |= _machine.thread_limit(threads)  # before JAX starts its threads
    os.environ |= cache_variables(program_cache())  # of this node
    from daybreak.lab.compute.work import answers

    yield encode(Started(f"{socket.gethostname()} {os.getpid()}"))
    for message in answers(job):  # not `yield from`: Ray sometimes calls send() on its generators
        yield encode(message)
