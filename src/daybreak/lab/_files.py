"""Files that are whole or not there: written aside, synced, moved into place."""

import hashlib
import os
from pathlib import Path


def sha256(content: bytes) -> str:
    """The digest by which a file is known to be whole."""
    return hashlib.sha256(content).hexdigest()


def write(path: Path, content: bytes, aside: Path) -> None:
    """Put `content` at `path` in one step: a reader finds what was there before, or all of it.

    The move is not lasting before the folder is synced, see `sync`. Another writer may sweep `aside` between our write
    and our move; then we write once more.

    Args:
        path: where it goes; its folder exists.
        content: all of it.
        aside: folder of unfinished files, on the same disk.
    """
    while True:
        part = aside / os.urandom(8).hex()
        try:
            _write_synced(part, content)
            part.replace(path)
            return
        except FileNotFoundError:
            if not (aside.is_dir() and path.parent.is_dir()):
                raise
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Make names that were moved into a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
