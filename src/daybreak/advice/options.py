"""What each form of repetition gains at a setting, and which one to take."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from daybreak import theory
from daybreak.advice.reference import Gain, Reference, study_table
from daybreak.errors import RequestError
from daybreak.studies.emergence import best_repetition, schedules

_COPIES = (2, 4, 8)  # what was trained; more copies of a token are another task
_PROBABILITIES = (0.5, 0.9)


@final
@dataclass(frozen=True)
class Option:
    """A form of repetition, and what it gains over none under the clean loss; the best source first."""

    name: str
    gains: tuple[Gain, ...]


def options(T: int, d: int, reference: Reference, steps: float) -> tuple[Option, ...]:
    """Constant copies, constant p, one switch, and the adaptive rule; `steps` is the plateau without repetition."""
    alone = _alone(T, d)
    switch = theory.best_switch(T, d)
    at = steps * switch.times[0] / alone
    return (
        *(Option(f"constant B = {B}", _copies(T, d, B, reference)) for B in _fitting_copies(T)),
        *(Option(f"constant p = {p:g}", (_theory(_constant(T, d, "p", p)),)) for p in _PROBABILITIES),
        Option(f"p from 1 to 0 at step {at:,.0f}", (_theory(alone / switch.plateau),)),
        Option("adaptive p = 0.99", (_theory(alone / best_repetition.patient(T, d).plateau),)),
    )


def recommended(T: int, d: int, reference: Reference, results: Path) -> tuple[Option, str]:
    """The adaptive schedule with the lever that gained most where it was measured, else with copies; and its option of `train`."""
    measured: tuple[Gain, ...] = ()
    times = study_table(results, "schedules", "times")
    if times is not None:
        name = schedules.best_adaptive(times, "regression")
        factor, interval = schedules.speed_up(times, "regression", name, "none")
        measured = (Gain(factor, interval, "study schedules"),)
        if name.startswith("adaptive, p"):
            p = float(name.rpartition("=")[2])
            by_theory = _theory(_alone(T, d) / best_repetition.patient(T, d, p).plateau)
            return Option(f"adaptive p = {p:g}", (*measured, by_theory)), f"--task.p {p:g}"
    copies = _fitting_copies(T)
    if not copies:
        raise RequestError(f"T = {T} is not allowed: it must be at least 8, shorter sequences have almost no plateau.")
    B = copies[-1]
    law = reference.gain_of_copies(T, d, B)
    by_theory = _theory(_alone(T, d) / theory.best_switch(T, d, lever="B", high=B).plateau)
    return Option(f"adaptive B = {B}", (*measured, *([] if law is None else [law]), by_theory)), f"--task.B {B}"


def _fitting_copies(T: int) -> list[int]:
    return [B for B in _COPIES if T / B >= 4]  # with more, the relevant token fills most of the sequence


def _copies(T: int, d: int, B: int, reference: Reference) -> tuple[Gain, ...]:
    law = reference.gain_of_copies(T, d, B)
    return (*([] if law is None else [law]), _theory(_constant(T, d, "B", B)))


def _theory(factor: float) -> Gain:
    return Gain(float(factor), None, "theory")


def _alone(T: int, d: int) -> float:
    return float(theory.plateau(T, d))


def _constant(T: int, d: int, lever: theory.Lever, value: float) -> float:
    return _alone(T, d) / theory.scheduled_plateau(T, d, [], [value], lever=lever).plateau
