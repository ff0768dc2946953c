"""What each form of repetition gains at a setting, and which one to take."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from daybreak import theory
from daybreak.advice import measured
from daybreak.advice.reference import SETTINGS, Gain, Reference, Task

# What was trained; with more copies for their length, sequences are another task.
_COPIES: dict[Task, tuple[int, ...]] = {"single-location": (2, 4, 8), "recall": (2, 3, 4)}
_LEAST: dict[Task, int] = {
    "single-location": 4,
    "recall": 3,
}  # tokens or pairs for each copy: four copies in twelve pairs
_PROBABILITIES: dict[Task, tuple[float, ...]] = {"single-location": (0.5, 0.9), "recall": (0.3, 0.5, 0.9)}
_THEORY = "theory"


@final
@dataclass(frozen=True)
class Option:
    """A form of repetition, and what it gains over none under the clean loss; the best source first."""

    schedule: Literal["constant", "adaptive"]
    lever: theory.Lever
    value: float
    gains: tuple[Gain, ...]

    @property
    def name(self) -> str:
        """As in the study of schedules."""
        return f"{self.schedule} {self.lever} = {self.value:g}"

    @property
    def trained(self) -> bool:
        """Whether its best source is a trained network, not theory alone."""
        return self.gains[0].source != _THEORY


def options(
    task: Task, setting: Mapping[str, int], here: Mapping[str, float], reference: Reference, results: Path
) -> tuple[Option, ...]:
    """Forms of repetition with what is known of each: by the nearest trained networks, by a law, by the flow of the toy model.

    Args:
        task: what is learned.
        setting: T and d of single location, N and V of recall.
        here: the setting, and the network and learning rate that are to be trained.
        reference: gives a law of copies where no networks were trained with them.
        results: folder with the results of studies.
    """
    trained = measured.gains(task, setting, results)
    copies = [B for B in _COPIES[task] if setting[SETTINGS[task][0]] >= _LEAST[task] * B]
    probabilities = _PROBABILITIES[task]
    forms: list[tuple[Literal["constant", "adaptive"], theory.Lever, float]] = [
        *(("constant", "B", B) for B in copies),
        *(("constant", "p", p) for p in probabilities),
        *(("adaptive", "B", B) for B in copies[-1:]),
        ("adaptive", "p", probabilities[-1]),
    ]
    alone = float(theory.plateau(setting["T"], setting["d"])) if task == "single-location" else None
    found = []
    for schedule, lever, value in forms:
        near = sorted(trained.get((schedule, lever, value), []), key=lambda gain: how_far(gain, here))
        law = reference.gain_of_copies(int(value), setting) if (schedule, lever) == ("constant", "B") else None
        flow = None if alone is None else _flow(setting["T"], setting["d"], alone, schedule, lever, value)
        gains = tuple(x for x in (*near, law, flow) if x is not None)
        if gains:
            found.append(Option(schedule, lever, value, gains))
    return tuple(found)


def distance(gain: Gain, here: Mapping[str, float]) -> dict[str, float]:
    """By which factor each number of a setting differs from where a gain was measured, without those that do not."""
    ratios = {name: here[name] / x for name, x in gain.measured.items() if name in here}
    return {name: max(x, 1 / x) for name, x in ratios.items() if x != 1}


def how_far(gain: Gain, here: Mapping[str, float]) -> float:
    """The product of these factors: 1 where a gain was measured at this very setting."""
    return math.prod(distance(gain, here).values())


def recommended(found: tuple[Option, ...], here: Mapping[str, float]) -> Option | None:
    """The fastest form on the trained networks that are most like the own one; None if none is faster than no repetition there."""
    network = {name: here[name] for name in measured.NETWORK}
    trained = [x for x in found if x.trained]
    away = {x.name: how_far(x.gains[0], network) for x in trained}
    near = [x for x in trained if away[x.name] == min(away.values())]
    best = max(near, key=lambda x: x.gains[0].factor, default=None)
    return best if best is not None and best.gains[0].factor > 1 else None


def _flow(T: int, d: int, alone: float, schedule: str, lever: theory.Lever, value: float) -> Gain | None:
    """What the flow of the toy model gains; None for an adaptive p: that is in `daybreak reproduce best-repetition`."""
    if lever == "p":
        if schedule == "adaptive":
            return None
        return Gain(alone / float(theory.plateau(T, d, p=value)), None, _THEORY, {})
    # Copies are removed when the loss on data with copies is at a fifth of its start, which `plateau` gives.
    until = [float(theory.plateau(T, d, B=value))] if schedule == "adaptive" else []
    there = theory.scheduled_plateau(T, d, until, [value, 1.0] if until else [value], lever="B")
    return Gain(alone / there.plateau, None, _THEORY, {})
