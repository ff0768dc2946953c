"""One run's folder: read and checked against its digests."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from daybreak.lab import _files
from daybreak.lab._files import sha256
from daybreak.lab.result import DamageError, unseal

RUN, CURVES, RESULT, CHECKPOINT = "run.json", "curves.parquet", "result.json", "checkpoint.safetensors"


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
    return RunFolder(json.loads(run), document, curves)


def _checked(folder: Path, name: str, document: dict[str, Any]) -> bytes:
    try:
        content = _files.read(folder / name)
    except (FileNotFoundError, IsADirectoryError):
        raise DamageError(f"{name} is missing") from None
    if sha256(content) != document["files"].get(name):
        raise DamageError(f"{name} is not what was written")
    return content
