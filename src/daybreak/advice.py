"""What repetition would do for a setting: how long the plateau is expected to be, what each lever buys, and which schedule to take.

How long comes from a law of trained networks: of a lab's own runs, of the shipped results, or the paper's. How many times
sooner comes from the flow of the toy model, from the law where it has B, and from the shipped study of schedules. Each number
says where it comes from, and how far beyond what was measured the setting lies.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from daybreak import theory
from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.reading import laws
from daybreak.lab.reading.published import PUBLISHED, Published
from daybreak.measure import Interval, Law
from daybreak.studies import tables
from daybreak.studies._study import Table
from daybreak.studies.catalogue import find
from daybreak.studies.emergence import best_repetition, schedules

LAWS = ("fig3", "fig15")
"""Figures of paper A whose laws for trained networks can be asked by name."""

_TRAINED = "task = 'single-location' and model = 'transformer' and p = 0 and schedule = 'constant'"
_COPIES = (2, 4, 8)  # what was trained; more copies of a token are another task
_PROBABILITIES = (0.5, 0.9)


@final
@dataclass(frozen=True)
class Gain:
    """How many times sooner, and who says so; theory gives no interval."""

    factor: float
    interval: Interval | None
    source: str


@final
@dataclass(frozen=True)
class Option:
    """A lever, and what it buys over none under the clean loss."""

    name: str
    gains: tuple[Gain, ...]


@final
@dataclass(frozen=True)
class Beyond:
    """A setting outside of what a law was fitted on, and by which factor."""

    name: str
    value: float
    edge: float

    @property
    def factor(self) -> float:
        """How far beyond the edge, above 1."""
        return max(self.value / self.edge, self.edge / self.value)

    def __str__(self) -> str:
        side = "largest" if self.value > self.edge else "smallest"
        return f"{self.name} = {self.value:g} is a factor {self.factor:.3g} beyond the {side} measured, {self.edge:g}"


@final
@dataclass(frozen=True)
class Reference:
    """A law of trained networks, and where it comes from; a published one has neither intervals nor a known grid."""

    source: str
    law: Law | Published

    @property
    def formula(self) -> str:
        """With its numbers."""
        return self.law.formula

    def plateau(self, T: int, d: int) -> tuple[float, Interval | None]:
        """Steps without repetition, and where 95 % of runs should end."""
        row = {"T": [T], "d": [d], "B": [1.0]}
        steps = float(self.law.predict(row)[0])
        if isinstance(self.law, Published):
            return steps, None
        low, high = self.law.predict_interval(row)
        return steps, Interval(float(low[0]), float(high[0]))

    def beyond(self, T: int, d: int) -> tuple[Beyond, ...]:
        """What lies outside of the measured settings."""
        if isinstance(self.law, Published):
            return ()
        given = {"T": T, "d": d}
        ranges = {name: self.law.ranges[name] for name in given if name in self.law.ranges}
        edges = {name: float(np.clip(given[name], *ends)) for name, ends in ranges.items()}
        return tuple(Beyond(name, given[name], edge) for name, edge in edges.items() if edge != given[name])

    def copies(self, T: int, d: int, B: int) -> Gain | None:
        """What B copies buy; None if the law does not have them."""
        rows = {"T": [T, T], "d": [d, d], "B": [1.0, float(B)]}
        alone, repeated = self.law.predict(rows)
        if alone == repeated:
            return None
        interval = None
        if isinstance(self.law, Law):
            power = np.log(alone / repeated) / np.log(B)
            name = next((k for k, x in self.law.coefficients.items() if np.isclose(abs(x), power)), None)
            ends = sorted(B ** abs(x) for x in self.law.intervals[name]) if name is not None else None
            interval = None if ends is None else Interval(float(ends[0]), float(ends[1]))
        return Gain(float(alone / repeated), interval, self.source)


@final
@dataclass(frozen=True)
class Advice:
    """All that can be said of a setting.

    Args:
        T: sequence length.
        d: dimension.
        reference: the law that speaks of steps.
        plateau: steps without repetition.
        interval: where 95 % of runs should end; None where the law has none.
        beyond: settings outside of what the law was fitted on.
        options: levers and what each buys.
        recommended: the schedule to take.
        command: that trains with it.
        cautions: when not to listen.
    """

    T: int
    d: int
    reference: Reference
    plateau: float
    interval: Interval | None
    beyond: tuple[Beyond, ...]
    options: tuple[Option, ...]
    recommended: Option
    command: str
    cautions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "T": self.T,
            "d": self.d,
            "law": {"source": self.reference.source, "formula": self.reference.formula},
            "plateau": self.plateau,
            "interval": self.interval,
            "beyond": [{**asdict(x), "factor": x.factor} for x in self.beyond],
            "options": [asdict(x) for x in self.options],
            "recommended": asdict(self.recommended),
            "command": self.command,
            "cautions": list(self.cautions),
        }


def of_lab(lab: Lab) -> Reference:
    """The law of a lab's own trained networks, in the columns that vary among them."""
    runs = laws.table(lab, _TRAINED)
    form = laws.default_form(runs) or "C * d**a * T**b"
    fitted = laws.fit(form, runs)
    return Reference(f"{len(runs['id'])} runs in {str(lab.path)!r}", fitted.law)


def of_results(name: str, results: Path) -> Reference:
    """The law of a figure: of the runs under a folder of results, if they are there; otherwise as the paper has it."""
    if name not in LAWS:
        raise RequestError(f"law = {name!r} is unknown: choose {' or '.join(LAWS)}, or give --lab.")
    paper = next(x for x in PUBLISHED if x.source == f"paper A, figure {name.removeprefix('fig')}")
    runs = _measured(results, name, "plateaus")
    if runs is None:
        return Reference(paper.source, paper)
    kept = runs["p"] == 0 if "p" in runs else np.ones(len(runs["plateau"]), np.bool_)
    if "optimizer" in runs:
        kept &= runs["optimizer"] == "adam"
    return Reference(f"{name}, our runs", laws.fit(paper.form, laws.select(runs, kept), "tobit").law)


def advise(T: int, d: int, reference: Reference, results: Path) -> Advice:
    """Expected plateau, levers, and the schedule to take."""
    steps, interval = reference.plateau(T, d)
    copies = [B for B in _COPIES if T / B >= 4]  # beyond, the relevant token is most of what there is
    options = [Option(f"constant B = {B}", _copies(T, d, B, reference)) for B in copies]
    options += [Option(f"constant p = {p:g}", (_theory(_constant(T, d, "p", p)),)) for p in _PROBABILITIES]
    switch = theory.best_switch(T, d)
    alone = _alone(T, d)
    at = steps * switch.times[0] / alone
    options.append(Option(f"p from 1 to 0 at step {at:,.0f}", (_theory(alone / switch.plateau),)))
    patient = _theory(alone / best_repetition.patient(T, d).plateau)
    options.append(Option("adaptive p = 0.99", (patient,)))
    recommended, lever = _recommended(T, d, copies, reference, results)
    beyond = reference.beyond(T, d)
    return Advice(
        T=T,
        d=d,
        reference=reference,
        plateau=steps,
        interval=interval,
        beyond=beyond,
        options=tuple(options),
        recommended=recommended,
        command=f"daybreak train single-location --task.T {T} --task.d {d} {lever} --schedule.name adaptive",
        cautions=_cautions(reference, steps),
    )


def _recommended(T: int, d: int, copies: list[int], reference: Reference, results: Path) -> tuple[Option, str]:
    """Adaptive, with the lever that served best where it was measured; copies, where nothing was."""
    B = copies[-1] if copies else 1
    measured: tuple[Gain, ...] = ()
    times = _measured(results, "schedules", "times")
    if times is not None:
        name = schedules.best_adaptive(times, "regression")
        factor, interval = schedules.speed_up(times, "regression", name, "none")
        measured = (Gain(factor, interval, "study schedules"),)
        if name.startswith("adaptive, p"):
            p = float(name.rpartition("=")[2])
            return Option(
                f"adaptive p = {p:g}", (*measured, _theory(_alone(T, d) / best_repetition.patient(T, d, p).plateau))
            ), f"--task.p {p:g}"
    if B == 1:
        raise RequestError(f"T = {T} is not allowed: sequences shorter than 8 tokens have no plateau to speak of.")
    found = reference.copies(T, d, B)
    switch = theory.best_switch(T, d, lever="B", high=B)
    gains = (*measured, *([] if found is None else [found]), _theory(_alone(T, d) / switch.plateau))
    return Option(f"adaptive B = {B}", gains), f"--task.B {B}"


def _cautions(reference: Reference, steps: float) -> tuple[str, ...]:
    said = [
        "The law is for single-location regression with the paper's network, Adam at 1e-4 and batches of 32.",
        "In recall, copies in the context invite counting instead of recalling: repeat queries (p) there.",
        "p is by theory alone: the toy model has no biases, with which a Transformer memorises the repeated token.",
        "In our study (docs/repetition.md) p slowed regression down, and copies that were taken away in time helped.",
        "The adaptive rule watches a loss that falls towards zero. Where noise keeps it high, raise restore_below.",
    ]
    if isinstance(reference.law, Published):
        said.append(
            "The paper gives neither intervals nor its grid: how far this extrapolates is not known. A lab of your own tells."
        )
    if steps < 200:
        said.append(f"A plateau of {steps:,.0f} steps is hardly worth a schedule.")
    return tuple(said)


def _copies(T: int, d: int, B: int, reference: Reference) -> tuple[Gain, ...]:
    law = reference.copies(T, d, B)
    return (*([] if law is None else [law]), _theory(_constant(T, d, "B", B)))


def _theory(factor: float) -> Gain:
    return Gain(float(factor), None, "theory")


def _alone(T: int, d: int) -> float:
    return float(theory.plateau(T, d))


def _constant(T: int, d: int, lever: Any, value: float) -> float:
    return _alone(T, d) / theory.scheduled_plateau(T, d, [], [value], lever=lever).plateau


def _measured(results: Path, name: str, table: str) -> Table | None:
    """A table of a study at the largest scale that tells something; None if there is none."""
    folder = results / find(name).paper / name
    path = next((x for scale in ("paper", "laptop") if (x := folder / scale / f"{table}.parquet").exists()), None)
    return None if path is None else tables.read(path)
