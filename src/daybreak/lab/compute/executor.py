"""The interface of an executor: one machine and a cluster look the same to the driver."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from daybreak.lab.compute.messages import Job, Message


class Event(NamedTuple):
    """A message about a job."""

    job: int
    message: Message


@runtime_checkable
class Executor(Protocol):
    """Computes jobs, several at a time, and passes on the messages of their workers.

    The messages of a job arrive in order. The last one is `Ended`, or `Died` if its worker was lost. An executor
    neither retries nor writes: the driver does.
    """

    def open(self) -> None:
        """Prepare to compute."""
        ...

    def close(self) -> None:
        """Stop every worker immediately."""
        ...

    @property
    def workers(self) -> int:
        """Jobs that are computed at the same time."""
        ...

    @property
    def memory(self) -> float:
        """Bytes that a worker may plan with."""
        ...

    @property
    def at_once(self) -> float:
        """Members of a cohort that a worker trains at the same time; infinite if all."""
        ...

    def submit(self, number: int, job: Job) -> None:
        """Have a job computed; events about it carry its number."""
        ...

    def events(self, timeout: float) -> Sequence[Event]:
        """Messages of workers; waits at most `timeout` seconds for the first."""
        ...

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Have the workers stop and send what they can within some seconds: checkpoints of the runs in training."""
        ...

    def kill(self, number: int) -> None:
        """Stop a job that does not end by itself. It gives no more events."""
        ...
