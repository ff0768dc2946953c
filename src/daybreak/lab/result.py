"""The result of a run: the document `result.json`. A run is done if and only if it exists.

It ends with the digest of everything before it, and contains the digests of the other files of the run, so that a single
changed bit anywhere in a run's folder is detected. All but `provenance` and the closing digest is a function of the
measurement: the same record gives the same bytes.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final, get_args

import numpy as np
from numpy.typing import ArrayLike

from daybreak.errors import WorkError
from daybreak.lab._files import sha256

if TYPE_CHECKING:
    from daybreak.measure import Plateau
    from daybreak.training import Record, Run

SCHEMA = 1
End = Literal["emerged", "completed", "censored", "diverged", "failed"]
UNFINISHED = "unfinished"
OUTCOMES: tuple[str, ...] = (UNFINISHED, *get_args(End))

_SEAL, _END = b',\n "sha256": "', b'"\n}\n'  # around the digest, which closes the document

# From schema n to n + 1, for documents that older versions wrote.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


@final
class DamageError(WorkError):
    """Something in a run's folder is not what was written; the message names it."""


@final
class OtherRecordError(Exception):
    """A run was trained again, and its record is not the one that is stored."""


@final
class NewerError(Exception):
    """A document of a newer schema than this version reads."""


@final
@dataclass(frozen=True)
class Result:
    """The result of a run, in short.

    Args:
        id: name of the run.
        outcome: how it ended.
        plateau: at the level of the run's own stop rule; None if it failed, or if the stop rule has no level.
        last_step: steps of training; None if it failed.
        final: the single numbers of the last evaluation, `clean_loss` and so on; without those that are not finite.
        seconds: how long it took.
    """

    id: str
    outcome: End
    plateau: "Plateau | None"
    last_step: int | None
    final: dict[str, float]
    seconds: float


def from_document(document: dict[str, Any]) -> Result:
    """The result in a document."""
    from daybreak.measure import Plateau

    plateau = document["plateau"]
    if plateau is not None:
        low, high = plateau["bracket"]
        plateau = Plateau(plateau["length"], plateau["censored"], (low, np.inf if high is None else high))
    last = {name: x for name, x in document["final"].items() if isinstance(x, float)}
    seconds = document["provenance"]["seconds"]
    return Result(document["id"], document["outcome"], plateau, document["last_step"], last, seconds)


def measurement(run: "Run", record: "Record") -> dict[str, Any]:
    """The result of a record: outcome, plateau at the level of the run's stop rule if it has one, and the last row."""
    return {
        "outcome": record.outcome,
        "plateau": _plateau(run, record) if run.stop.level else None,
        "last_step": int(record.steps[-1]),
        "final": {name: plain(curve[-1]) for name, curve in sorted(record.curves.items())},
    }


def _plateau(run: "Run", record: "Record") -> dict[str, Any]:
    from daybreak.training.watched import watched

    return plateau_document(watched(run.stop.level, record.curves, run.stop.watch).plateau(record.steps, record.curves))


def plateau_document(plateau: "Plateau") -> dict[str, Any]:
    """A plateau as JSON has it."""
    low, high = plateau.bracket
    return {
        "length": plateau.length,
        "censored": plateau.censored,
        "bracket": [low, high if np.isfinite(high) else None],
    }


def without_level(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a run whose stop rule has no level. Version 0.1.0 called such a run censored, and gave it a plateau."""
    outcome = document["outcome"]
    return document | {"outcome": "completed" if outcome == "censored" else outcome, "plateau": None}


def failure(traceback: str) -> dict[str, Any]:
    """The result of a run that could not be trained."""
    return {"outcome": "failed", "plateau": None, "last_step": None, "final": {}, "traceback": traceback}


def plain(values: ArrayLike) -> Any:
    """Numbers as JSON has them; one that is not finite is null."""
    values = np.asarray(values)
    if values.ndim:
        return [plain(x) for x in values]
    return float(values) if np.isfinite(values) else None


def seal(document: dict[str, Any]) -> bytes:
    """The document as text, closed by its digest."""
    body = json.dumps(document, indent=1, allow_nan=False).encode()
    return body[:-2] + _SEAL + sha256(body).encode() + _END


def unseal(content: bytes) -> dict[str, Any]:
    """The document of a text whose digest is right, in the current schema.

    Raises:
        DamageError: the text is not what was written.
        NewerError: the text is undamaged, and of a newer schema.
    """
    head, _, digest = content.rpartition(_SEAL)
    body = head + b"\n}"
    try:
        if sha256(body).encode() + _END != digest:
            raise ValueError
        document = json.loads(body)
        schema = document["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamageError("result.json is not what was written") from None
    if schema > SCHEMA:
        raise NewerError(f"result.json has schema {schema}, and this version reads up to {SCHEMA}: update Daybreak")
    for older in range(schema, SCHEMA):
        document = _UPGRADES[older](document)
    return document
