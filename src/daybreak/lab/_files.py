"""Files that are whole or not there: written aside, synced, moved into place."""

import hashlib
import os
from pathlib import Path


def sha256(content: bytes) -> str:
    """The digest by which a file is known to be whole."""
    return hashlib.sha256(content).hexdigest()


def write(path: Path, content: bytes, aside: Path, *, lasting: bool) -> None:
    """Put `content` at `path` in one step: a reader, and a later process, finds what was there before or all of it.

    Another writer may sweep `aside` between our write and our move; then we write once more.

    Args:
        path: where it goes; its folder exists.
        content: all of it.
        aside: folder of unfinished files, on the same disk.
        lasting: whether the content must be on the disk before it gets its name, for the sake of a power cut.
    """
    while True:
        part = aside / os.urandom(8).hex()
        try:
            _write(part, content, lasting)
            part.replace(path)
            return
        except FileNotFoundError:
            if not (aside.is_dir() and path.parent.is_dir()):
                raise
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _write(path: Path, content: bytes, lasting: bool) -> None:
    with path.open("xb", buffering=0) as file:
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
        if lasting:
            os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Make the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
