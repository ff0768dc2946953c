"""The step of emergence from the growth of attention, on a clock that is linear in time on the plateau.

On the plateau of the toy model the log-odds of attending to what matters grow as Δa = x²/2 with x' ∝ exp(x²/2), a blow-up at a
finite time t*; hence erf(√Δa) = t/t* (docs/guides/theory.md). Transformers trained by Adam follow that clock over most of their
plateau, if Δa is the mean over the leading half of their heads (docs/guides/forecast.md). So the clock is extrapolated as a straight
line until it reaches 1. How much later the loss crosses its level, and with which spread, was measured on tuning runs.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from daybreak._types import Floats

_FEWEST = 4  # least number of evaluations to fit the line to
_RECENT = 0.5  # the line is fitted from where the clock showed this fraction of its present reading
_LEAST = 0.15  # reading below which there is no forecast: the random walk of the weights can reach it
_STALLED = 0.25  # fraction of the line's speed below which a clock has stopped before 1: heads settle at less than all attention
_REACHED = 0.95  # reading from which it counts as having reached 1
_DOUBT = 1e-5  # probability that flat noise counts as growth

# By the reading of the clock: mean and standard deviation of log(step of emergence / take-off) over configurations, from the
# five tuning configurations of docs/guides/forecast.md: their scatter around each other and within, rounded by hand.
_READINGS = np.array([0.15, 0.25, 0.35, 0.45, 0.55, 0.85, 0.95, 1.0])
_LATE = np.array([-0.15, 0.0, 0.03, 0.05, 0.05, 0.09, 0.17, 0.18])
_SPREAD = np.array([0.30, 0.27, 0.22, 0.16, 0.11, 0.12, 0.07, 0.06])


class Growth(NamedTuple):
    """A straight line through the clock: the step at which it reaches 1."""

    takeoff: float
    noise: float  # standard deviation of its logarithm, from the noise of the clock
    reading: float  # of the clock, now


class NoGrowth(NamedTuple):
    """Why there is no line: a clause of a sentence, and the number of evaluations until now that would be enough, if any would."""

    why: str
    evaluations: int | None = None


def clock(probes: Floats, baseline: Floats) -> Floats:
    """Reading at each step, 0 to 1: erf(√Δa), Δa the mean over the leading half of the probes of how far log-odds have risen.

    Half, because some heads never learn to attend, and because the loss needs more than the first head.

    Example:
        >>> clock(np.array([[0.1], [0.2], [0.9]]), np.array([0.1])).round(2).tolist()
        [0.0, 0.8, 1.0]
    """
    return special.erf(np.sqrt(np.maximum(_risen(probes, baseline), 0.0)))


def _risen(probes: Floats, baseline: Floats) -> Floats:
    """Mean rise of the log-odds of those probes that have risen most by now."""
    rise = special.logit(probes) - special.logit(baseline)[None, :]
    leading = np.argsort(-np.mean(rise[-2:], axis=0), kind="stable")[: -(-rise.shape[1] // 2)]
    return np.mean(rise[:, leading], axis=1)


def growth(steps: Floats, probes: Floats, baseline: Floats) -> Growth | NoGrowth:
    """The line through the recent readings of the clock, or why growth is not certain."""
    z, rise = clock(probes, baseline), _risen(probes, baseline)
    now = float(np.mean(z[-2:]))
    if now < _LEAST:
        return NoGrowth("attention has not grown")
    if z.size <= _FEWEST or not _grows(rise):
        enough = _enough(rise)
        if enough is None:
            return NoGrowth("attention has not grown by more than its noise")
        why = f"attention seems to grow, but {z.size} evaluations do not tell that from noise (about {enough} would),"
        return NoGrowth(why, enough)
    reached = np.flatnonzero(z >= _REACHED)
    until = max(int(reached[0]) + 1 if reached.size else z.size, _FEWEST)  # later is no longer the plateau
    early = np.flatnonzero(z[:until] < _RECENT * min(now, z[until - 1]))
    first = min(int(early[-1]) + 1 if early.size else 0, until - _FEWEST)
    x, y = steps[first:until], z[first:until]
    t = x - x.mean()
    spread = float(t @ t)
    slope = float(t @ y) / spread
    if slope <= 0 or (not reached.size and _speed(steps, z) < _STALLED * slope):
        return NoGrowth("attention has stopped growing")
    left = y - y.mean() - slope * t
    variance = float(left @ left) / (t.size - 2)
    ahead = (1 - y.mean()) / slope
    takeoff = float(x.mean() + ahead)
    error = np.sqrt(variance / t.size + ahead**2 * variance / spread) / slope
    return Growth(takeoff, float(error / takeoff), now)


def _speed(x: Floats, z: Floats) -> float:
    """Slope of the clock over the last quarter of the evaluations, at least four."""
    rows = max(_FEWEST, z.size // 4)
    return float(np.polyfit(x[-rows:] - x[-1], z[-rows:], 1)[0])


def lateness(reading: float) -> tuple[float, float]:
    """Mean and standard deviation of log(step of emergence / take-off) at a reading of the clock."""
    return float(np.interp(reading, _READINGS, _LATE)), float(np.interp(reading, _READINGS, _SPREAD))


def _grows(y: Floats) -> bool:
    """Whether a curve ends above its start by more than noise, which its second differences give."""
    return bool(_rise(y) > _noise(y) * _least_rise(y.size))


def _enough(y: Floats) -> int | None:
    """The number of evaluations, up to 1 000, of which the same rise with the same noise would count as growth."""
    if y.size < 3:
        return _FEWEST + 1
    rise, noise = _rise(y), _noise(y)
    return next((n for n in range(max(y.size, _FEWEST) + 1, 1001) if rise > noise * _least_rise(n)), None)


def _rise(y: Floats) -> float:
    """How far the end of a curve lies above its start, each the mean of up to three values."""
    rows = _ends(y.size)
    return float(np.mean(y[-rows:]) - np.mean(y[:rows]))


def _noise(y: Floats) -> float:
    return float(np.sqrt(np.mean(np.diff(y, n=2) ** 2) / 6))


def _least_rise(count: int) -> float:
    """The least rise of that number of values, in standard deviations of their noise, that noise alone hardly ever shows."""
    return float(special.stdtrit(count - 2, 1 - _DOUBT) * np.sqrt(2 / _ends(count)))


def _ends(count: int) -> int:
    return max(1, min(3, count // 3))
