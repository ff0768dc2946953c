"""The worker process of the local executor, at the moments that are hard to hit from outside."""

import os
import signal
import socket
import threading
import time
from collections.abc import Generator

import pytest

from daybreak.lab.compute._frames import receive, send
from daybreak.lab.compute.messages import Checkpoint, Message, decode, encode
from daybreak.lab.compute.work import deliver

_LARGE = bytes(20_000_000)  # does not fit into the buffer of a socket


@pytest.fixture(autouse=True)
def _handler() -> Generator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def _job() -> Generator[Message, None, None]:
    """Like `work`: when interrupted, one more checkpoint."""
    try:
        yield Checkpoint("run", 10, _LARGE)
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        yield Checkpoint("run", 20, b"")
        raise


@pytest.mark.parametrize("sending", [True, False])
def test_an_interrupted_worker_sends_whole_messages_and_then_its_checkpoints(*, sending: bool) -> None:
    """When it comes while a message is on its way, and when it comes while the job is trained."""
    worker, driver = socket.socketpair()
    received: list[Message] = []

    def drive() -> None:
        if sending:
            driver.recv(1, socket.MSG_PEEK)  # the first byte is here, the rest does not fit
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
        received.append(decode(receive(driver)))
        if not sending:
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)
        received.append(decode(receive(driver)))

    with worker, driver:
        thread = threading.Thread(target=drive)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            deliver(_job(), lambda message: send(worker, encode(message)))
        thread.join()
    assert [x.step for x in received if isinstance(x, Checkpoint)] == [10, 20]
