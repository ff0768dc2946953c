"""The one rule for stages of paper B: plateaus of the excess loss after a burn-in, confirmed by the nearest truth.

1. *Burn-in.* Everything before the end of the first fall. A plateau on which the excess loss is still above nine tenths of
   its start is no stage: nothing has been learned there.
2. *Stages* are the plateaus after that, as `stages` finds them: each is lower than the one before by at least a twentieth of the
   first stage's excess loss and by four standard deviations of the noise, holds for at least four evaluations, and falls at
   most half as fast as the drops beside it, and in all by no more than the drop that led to it. After its least value the curve
   counts as flat: a loss that rises again overfits, and no further stage begins.
3. *A transition* is where the curve crosses the middle between the levels of two stages, as for the flow (`theory.head_flow`).
4. *Confirmation.* The truths that a network on a stage may be at are those whose divergence, median over the stage and not
   after the least value, is within `APART` of the least. Stage n is confirmed if that is p⁽ⁿ⁾ alone, contradicted if p⁽ⁿ⁾ is not
   among them, and otherwise not told apart. The number of stages does not depend on it.

Constants were chosen on 2026-11-18, before the new runs of the campaign, on planted staircases, on staircases of the flow
(tests/measure/test_staircase.py), and for `APART` on untrained networks; not on a verdict. Three faults were seen on trained
curves and then fixed, each by a planted test: the height of the first fall decided how faint a bend may be, a sharp start could
hide the first fall, and a long even decline after a short drop was a stage. No constant was changed with them; the first changed
verdicts (docs/log.md).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, final

import numpy as np

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.measure import _curve
from daybreak.measure.stages import Stage, plateaus

APART = 0.15
"""Nats below which two truths are not told apart.

A network that was not trained knows nothing, and yet is nearer to one truncated truth than to the next, because their entropies
differ: by 0.04 to 0.15 nats in the published settings, ten chains. A smaller difference says nothing about what was learned.
"""
_BEGUN = 0.9  # of the start: above it nothing has been learned. Values alone, with uniform attention, take off a few hundredths
_SMALLEST = 0.05  # of the first stage's level: the weakest of three patterns takes off a tenth even if m = 3, a quarter if m = 1.7

Standing = Literal["confirmed", "not told apart", "contradicted"]


@final
@dataclass(frozen=True)
class Staircase:
    """The stages of a run.

    Args:
        stages: plateaus of the excess loss after the burn-in, in their order.
        transitions: step of each transition from one stage to the next.
        truths: for each stage the numbers n of the truths p⁽ⁿ⁾ that are nearest or not told apart from it; empty without
            divergences.
    """

    stages: tuple[Stage, ...]
    transitions: tuple[float, ...]
    truths: tuple[tuple[int, ...], ...] = ()

    @property
    def number(self) -> int:
        """How many stages the run has."""
        return len(self.stages)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Whether the nearest truth confirms each stage."""
        return tuple(_standing(n, near) for n, near in enumerate(self.truths, 1))

    def in_order(self, count: int) -> bool:
        """Whether the run has this many stages and no truth contradicts one of them.

        Example:
            >>> one = Staircase((), ())
            >>> one.in_order(0), one.in_order(3)
            (True, False)
        """
        return self.number == count and "contradicted" not in self.standings

    def at(self, step: float) -> int:
        """The number of the stage that began last before a step; 0 before the first.

        Example:
            >>> Staircase((), ()).at(100.0)
            0
        """
        begins = [self.stages[0].start, *self.transitions] if self.stages else []
        return sum(step >= begin for begin in begins)


def staircase(
    steps: ArrayLike, excess: ArrayLike, divergences: ArrayLike | None = None, *, apart: float = APART
) -> Staircase:
    """The stages of a run by the one rule of this package for paper B.

    Args:
        steps: increasing steps of evaluation.
        excess: loss above the least possible one. If it is not finite from some step on, the run is read up to there.
        divergences: one row per truth, KL(p⁽ⁿ⁾ ‖ network) for n = 1, 2, …; without them nothing is confirmed.
        apart: nats below which two truths are not told apart.

    Example:
        >>> import numpy as np
        >>> steps = np.arange(0, 900, 10)
        >>> excess = np.interp(steps, [0, 40, 320, 340, 560, 580], [4, 1.2, 1.0, 0.5, 0.4, 0.1])
        >>> found = staircase(steps, excess)
        >>> found.number, np.round(found.transitions).tolist(), found.at(400)
        (3, [329.0, 568.0], 2)
    """
    if not apart >= 0:
        raise RequestError(f"apart = {apart} is not allowed: it must be at least 0.")
    x, y, kl = _finite(steps, excess, divergences)
    least = int(np.argmin(_curve.median_of_three(y)))
    y = _flat_after(y, least)
    found = _after_burn_in(x, y)
    truths = () if kl is None else tuple(_near(x, kl, one, float(x[least]), apart) for one in found)
    return Staircase(found, tuple(_crossing(x, y, *pair) for pair in pairwise(found)), truths)


def _finite(steps: ArrayLike, excess: ArrayLike, divergences: ArrayLike | None) -> tuple[Floats, Floats, Floats | None]:
    """The curves up to the first value that is not finite."""
    y = np.asarray(excess, dtype=np.float64)
    if y.ndim != 1:
        raise RequestError(f"excess of shape {y.shape} is not allowed: give one curve at a time.")
    wrong = np.flatnonzero(~np.isfinite(y))
    end = int(wrong[0]) if wrong.size and wrong[0] > 0 else y.size
    x, y = _curve.check(np.asarray(steps)[:end], y[:end])
    if divergences is None:
        return x, y, None
    _, kl = _curve.check(x, np.asarray(divergences, dtype=np.float64)[..., :end])
    if kl.ndim != 2:
        raise RequestError(f"divergences of shape {kl.shape} are not allowed: one row per truth, one column per step.")
    return x, y, kl


def _flat_after(y: Floats, least: int) -> Floats:
    """The curve with its least value, a median of three, from there on."""
    return np.where(np.arange(y.size) > least, _curve.median_of_three(y)[least], y)


def _after_burn_in(x: Floats, y: Floats) -> tuple[Stage, ...]:
    """Plateaus below nine tenths of the start, each lower than the one before by a fraction of the first."""
    begun = [one for one in plateaus(x, y, _SMALLEST * float(np.ptp(y))) if one.level <= _BEGUN * y[0]]
    if not begun:
        return ()
    found = [one for one in plateaus(x, y, _SMALLEST * begun[0].level) if one.level <= _BEGUN * y[0]]
    ends = [_ends(y[(x >= one.start) & (x <= one.end)]) for one in found]
    before = [float(y[0]), *(end for _, end in ends[:-1])]
    return tuple(one for one, top, (start, end) in zip(found, before, ends, strict=True) if start - end <= top - start)


def _ends(values: Floats) -> tuple[float, float]:
    """The height of a stage in its first and in its last third."""
    third = -(-values.size // 3)
    return float(np.median(values[:third])), float(np.median(values[-third:]))


def _crossing(x: Floats, y: Floats, one: Stage, next_: Stage) -> float:
    """Where the curve falls past the middle between two stages, for the first time after the first of them ends."""
    middle = (one.level + next_.level) / 2
    rows = np.flatnonzero((x >= one.end) & (y <= middle))
    after = int(rows[0]) if rows.size else int(np.searchsorted(x, next_.start))
    if after == 0 or y[after - 1] <= middle:
        return float(x[after])
    return float(np.interp(-middle, -y[[after - 1, after]], x[[after - 1, after]]))


def _near(x: Floats, kl: Floats, stage: Stage, least: float, apart: float) -> tuple[int, ...]:
    rows = (x >= stage.start) & (x <= max(min(stage.end, least), stage.start))
    distances = np.median(kl[:, rows], axis=1)
    return tuple(int(n) + 1 for n in np.flatnonzero(distances <= distances.min() + apart))


def _standing(n: int, near: tuple[int, ...]) -> Standing:
    return "contradicted" if n not in near else "confirmed" if near == (n,) else "not told apart"
