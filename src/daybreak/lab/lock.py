"""One writer at a time: the lock of a lab. The kernel releases it when its holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daybreak.errors import RequestError
from daybreak.lab._files import making


@contextmanager
def locked(lab: Path) -> Iterator[None]:
    """Hold the lock of a lab, whose folder is made if it is missing.

    Raises:
        RequestError: if another process holds it, or the folder cannot be written to.
    """
    with making(lab):
        lab.mkdir(parents=True, exist_ok=True)
        held = os.open(lab / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(held, 0)
        os.write(held, str(os.getpid()).encode())
        yield
    except BlockingIOError:
        holder = os.read(held, 20).decode(errors="replace") or "unknown"
        raise RequestError(
            f"lab = {str(lab)!r} is in use: process {holder} writes to it. Wait until it is done, or choose another --lab."
        ) from None
    finally:
        os.close(held)
