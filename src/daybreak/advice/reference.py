"""The law of trained networks that advice rests on: where it comes from, what it predicts, and how far it was measured."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.reading import laws
from daybreak.lab.reading.published import PUBLISHED, Published
from daybreak.measure import Interval, Law
from daybreak.studies import tables
from daybreak.studies._study import Table
from daybreak.studies.catalogue import find

LAWS = ("fig3", "fig15")
"""Figures of paper A whose laws of trained networks can be chosen by name."""

_TRAINED = "task = 'single-location' and model = 'transformer' and p = 0 and schedule = 'constant'"


@final
@dataclass(frozen=True)
class Gain:
    """How many times faster a network emerges, and the source of that factor; theory gives no interval."""

    factor: float
    interval: Interval | None
    source: str


@final
@dataclass(frozen=True)
class Beyond:
    """A setting outside of the range that a law was fitted on, and by which factor."""

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
    """A law of trained networks, and its source; a published one has neither intervals nor a known grid."""

    source: str
    law: Law | Published

    @property
    def formula(self) -> str:
        """With its numbers."""
        return self.law.formula

    def plateau(self, T: int, d: int) -> tuple[float, Interval | None]:
        """Steps without repetition, and the interval in which 95 % of runs should emerge."""
        row = {"T": [T], "d": [d], "B": [1.0]}
        steps = float(self.law.predict(row)[0])
        if isinstance(self.law, Published):
            return steps, None
        low, high = self.law.predict_interval(row)
        return steps, Interval(float(low[0]), float(high[0]))

    def beyond(self, T: int, d: int) -> tuple[Beyond, ...]:
        """Which of T and d lie outside of the measured range."""
        if isinstance(self.law, Published):
            return ()
        given = {"T": T, "d": d}
        ranges = {name: self.law.ranges[name] for name in given if name in self.law.ranges}
        edges = {name: float(np.clip(given[name], *ends)) for name, ends in ranges.items()}
        return tuple(Beyond(name, given[name], edge) for name, edge in edges.items() if edge != given[name])

    def gain_of_copies(self, T: int, d: int, B: int) -> Gain | None:
        """What B copies gain; None if the law does not contain B."""
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


def law_of_lab(lab: Lab) -> Reference:
    """The law of the trained networks of a lab, in the columns that vary among them."""
    runs = laws.table(lab, _TRAINED)
    form = laws.default_form(runs) or "C * d**a * T**b"
    fitted = laws.fit(form, runs)
    return Reference(f"{len(runs['id'])} runs in {str(lab.path)!r}", fitted.law)


def law_of_results(name: str, results: Path) -> Reference:
    """The law of a figure: fitted to the runs in a folder of results if it has them, otherwise as published."""
    if name not in LAWS:
        raise RequestError(f"law = {name!r} is unknown: choose {' or '.join(LAWS)}, or give --lab.")
    paper = next(x for x in PUBLISHED if x.source == f"paper A, figure {name.removeprefix('fig')}")
    runs = study_table(results, name, "plateaus")
    if runs is None:
        return Reference(paper.source, paper)
    kept = runs["p"] == 0 if "p" in runs else np.ones(len(runs["plateau"]), np.bool_)
    if "optimizer" in runs:
        kept &= runs["optimizer"] == "adam"
    return Reference(f"{name}, our runs", laws.fit(paper.form, laws.select(runs, kept), "tobit").law)


def study_table(results: Path, name: str, table: str) -> Table | None:
    """A table of a study at its largest scale above `smoke`; None if there is none."""
    folder = results / find(name).paper / name
    path = next((x for scale in ("paper", "laptop") if (x := folder / scale / f"{table}.parquet").exists()), None)
    return None if path is None else tables.read(path)
