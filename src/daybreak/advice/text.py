"""Advice for training on natural text: when to expect the induction head, what repetition gains, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from daybreak.advice.reference import Expected, interval_of, study_table
from daybreak.errors import RequestError
from daybreak.measure.transfer import transfer
from daybreak.studies._pairs import Difference, difference
from daybreak.studies._study import Table
from daybreak.studies.language import laws, schedules
from daybreak.training import to_json
from daybreak.training.presets import PRESETS

_USUAL = f"q = {schedules.SHARE:g}"  # with which the law was measured
_PRESET = to_json(PRESETS["text-induction"])  # what they were compared with
_COMPARED = f"at context {_PRESET['task']['T']}, batch {_PRESET['batch']} and width {_PRESET['model']['width']}"


@final
@dataclass(frozen=True)
class Arm:
    """A form of repetition in the study of text.

    Args:
        name: `none`, `q = 1`, or `adaptive, q = 1`.
        emerged: runs that had an induction head at the end.
        runs: in all.
        factor: steps relative to the repetition of the law; None unless all runs emerged.
        price: difference in the loss on plain text to none, after equal steps, with its 95 % interval; None for none itself.
    """

    name: str
    emerged: int
    runs: int
    factor: float | None
    price: Difference | None


@final
@dataclass(frozen=True)
class TextAdvice:
    """What the studies of text predict for a setting.

    Args:
        setting: T (the context), batch, width and vocabulary.
        expected: steps until the induction head, with the repetition of the law.
        measured: the smallest and largest value of each setting.
        arms: forms of repetition.
        budget: steps after which losses were compared.
        recommended: the form to take; None if no form was better than none.
        command: trains what is recommended.
        cautions: limits of this advice.
    """

    setting: Mapping[str, int]
    expected: Expected
    measured: Mapping[str, tuple[float, float]]
    arms: tuple[Arm, ...]
    budget: int
    recommended: Arm | None
    command: str
    cautions: tuple[str, ...]

    def steps(self, arm: Arm) -> float | None:
        """Expected steps with a form of repetition; None if it is only known that they are more than were trained."""
        return None if arm.factor is None else self.expected.steps * arm.factor

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "task": "text",
            **self.setting,
            "law": {"source": "our runs of text-laws", "formula": self.expected.formula},
            "measured": {name: list(ends) for name, ends in self.measured.items()},
            "plateau": self.expected.steps,
            "interval": self.expected.interval,
            "beyond": [x.as_json() for x in self.expected.beyond],
            "options": [self._arm(x) for x in self.arms],
            "recommended": None if self.recommended is None else self._arm(self.recommended),
            "command": self.command,
            "cautions": list(self.cautions),
        }

    def _arm(self, arm: Arm) -> dict[str, Any]:
        price = None if arm.price is None else {"mean": arm.price.mean, "interval": list(arm.price.interval)}
        return {"name": arm.name, "steps": self.steps(arm), "emerged": arm.emerged, "runs": arm.runs, "loss": price}


def advise_text(setting: Mapping[str, int], results: Path) -> TextAdvice:
    """When to expect the induction head at a setting of text, and with which repetition."""
    runs = _table(results, laws.STUDY.name, "plateaus")
    compared = _table(results, schedules.STUDY.name, "runs")
    there = transfer(laws.FORM, runs, {name: float(x) for name, x in setting.items()})
    expected = Expected(there.median, interval_of(there), there.law.formula, there.beyond)
    arms = tuple(_arm(compared, name) for name in dict.fromkeys(compared["arm"].tolist()))
    best = next((x for x in arms if x.name.startswith("adaptive") and x.factor is not None), None)
    best = best or min((x for x in arms if x.factor is not None and x.price), key=lambda x: x.factor or 0, default=None)
    return TextAdvice(
        setting=setting,
        expected=expected,
        measured={name: (float(runs[name].min()), float(runs[name].max())) for name in setting},
        arms=arms,
        budget=int(compared["steps"].max()),
        recommended=best,
        command=_command(setting, best, expected.steps),
        cautions=(
            f"Forms of repetition were compared {_COMPARED} only. Steps are by the law, for your setting.",
            "Two layers of attention without MLP on Shakespeare and the King James Bible, AdamW at 2e-3: other networks will differ.",
            "Passages of 10 tokens fill most of a sequence that repeats. Copies are 10 to 18 tokens apart.",
            "Losses are on plain text that is held out, after equal steps.",
        ),
    )


def _table(results: Path, study: str, table: str) -> Table:
    found = study_table(results, study, table)
    if found is None:
        raise RequestError(
            f"results = {str(results)!r} is not allowed: it has no table of {study}. Write one with 'daybreak reproduce {study} "
            f"--scale laptop --out {results}', or leave the option out to use what comes with Daybreak."
        )
    return found


def _arm(runs: Table, name: str) -> Arm:
    rows, usual, none = (runs["arm"] == x for x in (name, _USUAL, "none"))
    emerged = int((~runs["censored"][rows]).sum())
    logs = [np.log(runs["plateau"][x]).mean() for x in (rows, usual)]
    return Arm(
        name=name,
        emerged=emerged,
        runs=int(rows.sum()),
        factor=float(np.exp(logs[0] - logs[1])) if emerged == rows.sum() else None,
        price=None if name == "none" else difference(runs, rows, none, "clean_loss"),
    )


def _command(setting: Mapping[str, int], best: Arm | None, steps: float) -> str:
    """Trains what is recommended, with as many copies for each token of the context as were measured."""
    T = setting["T"]
    copies = max(2, T // 16)
    parts = [f"daybreak train text --task.T {T} --task.copies {copies} --batch {setting['batch']}"]
    if setting["width"] != 128:
        parts.append(f"--model.width {setting['width']} --model.head-width {max(1, setting['width'] // 4)}")
    if setting["vocabulary"] != 1000:
        parts.append(f"--task.vocabulary {setting['vocabulary']}")
    parts.append(f"--task.q {best.name.rpartition(' ')[2]}" if best else "--task.q 0")
    parts += ["--schedule.name adaptive"] if best and best.name.startswith("adaptive") else []
    if 2 * steps > 8000:
        parts.append(f"--stop.budget {round(2 * steps, -3):.0f}")
    return " ".join(parts)
