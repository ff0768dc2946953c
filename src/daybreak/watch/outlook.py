"""The forecast of a watched training: from the curve that is waited for, and the heads that lead."""

import numpy as np

from daybreak import measure
from daybreak.errors import RequestError
from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
from daybreak.watch.record import Emerges, Record

_RISEN = 2.0  # least growth of the best head since the start: in language models scores drift by tens of percent for no reason
_TAKES_PART = (
    0.5  # of the fastest head's growth: which heads are evidence. Most heads of a language model never take part
)


def outlook(
    record: Record, emerges: Emerges, probe: str | None, prior: tuple[float, float] | None = None
) -> Forecast | NotEnoughEvidence | Plateau:
    """When the curve reaches its level, or when it did, or why that cannot be said yet.

    Args:
        record: the rows so far.
        emerges: the curve and its level.
        probe: attention whose growth is evidence, between 0 and 1; None for the curve alone.
        prior: what a law predicts: the median, and the standard deviation of the logarithm.
    """
    steps, table = record.curve(emerges.curve)
    if not steps.size:
        return NotEnoughEvidence(0.0, f"{emerges.curve} has not been measured yet.")
    values = np.array([emerges.best(row) for row in table])
    heads = np.zeros((0, 1))
    if probe is not None:
        at, heads = record.curve(probe)
        if at.size:
            steps, values = at, np.interp(at, steps, values)
    probes = _leading(heads)
    answer = measure.forecast(steps, values, emerges.level, probes, direction=emerges.direction, prior=prior)
    if isinstance(answer, NotEnoughEvidence) and probes is None and prior is None:
        if not _is_attention(heads):
            ends = f"{np.nanmin(heads):g} and {np.nanmax(heads):g}"
            return NotEnoughEvidence(
                answer.at, f"{probe} is no attention: it lies between {ends}, not between 0 and 1."
            )
        return NotEnoughEvidence(
            answer.at, f"no head has {_RISEN:g} times the {probe or 'attention'} that it began with."
        )
    return answer


def _leading(heads: np.ndarray) -> np.ndarray | None:
    """The heads that take part by now; None if none has grown by more than drift."""
    if len(heads) < 2 or not _is_attention(heads):
        return None
    start, now = np.maximum(heads[0], 1e-12), np.maximum(heads[-2:].mean(axis=0), 1e-12)
    if now.max() < _RISEN * start.max():
        return None
    growth = np.log(now / start)
    return heads[:, growth >= _TAKES_PART * growth.max()]


def _is_attention(heads: np.ndarray) -> bool:
    return bool(np.all((heads >= 0) & (heads <= 1)))


def checked(record: Record, name: str, level: float | None, direction: str | None) -> Emerges:
    """The curve, level and direction of a question about another curve than the one that is waited for."""
    if name not in record.names():
        there = ", ".join(record.names()) or "none yet"
        raise RequestError(f"there is no curve {name!r}: there are {there}.")
    if level is None:
        raise RequestError(f"level is missing: state the value of {name} that counts as emerged.")
    return Emerges(name, level, "up" if direction == "up" else "down")
