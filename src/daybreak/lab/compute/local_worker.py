"""A worker process of the local executor: takes jobs from a socket and sends back messages.

    python -m daybreak.lab.compute.local_worker FD CORE [CORE …]

It ends when the driver does: one of its threads always listens to the socket.
"""

import os
import queue
import socket
import sys
import threading
from collections.abc import Sequence

from daybreak import _machine
from daybreak.lab.compute._frames import receive, send


def main(arguments: Sequence[str]) -> None:
    """Train jobs until the driver closes the socket."""
    descriptor, *cores = (int(x) for x in arguments)
    _machine.pin(cores)  # before JAX counts the cores
    driver = socket.socket(fileno=descriptor)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(driver, jobs), daemon=True).start()

    from daybreak.lab.compute.messages import encode
    from daybreak.lab.compute.work import answers, deliver

    while True:
        deliver(answers(jobs.get()), lambda message: send(driver, encode(message)))


def _listen(driver: socket.socket, jobs: "queue.SimpleQueue[bytes]") -> None:
    """Pass on jobs. When the driver's end of the socket is closed, end this process, whatever it is computing."""
    try:
        while True:
            jobs.put(receive(driver))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
