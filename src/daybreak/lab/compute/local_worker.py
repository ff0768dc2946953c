"""A worker process of the local executor: takes jobs from a socket and sends back messages.

    python -m daybreak.lab.compute.local_worker FD CORE [CORE …]

It ends when the driver does: one of its threads always listens to the socket.
"""

import inspect
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from daybreak import _machine
from daybreak.lab.compute._frames import receive, send

if TYPE_CHECKING:
    from daybreak.lab.compute.messages import Message


def main(arguments: Sequence[str]) -> None:
    """Train jobs until the driver closes the socket."""
    descriptor, *cores = (int(x) for x in arguments)
    _machine.pin(cores)  # before JAX counts the cores
    driver = socket.socket(fileno=descriptor)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(driver, jobs), daemon=True).start()

    from daybreak.lab.compute.work import answers

    while True:
        _send(driver, answers(jobs.get()))


def _send(driver: socket.socket, messages: "Generator[Message, None, None]") -> None:
    """Send the messages of a job. By SIGINT the driver asks for checkpoints: it is raised where the job is trained.

    While a message is on its way it waits, so that the driver gets whole messages and `work` learns of it.
    """
    from daybreak.lab.compute.messages import encode

    waits = False

    def interrupt(number: int, frame: object) -> None:
        nonlocal waits
        if inspect.getgeneratorstate(messages) == inspect.GEN_RUNNING:
            raise KeyboardInterrupt
        waits = True

    signal.signal(signal.SIGINT, interrupt)
    message = next(messages, None)
    while message is not None:
        send(driver, encode(message))
        message = messages.throw(KeyboardInterrupt) if waits else next(messages, None)
        waits = False


def _listen(driver: socket.socket, jobs: "queue.SimpleQueue[bytes]") -> None:
    """Pass on jobs. When the driver's end of the socket is closed, end this process, whatever it is computing."""
    try:
        while True:
            jobs.put(receive(driver))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
