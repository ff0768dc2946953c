"""When an observed run counts as emerged: which curve reaches which level, and of a curve with many heads the furthest one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import curves
from daybreak.lab._settings import OBSERVED
from daybreak.lab.curves import Curves

if TYPE_CHECKING:
    from daybreak.measure import Plateau

Direction = Literal["down", "up"]


class Criterion(NamedTuple):
    """When an observed run counts as emerged: its curve reaches a level, from above or from below; never if the level is 0."""

    curve: str
    level: float
    direction: Direction

    def series(self, steps: NDArray[np.int64], measured: Curves) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The finite values of the curve and their steps; of a curve with many heads, the head that is furthest at each step.

        Raises:
            RequestError: there is no such curve; the message names those that there are.
        """
        return furthest(steps, _named(self.curve, measured).reshape(steps.size, -1), self.direction)

    def plateau(self, steps: NDArray[np.int64], measured: Curves) -> "Plateau | None":
        """The plateau of the curve; None without a level, or if the curve has no finite value."""
        from daybreak.measure import plateau

        try:
            x, y = self.series(steps, measured)
        except RequestError:
            return None
        if not (self.level and x.size):
            return None
        return plateau(x, y, float(np.float32(self.level)), direction=self.direction)


def furthest(
    steps: NDArray[np.int64], values: NDArray[np.floating], direction: Direction
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of many heads (steps, heads) the one that is furthest at each step; only steps at which there is a finite value."""
    up = direction == "up"
    finite = np.where(np.isfinite(values), values, -np.inf if up else np.inf).astype(np.float64)
    most = finite.max(axis=1) if up else finite.min(axis=1)
    return steps[np.isfinite(most)], most[np.isfinite(most)]


def criterion(settings: Mapping[str, Any]) -> Criterion | None:
    """When a stored run counts as emerged, if it is an observed run; None for other runs."""
    about = settings.get(OBSERVED)
    if not isinstance(about, dict):
        return None
    direction = about.get("direction", "down")
    return Criterion(
        str(about.get("curve", "loss")),
        float(about.get("level", 0.0)),
        direction if direction in get_args(Direction) else "down",
    )


def _named(name: str, measured: Curves) -> NDArray[np.floating]:
    """A curve, or the part of one that is called `induction_1_2`."""
    if name in measured:
        return measured[name]
    parts = curves.columns(np.arange(len(next(iter(measured.values()), ()))), measured)
    if name == "step" or name not in parts:
        there = ", ".join(measured) or "none"
        raise RequestError(f"curve = {name!r} is not allowed: there is no such curve; there are {there}.")
    return parts[name]
