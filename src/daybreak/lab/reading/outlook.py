"""The forecast of a run as of any step."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab.criterion import Criterion, criterion

if TYPE_CHECKING:
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Forecast, NotEnoughEvidence, Plateau
    from daybreak.measure._curve import Direction

_PROBES = ("attention", "induction")  # curves that are attention, by name


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
        probe_steps: at which attention was measured; those of the curve or others.
    """

    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    name: str
    attention: NDArray[np.float64]
    level: float
    direction: "Direction"
    prior: tuple[float, float] | None
    truth: "Plateau | None"
    probe_steps: NDArray[np.int64]

    @property
    def rising(self) -> bool:
        """Whether the curve rises when it emerges."""
        return self.direction == "up"

    def at(self, step: int) -> "Forecast | NotEnoughEvidence | Plateau":
        """The forecast from all evaluations until a step."""
        from daybreak.measure import forecast

        rows, probed = self.steps <= step, self.probe_steps <= step
        return forecast(
            self.steps[rows],
            self.values[rows],
            self.level,
            self.attention[probed] if probed.any() else None,
            direction=self.direction,
            prior=self.prior,
            probe_steps=self.probe_steps[probed] if probed.any() else None,
        )


def outlook(
    progress: "RunCurves",
    *,
    level: float | None = None,
    prior: tuple[float, float] | None = None,
    value: str | None = None,
    direction: "Direction | None" = None,
    probe: str | None = None,
) -> Outlook:
    """The outlook of a run.

    Args:
        progress: the run so far.
        level: of the curve that decides; by default that of the run's stop rule, or of an observed run.
        prior: of a law, as `measure.forecast` takes it.
        value: the curve that decides; by default clean accuracy or loss, or the one that an observed run names.
        direction: in which it moves when it emerges.
        probe: the curve of attention, one number per head.
    """
    rule = criterion(progress.settings)
    if rule is not None or value is not None or probe is not None:
        return _named(progress, rule, level, prior, value, direction, probe)
    return _usual(progress, level, prior)


def _named(
    progress: "RunCurves",
    rule: Criterion | None,
    level: float | None,
    prior: tuple[float, float] | None,
    value: str | None,
    direction: "Direction | None",
    probe: str | None,
) -> Outlook:
    """The outlook of curves that the run or the caller names."""
    from daybreak.lab import curves
    from daybreak.lab.reading.columns import outlook_of

    columns = curves.columns(progress.steps, progress.curves)
    del columns["step"]
    if rule is None:
        usual = "clean_accuracy" if "clean_accuracy" in columns else "clean_loss"
        rule = Criterion(usual, progress.level, "up" if usual == "clean_accuracy" else "down")
    chosen = value or rule.curve
    same = chosen == rule.curve
    if level is None and same and rule.level:
        level = rule.level
    own_direction = rule.direction if same and direction is None else direction
    heads = [x for x in (chosen, *_PROBES) if x in progress.curves and (x != chosen or progress.curves[x].ndim > 1)]
    return outlook_of(
        progress.steps,
        columns,
        value=chosen,
        level=level if level is None else float(np.float32(level)),
        direction=own_direction,
        probe=probe or next(iter(heads), None),
        prior=prior,
        done=progress.done,
    )


def _usual(progress: "RunCurves", level: float | None, prior: tuple[float, float] | None) -> Outlook:
    """The outlook of the curve that our own stop rules watch."""
    from daybreak.training.watched import finite, watched

    chosen = progress.level if level is None else level
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
        progress.steps[:count] if attention.size else progress.steps[:0],
    )
