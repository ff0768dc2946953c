"""Curves from a file as a finished observed run. The same content, name and settings are the same run, however often it is imported."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from daybreak.errors import RequestError
from daybreak.lab import ObservedRun, curves
from daybreak.lab._files import sha256
from daybreak.lab.criterion import Direction
from daybreak.lab.curves import Curves
from daybreak.lab.observed import described, observed_id
from daybreak.lab.reading.columns import matching, towards
from daybreak.lab.store import Lab
from daybreak.watch.curves import FileCurves, default_value


class Imported(NamedTuple):
    """A file in a lab.

    Args:
        id: of the run.
        new: whether the lab did not have it.
        names: of the curves, by the columns that they were.
    """

    id: str
    new: bool
    names: dict[str, str]


def import_file(
    lab: Path,
    file: FileCurves,
    *,
    name: str | None = None,
    settings: Mapping[str, Any],
    value: str | None = None,
    level: float = 0.0,
    direction: Direction | None = None,
) -> Imported:
    """Put the curves of a file into a lab.

    Args:
        lab: its folder; made if it does not exist.
        file: as `watch.curves.read` gives it.
        name: of the run; by default that of the file, without its suffix.
        settings: of the run, by name.
        value: the column that decides when it has emerged, or the heads of one.
        level: of it; 0 for none.
        direction: by default from the first value towards the level.
    """
    names = curve_names(list(file.columns))
    measured = curves.joined({names[x]: np.asarray(y, np.float32) for x, y in file.columns.items()})
    curve, moves = "loss", direction or "down"
    if value is not None or level:
        used = matching("value", value or default_value(file.columns), list(file.columns))
        curve = names[used[0]] if len(used) == 1 else _common(used, names, measured)
        moves = direction or towards(file.columns[used[0]], level)
    key = f"curves {sha256(curves.encode(file.steps, measured))}"
    document = described(name or file.path.stem, settings, curve=curve, level=level, direction=moves, id=key)
    run_id = observed_id(document)
    assert run_id is not None  # noqa: S101
    if Lab(lab).is_done(run_id):
        return Imported(run_id, False, names)
    if (lab / "runs" / run_id).is_dir():  # an import that was killed
        run = ObservedRun.resume(lab, run_id, 0)
    else:
        about = document["observed"]
        run = ObservedRun.begin(lab, about["name"], settings, curve=curve, level=level, direction=moves, id=key)
    run.extend(file.steps, measured)
    run.finish()
    return Imported(run_id, True, names)


def _common(used: Sequence[str], names: Mapping[str, str], measured: Curves) -> str:
    """The curve whose heads some columns are."""
    heads = {names[x] for x in used}
    for name, curve in measured.items():
        parts = curves.columns(np.arange(len(curve)), {name: curve}).keys() - {"step"}
        if parts == heads:
            return name
    raise RequestError(
        f"value is not allowed: {len(used)} columns match, such as {used[0]!r} and {used[1]!r}; name one."
    )


def curve_names(columns: Sequence[str]) -> dict[str, str]:
    """Names that curves can have, by the names of columns. Numbers at the end stay if the columns together are an array.

    Example:
        >>> list(curve_names(["train/Loss", "induction_1_1", "induction_1_2", "mlp.0", "2nd step"]).values())
        ['train_loss', 'induction_1_1', 'induction_1_2', 'mlp_n0', 'n2nd_step']
    """
    simple = {x: re.sub(r"[^a-z0-9]+", "_", x.lower()).strip("_") or "curve" for x in columns}
    one = {x: np.zeros(1, np.float32) for x in simple.values() if curves.COLUMN.fullmatch(x)}
    arrays = {f"{name}_" for name, x in curves.joined(one).items() if x.ndim > 1}
    names: dict[str, str] = {}
    for column, text in simple.items():
        whole = text in one and any(text.startswith(x) and _is_place(text[len(x) :]) for x in arrays)
        new = text if whole else _words(text)
        names[column] = next(x for x in (new, *(f"{new}_{letter}" for letter in _LETTERS)) if x not in names.values())
    return names


_LETTERS = [chr(i) * n for n in range(1, 40) for i in range(ord("b"), ord("z") + 1)]


def _is_place(text: str) -> bool:
    return re.fullmatch(r"[1-9]\d*(?:_[1-9]\d*)*", text) is not None


def _words(text: str) -> str:
    """Words between _, each of which starts with a letter, and not the name of the steps."""
    words = "_".join(f"n{word}" if word[0].isdigit() else word for word in text.split("_"))
    return "steps" if words == "step" else words
