"""All advice for a setting in one answer."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from daybreak.advice.measured import network
from daybreak.advice.options import Option, distance, options, recommended
from daybreak.advice.reference import Expected, Gain, Reference, Task
from daybreak.tasks import Recall, SingleLocation
from daybreak.training import Stop

_BUDGET = 2  # times the expected plateau: intervals are about that wide
_MOST_STEPS = 2**31 - 1  # that `daybreak train` takes
_TASKS = {"single-location": SingleLocation, "recall": Recall}


@final
@dataclass(frozen=True)
class Advice:
    """What theory, laws and studies predict for a setting.

    Args:
        task: what is learned.
        setting: T and d of single location, N and V of recall.
        here: the setting with the width, layers and learning rate of the network that `command` trains.
        reference: the trained networks, or the published law, that give the number of steps.
        expected: the plateau without repetition.
        options: forms of repetition, and what each gains.
        recommended: the fastest of them on the trained networks most like the own one; None if none is faster than no repetition there.
        why_not: for each option that looks faster, why it is not recommended.
        command: trains what is recommended.
        cautions: limits of this advice.
    """

    task: Task
    setting: Mapping[str, int]
    here: Mapping[str, float]
    reference: Reference
    expected: Expected
    options: tuple[Option, ...]
    recommended: Option | None
    why_not: tuple[str, ...]
    command: str
    cautions: tuple[str, ...]

    def steps(self, option: Option) -> float:
        """Expected plateau with a form of repetition."""
        return self.expected.steps / option.gains[0].factor

    @property
    def steps_by_paper(self) -> float:
        """The plateau without repetition by the published law."""
        return float(self.reference.paper.predict({"B": [1.0], **{name: [x] for name, x in self.setting.items()}})[0])

    def distance(self, gain: Gain) -> dict[str, float]:
        """By which factor each number of the setting differs from where a gain was measured, without those that do not."""
        return distance(gain, self.here)

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "task": self.task,
            **self.setting,
            "width": int(self.here["width"]),
            "law": {"source": self.reference.source, "formula": self.expected.formula},
            "measured": {name: list(ends) for name, ends in self.reference.measured.items()},
            "plateau": self.expected.steps,
            "by_paper": self.steps_by_paper,
            "interval": self.expected.interval,
            "beyond": [x.as_json() for x in self.expected.beyond],
            "options": [self._option(x) for x in self.options],
            "recommended": None if self.recommended is None else self._option(self.recommended),
            "why_not": list(self.why_not),
            "command": self.command,
            "cautions": list(self.cautions),
        }

    def _option(self, option: Option) -> dict[str, Any]:
        return {
            "name": option.name,
            "schedule": option.schedule,
            "lever": option.lever,
            "value": float(option.value),
            "steps": self.steps(option),
            "factor": option.gains[0].factor,
            "gains": [self._gain(x) for x in option.gains],
        }

    def _gain(self, gain: Gain) -> dict[str, Any]:
        values = {"factor": gain.factor, "interval": gain.interval, "source": gain.source}
        return values | {"measured": dict(gain.measured), "distance": self.distance(gain)}


def advise(task: Task, setting: Mapping[str, int], width: int, reference: Reference, results: Path) -> Advice:
    """Expected plateau, what each form of repetition gains, and which to take.

    Raises:
        RequestError: if there is no such task, or if it lies too far beyond everything that was measured.
    """
    _TASKS[task](**setting)  # refuses what cannot be
    here = network(task) | {"width": width} | {**setting}
    expected = reference.expected(setting, width)
    found = options(task, setting, here, reference, results)
    best = recommended(found, here)
    return Advice(
        task=task,
        setting=setting,
        here=here,
        reference=reference,
        expected=expected,
        options=found,
        recommended=best,
        why_not=_why_not(found, best),
        command=_command(task, setting, width, best, expected.steps),
        cautions=_cautions(task, reference, expected, width),
    )


def _why_not(found: tuple[Option, ...], best: Option | None) -> tuple[str, ...]:
    least = 1.0 if best is None else best.gains[0].factor
    faster = [x for x in found if x.gains[0].factor > least]
    return tuple(
        f"{x.name} is {x.gains[0].factor:.2f} times faster by {x.gains[0].source}, but on networks less like yours."
        if x.trained
        else f"{x.name} is {x.gains[0].factor:.2f} times faster by theory alone: no network was trained with it."
        for x in faster
    )


def _command(task: Task, setting: Mapping[str, int], width: int, best: Option | None, plateau: float) -> str:
    parts = [f"daybreak train {task}", *(f"--task.{name} {x}" for name, x in setting.items())]
    if width != 256:
        parts.append(f"--model.width {width}")
    if best is not None:
        parts.append(f"--task.{best.lever} {best.value:g}")
        parts += ["--schedule.name adaptive"] if best.schedule == "adaptive" else []
    steps = _BUDGET * plateau / (1 if best is None else best.gains[0].factor)
    if steps > Stop.budget:
        parts.append(f"--stop.budget {min(_rounded_up(steps), _MOST_STEPS)}")
    return " ".join(parts)


def _rounded_up(number: float) -> int:
    """To two digits that are not zero."""
    unit = 10 ** (int(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def _cautions(task: Task, reference: Reference, expected: Expected, width: int) -> tuple[str, ...]:
    cautions = (
        []
        if width == reference.width
        else [
            f"Steps are those of networks of width {reference.width}. Narrower ones can take several times as many: no law for the width."
        ]
    )
    cautions += [
        "The adaptive rule watches a loss that falls towards zero. If noise keeps it high, raise restore_below."
    ]
    if task == "recall":
        cautions += [
            "No run of ours covers recall here: the number of steps is the paper's, the factors are measured."
            if reference.runs is None
            else "The steps are those to a fifth of the way from guessing among the values of the context, 1/N, to no mistakes.",
            "With many copies in the context a network counts instead of recalling: 8 in 12 pairs overfitted (figure 5). Take few.",
        ]
    else:
        cautions += [
            "The law is for the paper's network, Adam at 1e-4 and batches of 32, unless it is that of your lab.",
            "Theory has no biases. With biases a Transformer memorises the repeated token: in our study p slowed regression down.",
        ]
    if reference.runs is None:
        cautions.append("The paper gives neither intervals nor its grid: how far this extrapolates is unknown.")
    if expected.steps < 200:
        cautions.append(f"A plateau of {expected.steps:,.0f} steps is too short to need repetition.")
    return tuple(cautions)
