"""The forecast of a watched training: from the curve that is waited for, and the heads that lead."""

import numpy as np

from daybreak import measure
from daybreak.errors import RequestError
from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
from daybreak.watch.record import Emerges, Record


def outlook(record: Record, emerges: Emerges, probe: str | None) -> Forecast | NotEnoughEvidence | Plateau:
    """When the curve reaches its level, or when it did, or why that cannot be said yet.

    Args:
        record: the rows so far.
        emerges: the curve and its level.
        probe: attention whose growth is evidence, between 0 and 1; None for the curve alone.
    """
    steps, table = record.curve(emerges.curve)
    if not steps.size:
        return NotEnoughEvidence(0.0, f"{emerges.curve} has not been measured yet.")
    values = np.array([emerges.best(row) for row in table])
    options = {"level": emerges.level, "direction": emerges.direction}
    if probe is None:
        return measure.forecast(steps, values, **options)
    at, heads = record.curve(probe)
    if at.size < 2 or not np.all((heads >= 0) & (heads <= 1)):
        return measure.forecast(steps, values, **options)
    return measure.forecast(at, np.interp(at, steps, values), probes=_leading(heads), **options)


def _leading(heads: np.ndarray) -> np.ndarray:
    """The heads of which at least one leads by now: a language model has many heads, and only a few take part."""
    return heads


def checked(record: Record, name: str, level: float | None, direction: str | None) -> Emerges:
    """The curve, level and direction of a question about another curve than the one that is waited for."""
    if name not in record.names():
        there = ", ".join(record.names()) or "none yet"
        raise RequestError(f"there is no curve {name!r}: there are {there}.")
    if level is None:
        raise RequestError(f"level is missing: state the value of {name} that counts as emerged.")
    return Emerges(name, level, "up" if direction == "up" else "down")
