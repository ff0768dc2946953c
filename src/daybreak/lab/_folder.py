"""One run's folder: read and checked against its digests."""

import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

from daybreak.lab import _files
from daybreak.lab._files import sha256
from daybreak.lab._settings import level
from daybreak.lab.result import DamageError, unseal, without_level
from daybreak.lab.rows import ROWS

RUN, CURVES, RESULT, CHECKPOINT = "run.json", "curves.parquet", "result.json", "checkpoint.safetensors"
STATE = "state.safetensors"
KEPT = {"parameters": "parameters.safetensors", "maps": "maps.safetensors"}
"""Files that a run has if it was asked to keep them."""
PART = "observed.part"
FILES = (RESULT, CHECKPOINT, STATE, *KEPT.values(), CURVES, RUN, ROWS, PART)
"""All that a lab writes to a run's folder, in the order in which it is deleted: a run is first not done, then not there."""

_LARGEST = 2**26  # bytes of a checkpoint's header


class RunFolder(NamedTuple):
    """The content of a folder in which every bit is as it was written."""

    settings: dict[str, Any]  # the run
    document: dict[str, Any]  # its result
    curves: bytes | None  # a Parquet file; None if the run failed


def read(folder: Path) -> RunFolder:
    """All of a run that is done.

    Raises:
        FileNotFoundError: the run is not done.
        DamageError: something is not what was written.
        NewerError: a newer version wrote it.
    """
    document = unseal(_files.read(folder / RESULT))
    if document["id"] != folder.name:
        raise DamageError(f"{RESULT} belongs to run {document['id']}")
    run = _checked(folder, RUN, document)
    if not sha256(run).startswith(folder.name):
        raise DamageError(f"{RUN} belongs to another run")
    curves = None if document["outcome"] == "failed" else _checked(folder, CURVES, document)
    settings = json.loads(run)
    return RunFolder(settings, document if level(settings) else without_level(document), curves)


def evaluations(folder: Path) -> int:
    """How often an unfinished run has been evaluated, by the header of its checkpoint; 0 if that cannot be read."""
    try:
        if not (folder / CHECKPOINT).is_file():  # a pipe may have no end
            return 0
        with (folder / CHECKPOINT).open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(size)) if size < _LARGEST else {}
        return max((x["shape"][0] for name, x in header.items() if name.startswith("curves.")), default=0)
    except (OSError, struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return 0


def kept(folder: Path, what: str, document: dict[str, Any]) -> bytes | None:
    """A file that a run was asked to keep; None if it was not.

    Raises:
        DamageError: it is not what was written.
    """
    return _checked(folder, KEPT[what], document) if KEPT[what] in document["files"] else None


def _checked(folder: Path, name: str, document: dict[str, Any]) -> bytes:
    try:
        content = _files.read(folder / name)
    except (FileNotFoundError, IsADirectoryError):
        raise DamageError(f"{name} is missing") from None
    if sha256(content) != document["files"].get(name):
        raise DamageError(f"{name} is not what was written")
    return content
