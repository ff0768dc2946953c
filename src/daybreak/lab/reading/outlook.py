"""A run's forecast as it was, or would have been, at each step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Forecast, NotEnoughEvidence, Plateau


@final
@dataclass(frozen=True)
class Outlook:
    """What a run has shown, and what that says of its emergence.

    Args:
        steps: of evaluation.
        values: of the curve that is watched.
        name: of that curve.
        attention: to relevant positions, one column per head.
        level: value of the curve that counts as emerged.
        rising: whether the curve rises when it emerges.
        prior: what a law says.
        truth: the plateau of a run that is done; None if it still trains and has not emerged.
    """

    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    name: str
    attention: NDArray[np.float64]
    level: float
    rising: bool
    prior: tuple[float, float] | None
    truth: "Plateau | None"

    def at(self, step: int) -> "Forecast | NotEnoughEvidence | Plateau":
        """The forecast from all evaluations until a step."""
        from daybreak.measure import forecast

        rows = self.steps <= step
        return forecast(
            self.steps[rows],
            self.values[rows],
            self.level,
            self.attention[rows],
            direction="up" if self.rising else "down",
            prior=self.prior,
        )


def outlook(found: "RunCurves", *, level: float | None = None, prior: tuple[float, float] | None = None) -> Outlook:
    """The outlook of a run.

    Args:
        found: the run as far as it got.
        level: of clean loss or accuracy; by default that of the run's stop rule.
        prior: what a law says, as `measure.forecast` takes it.
    """
    from daybreak.measure import plateau

    name, curve = found.watched
    chosen = found.run.stop.level if level is None else level
    if not 0 < chosen < (1 if name == "clean_accuracy" else np.inf):
        why = (
            "the run's stop rule has none: give --level"
            if level is None
            else "it must lie above 0, and below 1 if an accuracy"
        )
        raise RequestError(f"level = {chosen:g} is not allowed: {why}.")
    finite = np.isfinite(curve)
    count = len(curve) if finite.all() else int(np.argmin(finite))
    if not count:
        raise RequestError(f"run {found.run.id} is not allowed: its {name} was never finite.")
    rising = name == "clean_accuracy"
    steps, values = found.steps[:count], curve[:count].astype(np.float64)
    # The level as the stop rule compares it: in the precision of the curve.
    exact = float(np.float32(chosen))
    truth = plateau(steps, values, exact, direction="up" if rising else "down")
    heads = found.curves["attention"][:count].reshape(count, -1).astype(np.float64)
    known = truth if found.done or not truth.censored else None
    return Outlook(steps, values, name.replace("_", " "), np.clip(heads, 0, 1), exact, rising, prior, known)
