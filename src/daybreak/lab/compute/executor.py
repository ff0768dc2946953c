"""Who computes: the small interface behind which one machine and a cluster look the same."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from daybreak.lab.compute.messages import Job, Message


class Event(NamedTuple):
    """A message about a job."""

    job: int
    message: Message


@runtime_checkable
class Executor(Protocol):
    """Computes jobs, some at a time, and passes on what their workers say.

    The messages of a job arrive in order. The last one is `Ended`, or `Died` if its worker was lost. An executor
    neither retries nor writes: that is the driver's part.
    """

    def open(self) -> None:
        """Be ready to compute."""
        ...

    def close(self) -> None:
        """End every worker, at once."""
        ...

    @property
    def workers(self) -> int:
        """How many jobs are worth submitting at a time."""
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
        """What workers have said; waits so many seconds for the first word."""
        ...

    def kill(self, number: int) -> None:
        """End a job that does not end by itself. No more events come from it."""
        ...
