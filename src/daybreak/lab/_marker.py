"""Which folders are labs. A lab has a file of its own; nothing is written to, moved or deleted in a folder that is not one."""

import json
import re
from pathlib import Path

from daybreak.errors import RequestError
from daybreak.lab import _files
from daybreak.lab._files import sha256
from daybreak.lab._folder import RUN

MARKER = "daybreak-lab.json"
SCHEMA = 1
"""How the folders of a lab are arranged; the marker has it."""
SCRATCH = ".daybreak-scratch"
_OWN = {".lock"}  # may be there before the marker
_ID = re.compile("[0-9a-f]{16}")


def is_id(name: str) -> bool:
    """Whether a folder can be that of a run, by its name."""
    return _ID.fullmatch(name) is not None


def ids(runs: Path) -> list[str]:
    """The ids of the runs in a folder, by their names; none if it does not exist. Other names are somebody else's."""
    try:
        return [x.name for x in runs.iterdir() if is_id(x.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_lab(path: Path) -> bool:
    """Whether a folder is marked as a lab, or has a run whose document fits its name, as labs of version 0.1.0 have."""
    return (path / MARKER).is_file() or any(_is_run(path / "runs" / name) for name in ids(path / "runs"))


def check_lab(path: Path) -> None:
    """Refuse to write to a folder that has something in it and is not a lab, or is one of a newer version."""
    if path.is_dir() and not is_lab(path) and {x.name for x in path.iterdir()} - _OWN:
        raise RequestError(
            f"lab = {str(path)!r} is not allowed: this folder has other files in it and is not a lab. "
            "Choose a new or an empty folder with --lab."
        )
    if (schema := _schema(path)) > SCHEMA:
        raise RequestError(
            f"lab = {str(path)!r} is not allowed: a newer version of Daybreak arranged it (schema {schema}, and this version writes "
            f"{SCHEMA}). Update Daybreak."
        )


def _schema(path: Path) -> int:
    """The schema in a lab's marker; that of this version where there is none, or none that can be read."""
    try:
        schema = json.loads(_files.read(path / MARKER, 10_000))["schema"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return SCHEMA
    return schema if isinstance(schema, int) else SCHEMA


def _is_run(folder: Path) -> bool:
    try:
        return sha256(_files.read(folder / RUN)).startswith(folder.name)
    except OSError:
        return False
