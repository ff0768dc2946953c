"""The outlook of plain columns: of an observed run, or of a file of somebody else's training.

A name or a pattern says which columns are meant.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError, nearest
from daybreak.lab.criterion import furthest
from daybreak.lab.reading.outlook import Outlook

if TYPE_CHECKING:
    from daybreak.measure._curve import Direction

Columns = Mapping[str, NDArray[np.floating]]

_PLACE = re.compile(
    r"(?:[_/.\- ]*(?:layers?|heads?|l|h)?[_/.\- ]*\d+)+", re.IGNORECASE
)  # of a head: `_1_2`, `/layer0/head3`, `.L0H1`
_SHOWN = 12  # columns that a message names


def matching(option: str, name: str, columns: Sequence[str]) -> list[str]:
    """The columns that a name means: itself, those of a pattern, its heads (`induction_1_2`), or the one that ends in it (`train/loss`).

    Example:
        >>> matching("probe", "induction", ["loss", "induction_1_1", "induction_1_2", "induction_sum"])
        ['induction_1_1', 'induction_1_2']
        >>> matching("value", "loss", ["train/loss", "lr"])
        ['train/loss']

    Raises:
        RequestError: there is none, or a name is not enough to choose one; the message names the columns.
    """
    if name in columns:
        return [name]
    chosen = [x for x in columns if fnmatchcase(x, name)] if set(name) & set("*?[") else []
    chosen = chosen or [x for x in columns if x.startswith(name) and _PLACE.fullmatch(x[len(name) :])]
    if chosen:
        return chosen
    ending = [x for x in columns if re.split(r"[/ ]", x)[-1] == name]
    if len(ending) == 1:
        return ending
    if ending:
        raise RequestError(f"{option} = {name!r} is not allowed: it may be {' or '.join(map(repr, ending))}.")
    near = nearest(name, columns)
    hint = f"perhaps you meant {near!r}" if near else f"there are {listed(columns)}"
    raise RequestError(f"{option} = {name!r} is not allowed: there is no such column; {hint}.")


def listed(columns: Sequence[str]) -> str:
    """Names of columns in a sentence, the first few of many."""
    more = len(columns) - _SHOWN
    return (", ".join(columns[:_SHOWN]) + (f" and {more} more" if more > 0 else "")) if columns else "none"


def watched_values(
    steps: NDArray[np.integer], columns: Columns, names: Sequence[str], direction: "Direction"
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The finite values of one column and their steps; of many, the one that is furthest at each step."""
    return furthest(np.asarray(steps, np.int64), np.stack([columns[name] for name in names], 1), direction)


def probed_values(
    steps: NDArray[np.integer], columns: Columns, names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values of probes, one column per head, at the steps at which all heads were measured. Heads without a value do not count."""
    heads = [np.asarray(columns[name], np.float64) for name in names]
    heads = [x for x in heads if np.isfinite(x).any()]
    if not heads:
        return np.array([], np.int64), np.zeros((0, 0))
    values = np.stack(heads, 1)
    there = np.isfinite(values).all(axis=1)
    return steps[there].astype(np.int64), np.clip(values[there], 0.0, 1.0)


def outlook_of(
    steps: NDArray[np.integer],
    columns: Columns,
    *,
    value: str,
    level: float | None,
    direction: "Direction | None" = None,
    probe: str | None = None,
    prior: tuple[float, float] | None = None,
    done: bool = False,
) -> Outlook:
    """The outlook of columns.

    Args:
        steps: of the rows.
        columns: by name; NaN where a row has no value.
        value: the column that decides, see `matching`.
        level: value of it that counts as emerged.
        direction: in which it moves when it emerges; by default towards the level from its first value.
        probe: columns of attention, one per head; None if there are none.
        prior: of a law, as `measure.forecast` takes it.
        done: whether no row will follow.
    """
    from daybreak.measure import plateau

    names = matching("value", value, list(columns))
    guessed = direction or ("down" if level is None else towards(columns[names[0]], level))
    x, y = watched_values(steps, columns, names, guessed)
    if not x.size:
        raise RequestError(f"value = {value!r} is not allowed: {names[0]!r} has no finite number.")
    if level is None:
        raise RequestError(
            f"give --level: the value of {names[0]!r} that counts as emerged. It starts at {y[0]:.4g} and is now {y[-1]:.4g}."
        )
    if not np.isfinite(level):
        raise RequestError(f"level = {level:g} is not allowed: it must be finite.")
    at, heads = (np.array([], np.int64), np.zeros((0, 0)))
    if probe is None and len(names) > 1:
        probe = value
    if probe is not None:
        at, heads = probed_values(steps, columns, matching("probe", probe, list(columns)))
    end = plateau(x, y, level, direction=guessed)
    label = value if len(names) > 1 else names[0]
    return Outlook(
        x, y, label.replace("_", " "), heads, level, guessed, prior, end if done or not end.censored else None, at
    )


def towards(values: NDArray[np.floating], level: float) -> "Direction":
    """The direction in which a curve reaches a level from its first finite value."""
    finite = values[np.isfinite(values)]
    return "up" if finite.size and finite[0] < level else "down"
