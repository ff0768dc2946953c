"""The forecast of a run as of any step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
    from daybreak.measure._curve import Direction


@final
@dataclass(frozen=True)
class Outlook:
    """The curves of a run so far, and the forecasts that follow from them.

    Args:
        steps: of evaluation.
        values: of the curve that the stop rule watches.
        name: of that curve.
        attention: to relevant positions, one column per head; none if it was not measured.
        level: value of the curve that counts as emerged.
        direction: in which the curve moves when it emerges.
        prior: median of the law of other runs, and the standard deviation of the logarithm; None without a law.
        truth: the plateau of a run that is done; None if it still trains and has not emerged.
    """

    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    name: str
    attention: NDArray[np.float64]
    level: float
    direction: "Direction"
    prior: tuple[float, float] | None
    truth: "Plateau | None"

    @property
    def rising(self) -> bool:
        """Whether the curve rises when it emerges."""
        return self.direction == "up"

    def at(self, step: int) -> "Forecast | NotEnoughEvidence | Plateau":
        """The forecast from all evaluations until a step."""
        from daybreak.measure import forecast

        rows = self.steps <= step
        return forecast(
            self.steps[rows],
            self.values[rows],
            self.level,
            self.attention[rows] if self.attention.size else None,
            direction=self.direction,
            prior=self.prior,
        )


def outlook(progress: "RunCurves", *, level: float | None = None, prior: tuple[float, float] | None = None) -> Outlook:
    """The outlook of a run.

    Args:
        progress: the run so far.
        level: of the curve that the stop rule watches; by default that of the run's stop rule.
        prior: of a law, as `measure.forecast` takes it.
    """
    from daybreak.training.watched import finite, watched

    chosen = progress.stop.level if level is None else level
    rule = watched(chosen, progress.curves, progress.stop.watch)
    if rule.name not in progress.curves:
        raise RequestError(f"run {progress.id} has no forecast: it has neither a clean accuracy nor a clean loss.")
    if not 0 < chosen < (1 if rule.direction == "up" else np.inf):
        why = (
            "the run's stop rule has none: give --level"
            if level is None
            else "it must lie above 0, and below 1 if an accuracy or attention"
        )
        raise RequestError(f"level = {chosen:g} is not allowed: {why}.")
    count = finite(progress.curves)
    if not count:
        raise RequestError(f"run {progress.id} has no forecast: its clean loss was never finite.")
    plateau = rule.plateau(progress.steps, progress.curves)
    attention = progress.heads[:count].reshape(count, progress.heads[0].size).astype(np.float64)
    return Outlook(
        progress.steps[:count],
        rule.curve(progress.curves)[:count].astype(np.float64),
        rule.name.replace("_", " "),
        np.clip(attention, 0, 1),
        rule.level,
        rule.direction,
        prior,
        plateau if progress.done or not plateau.censored else None,
    )
