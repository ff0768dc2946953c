"""Files that are complete or absent: written to another folder, synced, moved into place."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daybreak.errors import RequestError


@contextmanager
def making(lab: Path) -> Iterator[None]:
    """Turns an error of the system, raised while the folders of a lab are made, into a refused request."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        why = "a file is in its way, and a folder is needed"
    except OSError as error:
        why = f"it cannot be written to ({error.strerror})"
    else:
        return
    raise RequestError(f"lab = {str(lab)!r} is not allowed: {why}.")


def read(path: Path, most: int | None = None) -> bytes:
    """The content of a regular file. A pipe or a device is never opened: it may have no end.

    Raises:
        OSError: it cannot be read, is no regular file, or has more than `most` bytes; `strerror` says which.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if most is not None and status.st_size > most:
        raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, and at most {most:,} are read")
    return path.read_bytes()


def sha256(content: bytes) -> str:
    """The digest that shows whether a file is as it was written."""
    return hashlib.sha256(content).hexdigest()


def write(path: Path, content: bytes, aside: Path, *, lasting: bool) -> None:
    """Put `content` at `path` in one step: a reader, and a later process, finds the old content or all of the new.

    Another writer may empty `aside` between our write and our move; then we write again.

    Args:
        path: where it goes; its folder exists.
        content: all of it.
        aside: folder of unfinished files, on the same disk.
        lasting: whether the content must be on the disk before it gets its name, so that it survives a power cut.
    """
    while True:
        part = aside / os.urandom(8).hex()
        try:
            create(part, content, lasting=lasting)
            part.replace(path)
            return
        except FileNotFoundError:
            if not (aside.is_dir() and path.parent.is_dir()):
                raise
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def create(path: Path, content: bytes, *, lasting: bool) -> None:
    """Write a file that is not there yet; `lasting`: and sync it."""
    with path.open("xb", buffering=0) as file:
        left = memoryview(content)
        while left:
            left = left[file.write(left) :]
        if lasting:
            os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Sync the names in a folder, so that they survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
