"""The executor that is this process itself: one cohort at a time, on all of its cores."""

import warnings
from collections.abc import Generator, Iterator, Sequence
from typing import final

import jax

from daybreak import _machine
from daybreak.lab.compute.executor import Event
from daybreak.lab.compute.messages import Job, Message, Started
from daybreak.lab.compute.programs import WORTH_KEEPING, program_cache
from daybreak.lab.compute.work import work
from daybreak.training.lanes import at_once


@final
class InlineExecutor:
    """Computes when asked for events. A job that hangs makes this process hang, as with any command."""

    def __init__(self) -> None:
        self._jobs: dict[int, Generator[Message, None, None]] = {}

    def open(self) -> None:
        """Let JAX keep compiled programs. If it cannot, it compiles again: no reason for a warning."""
        jax.config.update("jax_compilation_cache_dir", str(program_cache()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)
        warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache")

    def close(self) -> None:
        """Forget what is under way."""
        self._jobs.clear()

    @property
    def workers(self) -> int:
        """One job at a time."""
        return 1

    @property
    def memory(self) -> float:
        """80 % of this machine's memory."""
        return 0.8 * _machine.memory()

    @property
    def at_once(self) -> float:
        """As `Lanes` does in this process."""
        return at_once()

    def submit(self, number: int, job: Job) -> None:
        """Accept a job."""
        self._jobs[number] = _messages(job)

    def events(self, timeout: float) -> Sequence[Event]:
        """Compute until the next message."""
        for number, messages in list(self._jobs.items()):
            message = next(messages, None)
            if message is not None:
                return [Event(number, message)]
            del self._jobs[number]
        return []

    def interrupt(self, seconds: float) -> Iterator[Event]:
        """Checkpoints of the job under way, however long they take: nobody else could make them."""
        for number, messages in list(self._jobs.items()):
            try:
                message = messages.throw(KeyboardInterrupt)
                while True:
                    yield Event(number, message)
                    message = next(messages)
            except (KeyboardInterrupt, StopIteration):
                continue

    def kill(self, number: int) -> None:
        """Forget a job."""
        self._jobs.pop(number, None)


def _messages(job: Job) -> Generator[Message, None, None]:
    yield Started("this process")
    yield from work(job)
