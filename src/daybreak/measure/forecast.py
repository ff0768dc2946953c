"""When will it emerge? A forecast from a run so far: a step with an 80 % interval, or the reason why there is none.

Three sources predict the logarithm of the step of emergence, each as a normal distribution: a law, the growth of attention, and
the fall of the loss once it has begun. The forecast is their product, truncated at the last step seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from scipy import special

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _curve, _fall, _growth
from daybreak.measure._curve import Direction
from daybreak.measure.law import Interval
from daybreak.measure.plateau import Plateau, plateau

Source = Literal["law", "attention", "loss"]

_COVERED = 0.8
_OUTLIVED = 1e-3  # a source that gave less than this probability to emergence after now is contradicted
_VAGUE = 0.75  # spread of the log above which there is no forecast: its interval spans a factor of seven


@final
@dataclass(frozen=True)
class Evidence:
    """What one source predicts: a median, and the standard deviation of the logarithm around it."""

    source: Source
    median: float
    spread: float

    def as_json(self) -> dict[str, Any]:
        """The same as plain data.

        Example:
            >>> Evidence("law", median=540.0, spread=0.36).as_json()
            {'source': 'law', 'median': 540.0, 'spread': 0.36}
        """
        return {"source": self.source, "median": self.median, "spread": self.spread}


@final
@dataclass(frozen=True)
class Forecast:
    """The step at which a run will emerge.

    Args:
        at: the last step that was seen.
        median: as likely before as after.
        interval: holds the step in 80 of 100 runs.
        evidence: the sources that it combines.
    """

    at: float
    median: float
    interval: Interval
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        return f"{self.median:.0f}, 80 % between {self.interval.low:.0f} and {self.interval.high:.0f}"


@final
@dataclass(frozen=True)
class NotEnoughEvidence:
    """No forecast is possible at a step.

    Args:
        at: the last step that was seen.
        reason: which requirement is not met, in a sentence.
        evaluations: number until this step that would be enough; None if more of them would not help.
    """

    at: float
    reason: str
    evaluations: int | None = None

    def __str__(self) -> str:
        return f"not enough evidence: {self.reason}"


def forecast(
    steps: ArrayLike,
    values: ArrayLike,
    level: float,
    probes: ArrayLike | None = None,
    *,
    direction: Direction = "down",
    baseline: ArrayLike | None = None,
    prior: tuple[float, float] | None = None,
    probe_steps: ArrayLike | None = None,
) -> Forecast | NotEnoughEvidence | Plateau:
    """Forecast the step at which a curve crosses a level; if it already has, return its plateau.

    Args:
        steps: increasing steps of evaluation, from the start of the run until now.
        values: loss or accuracy at each.
        level: value that ends the plateau.
        probes: attention to the relevant positions at each step, of any number of heads: (steps, …), between 0 and 1.
        direction: `down` if the curve falls to the level (a loss), `up` if it rises to it (an accuracy).
        baseline: attention of each head before it has learned anything; by default the first evaluation.
        prior: what a law predicts: the median, and the standard deviation of the logarithm.
        probe_steps: steps of the probes, where they are not those of the values.

    Example:
        >>> steps = np.arange(0, 410, 10.0)
        >>> clock = steps / 600                      # attention of the toy model, which takes off at step 600
        >>> odds = np.exp(special.erfinv(clock) ** 2) / 63
        >>> result = forecast(steps, np.full(41, 0.5), 0.1, odds / (1 + odds))
        >>> result.interval.low < 650 < result.interval.high
        True
        >>> print(forecast(steps, np.full(41, 0.5), 0.1, np.full(41, 1 / 64)))
        not enough evidence: attention has not grown and the loss has not begun to fall.
    """
    x, y = _curve.check(steps, values)
    so_far = plateau(x, y, level, direction=direction)
    if not so_far.censored:
        return so_far
    now = float(x[-1])
    attention = _attention(x if probe_steps is None else _probe_steps(probe_steps), probes, baseline)
    evidence = [
        *([] if prior is None else [_law(prior)]),
        *([attention] if isinstance(attention, Evidence) else []),
        *_loss(x, _curve.sign(direction) * (y - level)),
    ]
    if not evidence:
        assert isinstance(attention, _growth.NoGrowth)  # noqa: S101
        return NotEnoughEvidence(now, f"{attention.why} and the loss has not begun to fall.", attention.evaluations)
    kept = [one for one in evidence if _still_to_come(one, now) > _OUTLIVED]
    if not kept:
        names = " and ".join(one.source for one in evidence)
        return NotEnoughEvidence(now, f"by its {names} it should have emerged before step {now:,.12g}.")
    return _combined(now, kept)


def _combined(now: float, evidence: Sequence[Evidence]) -> Forecast | NotEnoughEvidence:
    """The product of normal distributions of the log, truncated at now."""
    weights = np.array([one.spread**-2 for one in evidence])
    mean = float(weights @ np.log([one.median for one in evidence]) / weights.sum())
    spread = float(weights.sum() ** -0.5)
    if spread > _VAGUE:
        return NotEnoughEvidence(
            now, f"the prediction of {' and '.join(one.source for one in evidence)} is too uncertain."
        )
    left = _still_to_come(Evidence(evidence[0].source, np.exp(mean), spread), now)
    tail = (1 - _COVERED) / 2
    low, median, high = (float(np.exp(mean - spread * special.ndtri(left * above))) for above in (1 - tail, 0.5, tail))
    return Forecast(now, median, Interval(low, high), tuple(evidence))


def _still_to_come(one: Evidence, now: float) -> float:
    """The probability that a source gave to emergence after now."""
    return float(special.ndtr((np.log(one.median) - np.log(max(now, 1e-300))) / one.spread))


def _law(prior: tuple[float, float]) -> Evidence:
    median, spread = map(float, prior)
    if not (np.isfinite([median, spread]).all() and median > 0 and spread > 0):
        raise RequestError(f"prior = {prior} is not allowed: give a positive median and spread of the logarithm.")
    return Evidence("law", median, spread)


def _probe_steps(steps: ArrayLike) -> Floats:
    x = np.asarray(steps, np.float64)
    return _curve.check(x, np.zeros(x.shape))[0]


def _attention(x: Floats, probes: ArrayLike | None, baseline: ArrayLike | None) -> Evidence | _growth.NoGrowth:
    if probes is None:
        return _growth.NoGrowth("no probe was given")
    growth = _growth.growth(x, *_checked(probes, baseline, x.size))
    if isinstance(growth, _growth.NoGrowth):
        return growth
    late, spread = _growth.lateness(growth.reading)
    return Evidence("attention", growth.takeoff * np.exp(late), float(np.hypot(spread, growth.noise)))


def _loss(x: Floats, excess: Floats) -> list[Evidence]:
    falling = _fall.fall(x, excess)
    if falling is None:
        return []
    return [Evidence("loss", falling.crossing, falling.spread)]


def _checked(probes: ArrayLike, baseline: ArrayLike | None, rows: int) -> tuple[Floats, Floats]:
    a = np.asarray(probes, np.float64)
    if a.ndim < 1 or a.shape[0] != rows or not a.size:
        raise RequestError(
            f"probes of shape {a.shape} are not allowed: there must be one row for each of {rows} steps."
        )
    a = a.reshape(rows, -1)
    if not np.all((a >= 0) & (a <= 1)):
        raise RequestError("probes are not allowed: attention lies between 0 and 1.")
    a = np.clip(a, 1e-12, 1 - 1e-12)
    try:
        start = a[0] if baseline is None else np.broadcast_to(np.asarray(baseline, np.float64).ravel(), a.shape[1:])
    except ValueError:
        raise RequestError(
            f"baseline is not allowed: give one number, or one for each of {a.shape[1]} probes."
        ) from None
    if not np.all((start > 0) & (start < 1)):
        raise RequestError("baseline is not allowed: attention before learning lies between 0 and 1, both excluded.")
    return a, start
