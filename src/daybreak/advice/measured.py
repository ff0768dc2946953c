"""What forms of repetition gained where they were trained: factors over none, with intervals, by schedule, lever and value."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from daybreak.advice.reference import SETTINGS, Gain, Task, study_scale, study_table
from daybreak.lab import index
from daybreak.studies._pairs import paired_factor
from daybreak.studies._runs import with_plateaus_at
from daybreak.studies._study import Table, TrainedData
from daybreak.studies.emergence import fig5, schedules, schedules_paper_network
from daybreak.studies.emergence._trained import is_recall_of_the_paper
from daybreak.training import to_json
from daybreak.training.presets import PRESETS

Form = tuple[str, str, float]
"""A schedule, a lever and its value: `constant`, `B`, 4."""
_PRESETS: Mapping[Task, str] = {"single-location": "paper-a-regression", "recall": "paper-a-recall"}
_IN_STUDY: Mapping[Task, str] = {"single-location": "regression", "recall": "recall"}
NETWORK = ("width", "layers", "learning_rate")
"""What makes networks differ, as numbers."""


def network(task: Task) -> dict[str, float]:
    """The width, layers and learning rate of `daybreak train` for a task, which are those of the paper."""
    settings = index.settings(to_json(PRESETS[_PRESETS[task]]))
    return {name: settings[name] for name in NETWORK}


def gains(task: Task, setting: Mapping[str, int], results: Path) -> dict[Form, list[Gain]]:
    """What was measured: on the paper's network, and on small ones in the study of schedules; of equally near ones the first counts."""
    of_paper = (
        (_schedules(results), _figure_3(setting, results)) if task == "single-location" else (_figure_5(results),)
    )
    found: dict[Form, list[Gain]] = {}
    for source in (*of_paper, _study(task, results)):
        for form, gain in source.items():
            found.setdefault(form, []).append(gain)
    return found


def _schedules(results: Path) -> dict[Form, Gain]:
    """Constant and adaptive copies, compared on the paper's network."""
    name = schedules_paper_network.STUDY.name
    runs = study_table(results, name, "plateaus")
    if runs is None:
        return {}
    where = {"T": float(runs["T"][0]), "d": float(runs["d"][0]), **network("single-location")}
    factors = {form: schedules_paper_network.factor(runs, form) for form in schedules_paper_network.forms(runs)}
    return {
        form: Gain(factor.value, factor.interval, f"study {name}", where)
        for form, factor in factors.items()
        if factor.interval is not None
    }


def _figure_3(setting: Mapping[str, int], results: Path) -> dict[Form, Gain]:
    """Copies in the context, at the nearest size of figure 3 that has them, unless that gave a bound only.

    With more copies for their length than were measured, sequences are another task: then it says nothing.
    """
    runs = study_table(results, "fig3", "plateaus")
    if runs is None or "seed" not in runs:
        return {}
    found: dict[Form, Gain | None] = {}
    for T, d in sorted(
        _sizes(runs), key=lambda x: abs(math.log(x[0] / setting["T"])) + abs(math.log(x[1] / setting["d"]))
    ):
        there = (runs["T"] == T) & (runs["d"] == d)
        for B in np.unique(runs["B"][there & (runs["B"] > 1)]).tolist():
            factor = paired_factor(runs, there & (runs["B"] == 1), there & (runs["B"] == B))
            where = {"T": T, "d": d, **network("single-location")}
            gain = None if factor.interval is None else Gain(factor.value, factor.interval, "our runs of fig3", where)
            found.setdefault(("constant", "B", float(B)), gain)
    known = {form: gain for form, gain in found.items() if gain is not None}
    least = min((gain.measured["T"] / form[2] for form, gain in known.items()), default=0.0)
    return {form: gain for form, gain in known.items() if setting["T"] / form[2] >= least}


def _sizes(runs: Table) -> set[tuple[float, float]]:
    """The T and d of runs."""
    return {(float(T), float(d)) for T, d in zip(runs["T"], runs["d"], strict=True)}


def _figure_5(results: Path) -> dict[Form, Gain]:
    """Copies of the answer and repeated queries, with 12 pairs."""
    runs = study_table(results, "fig5", "plateaus")
    if runs is None or not is_recall_of_the_paper(runs):
        return {}
    runs = with_plateaus_at(runs, "above")
    there = {"N": float(runs["N"][0]), "V": float(runs["V"][0]), **network("recall")}
    return {
        ("constant", lever, value): Gain(factor.value, factor.interval, "our runs of fig5", there)
        for lever in ("B", "p")
        for value, factor in fig5.factors(runs, lever).items()
        if factor.interval is not None
    }


def _study(task: Task, results: Path) -> dict[Form, Gain]:
    """All forms, constant and adaptive, at one size with a small network."""
    times = study_table(results, "schedules", "times")
    if times is None:
        return {}
    name, where, found = _IN_STUDY[task], _where(task, results), {}
    for condition in dict.fromkeys(times["condition"][times["task"] == name].tolist()):
        schedule, _, lever = condition.rpartition(", ")
        if lever != "none" and schedule in ("", "adaptive"):
            letter, _, value = lever.partition(" = ")
            found[schedule or "constant", letter, float(value)] = _speed_up(times, name, condition, where)
    return found


def _speed_up(times: Table, task: str, condition: str, where: Mapping[str, float]) -> Gain:
    factor, interval = schedules.speed_up(times, task, condition, "none")
    return Gain(factor, interval, "study schedules", where)


def _where(task: Task, results: Path) -> dict[str, float]:
    """The setting at which the study trained a task."""
    scale = study_scale(results, "schedules", "times")
    data = schedules.STUDY.data
    assert scale is not None and isinstance(data, TrainedData)  # noqa: S101
    settings = next(x for x in (index.settings(to_json(run)) for run in data.runs(scale)) if x["task"] == task)
    return {name: settings[name] for name in (*SETTINGS[task], *NETWORK)}
