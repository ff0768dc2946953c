"""What each form of repetition gains at a setting, and which one to take."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from daybreak import theory
from daybreak.advice.reference import SETTINGS, Gain, Reference, Task, study_scale, study_table
from daybreak.lab import index
from daybreak.studies._runs import with_plateaus_at
from daybreak.studies._study import Table, TrainedData
from daybreak.studies.emergence import fig5, schedules
from daybreak.studies.emergence._trained import is_recall_of_the_paper
from daybreak.training import to_json

_COPIES: dict[Task, tuple[int, ...]] = {
    "single-location": (2, 4, 8),
    "recall": (2, 3, 4),
}  # what was trained; more are another task
_PROBABILITIES: dict[Task, tuple[float, ...]] = {"single-location": (0.5, 0.9), "recall": (0.3, 0.5, 0.9)}
_THEORY = "theory"
_IN_STUDY: dict[Task, str] = {"single-location": "regression", "recall": "recall"}


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


def options(task: Task, setting: Mapping[str, int], reference: Reference, results: Path) -> tuple[Option, ...]:
    """Forms of repetition with what is known of each: by figure 5, the study of schedules, a law, the flow of the toy model."""
    study, network = _study(task, results), _of_paper_network(results) if task == "recall" else {}
    copies = [
        B for B in _COPIES[task] if setting[SETTINGS[task][0]] / B >= 4
    ]  # with more, it fills most of the context
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
        measured = study.get((schedule, lever, value))
        law = reference.gain_of_copies(int(value)) if (schedule, lever) == ("constant", "B") else None
        flow = None if alone is None else _flow(setting["T"], setting["d"], alone, schedule, lever, value)
        gains = tuple(x for x in (network.get((schedule, lever, value)), measured, law, flow) if x is not None)
        if gains:
            found.append(Option(schedule, lever, value, gains))
    return tuple(found)


def distance(gain: Gain, here: Mapping[str, float]) -> dict[str, float]:
    """By which factor each number of a setting differs from where a gain was measured, without those that do not."""
    ratios = {name: here[name] / x for name, x in gain.measured.items() if name in here}
    return {name: max(x, 1 / x) for name, x in ratios.items() if x != 1}


def recommended(found: tuple[Option, ...], here: Mapping[str, float]) -> Option | None:
    """The fastest form by the trained networks that are nearest to a setting; None if none is faster than no repetition."""
    trained = [x for x in found if x.trained]
    away = {x.name: math.prod(distance(x.gains[0], here).values()) for x in trained if x.gains[0].measured}
    near = [x for x in trained if x.name not in away or away[x.name] == min(away.values())]
    best = max(near, key=lambda x: x.gains[0].factor, default=None)
    return best if best is not None and best.gains[0].factor > 1 else None


def _study(task: Task, results: Path) -> dict[tuple[str, str, float], Gain]:
    """What the study of schedules measured, by schedule, lever and value."""
    times = study_table(results, "schedules", "times")
    if times is None:
        return {}
    name, measured, gains = _IN_STUDY[task], _measured(task, results), {}
    for condition in dict.fromkeys(times["condition"][times["task"] == name].tolist()):
        schedule, _, lever = condition.rpartition(", ")
        if lever != "none" and schedule in ("", "adaptive"):
            letter, _, value = lever.partition(" = ")
            gains[schedule or "constant", letter, float(value)] = _speed_up(times, name, condition, measured)
    return gains


def _of_paper_network(results: Path) -> dict[tuple[str, str, float], Gain]:
    """What figure 5 measured on the paper's network for recall: factors with an interval, by schedule, lever and value."""
    runs = study_table(results, "fig5", "plateaus")
    if runs is None or not is_recall_of_the_paper(runs):
        return {}
    runs = with_plateaus_at(runs, "above")
    there = {"N": float(runs["N"][0]), "V": float(runs["V"][0]), "width": 256.0, "learning_rate": 1e-4}
    return {
        ("constant", lever, value): Gain(factor.value, factor.interval, "our runs of fig5", there)
        for lever in ("B", "p")
        for value, factor in fig5.factors(runs, lever).items()
        if factor.interval is not None
    }


def _speed_up(times: Table, task: str, condition: str, measured: Mapping[str, float]) -> Gain:
    factor, interval = schedules.speed_up(times, task, condition, "none")
    return Gain(factor, interval, "study schedules", measured)


def _measured(task: Task, results: Path) -> dict[str, float]:
    """The setting at which the study trained a task."""
    scale = study_scale(results, "schedules", "times")
    data = schedules.STUDY.data
    assert scale is not None and isinstance(data, TrainedData)  # noqa: S101
    settings = next(x for x in (index.settings(to_json(run)) for run in data.runs(scale)) if x["task"] == task)
    return {name: settings[name] for name in (*SETTINGS[task], "width", "learning_rate")}


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
