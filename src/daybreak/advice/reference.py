"""The trained networks that advice rests on: where they come from, which plateau they predict, and how far they were measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.reading import laws
from daybreak.lab.reading.groups import groups
from daybreak.lab.reading.published import PUBLISHED, Published, known_exponents
from daybreak.measure import Interval, Law
from daybreak.measure.law import Beyond
from daybreak.measure.transfer import Transfer, transfer
from daybreak.studies import tables
from daybreak.studies._study import Table
from daybreak.studies.catalogue import find
from daybreak.studies.emergence import fig4
from daybreak.studies.emergence._trained import is_recall_of_the_paper

Task = Literal["single-location", "recall"]
SETTINGS: Mapping[Task, tuple[str, str]] = {"single-location": ("T", "d"), "recall": ("N", "V")}
"""What a setting of each task consists of."""
LAWS = ("fig3", "fig15")
"""Figures of paper A whose laws of trained networks can be chosen by name."""

_TRAINED = "task = 'single-location' and model = 'transformer' and p = 0 and schedule = 'constant'"
_FORMS: Mapping[Task, str] = {"single-location": "C * d**a * T**b", "recall": "C * V**a * N**b"}
_LAW_SETTINGS = ("d", "T", "B")
_WIDTH = 256  # of the networks of figures 3, 4 and 15
_FAR, _TOO_FAR = (
    10,
    100,
)  # times beyond what was measured, all settings together: there is no interval, there is no answer


@final
@dataclass(frozen=True)
class Gain:
    """How many times faster a network emerges, with its source.

    Args:
        factor: above 1 is faster.
        interval: 95 %; None from theory.
        source: of the factor.
        measured: setting at which it was measured, and its network; of a law the nearest within its runs; empty from theory.
    """

    factor: float
    interval: Interval | None
    source: str
    measured: Mapping[str, float]


@final
@dataclass(frozen=True)
class Expected:
    """The plateau to expect without repetition.

    Args:
        steps: median.
        interval: in which 95 % of runs should emerge; None if that is not known: of a published law, at another width, or more than
            ten times beyond what was measured.
        formula: the law.
        beyond: settings outside of what was measured.
    """

    steps: float
    interval: Interval | None
    formula: str
    beyond: tuple[Beyond, ...]


def interval_of(there: Transfer, wide: tuple[Beyond, ...] = ()) -> Interval | None:
    """In which 95 % of runs should emerge; None at a width for which there is no law, and far beyond what was measured.

    Raises:
        RequestError: so far beyond that a number would mean nothing.
    """
    beyond = math.prod(x.factor for x in there.beyond)
    if beyond > _TOO_FAR:
        raise RequestError(
            f"{', and '.join(map(str, there.beyond))}: nothing that was measured says what happens there."
        )
    return None if wide or beyond > _FAR else there.interval(0.95)


@final
@dataclass(frozen=True)
class Reference:
    """Trained networks with a law, and its source.

    Args:
        task: what they learned.
        source: where the runs or the law come from.
        paper: the published law.
        runs: without repetition; None if there is only the published law.
        copies: a law of these and of runs that repeat in the context, C d^a T^b B^c; None if there are too few, or if they are
            compared one by one.
        width: of the networks.
    """

    task: Task
    source: str
    paper: Published
    runs: laws.Table | None
    copies: Law | None
    width: int

    def expected(self, setting: Mapping[str, int], width: int) -> Expected:
        """The plateau at a setting, by the law of the runs with the exponents of the paper as far as they leave them open."""
        wide = () if width == self.width else (Beyond("width", float(width), float(self.width)),)
        if self.runs is None:
            steps = self.paper.predict({"B": [1.0], **{name: [x] for name, x in setting.items()}})
            return Expected(float(steps[0]), None, self.paper.formula, wide)
        form = _FORMS[self.task]
        known = known_exponents(self.paper, form, self.runs)
        there = transfer(form, self.runs, {name: float(x) for name, x in setting.items()}, known)
        return Expected(there.median, interval_of(there, wide), there.law.formula, (*there.beyond, *wide))

    @property
    def measured(self) -> dict[str, tuple[float, float]]:
        """The smallest and largest value of each setting of the runs; empty if there are none."""
        if self.runs is None:
            return {}
        ends = {name: (float(self.runs[name].min()), float(self.runs[name].max())) for name in SETTINGS[self.task]}
        return ends | {"width": (float(self.width), float(self.width))}

    def covers(self, setting: Mapping[str, int]) -> bool:
        """Whether there are runs on every side of a setting: as small or smaller in each number, as large or larger, and both mixed."""
        if self.runs is None:
            return False
        (one, first), (other, second) = setting.items()
        sides = [
            (self.runs[one] <= first, self.runs[one] >= first),
            (self.runs[other] <= second, self.runs[other] >= second),
        ]
        return all(bool((x & y).any()) for x in sides[0] for y in sides[1])

    def gain_of_copies(self, B: int, setting: Mapping[str, int]) -> Gain | None:
        """What B copies gain by a law with a power of B; None if there is none."""
        where = {
            name: min(max(float(setting.get(name, self.width)), low), high)
            for name, (low, high) in self.measured.items()
        }
        if self.runs is None:
            power = -self.paper.exponents.get("B", 0.0)
            return Gain(B**power, None, self.source, where) if power else None
        if self.copies is None:
            return None
        low, high = self.copies.intervals["c"]
        return Gain(B ** -self.copies.coefficients["c"], Interval(B**-high, B**-low), self.source, where)


def law_of_lab(lab: Lab) -> Reference:
    """The networks of a lab that were trained on single location: those of the largest group that differs only in T, d and B."""
    none = f"lab {str(lab.path)!r} has no run of single location that emerged without repetition: train one first, or leave out --lab."
    if not {"p", "B"} <= {*lab.query().column_names}:  # only observed runs, or runs of other tasks
        raise RequestError(none)
    largest = groups(laws.table(lab, _TRAINED), _LAW_SETTINGS)[0].runs
    alone = laws.select(largest, largest["B"] == 1)
    if not (~alone["censored"]).any():
        raise RequestError(none)
    count = len(alone["id"])
    paper = _published("fig3")
    runs = "1 run" if count == 1 else f"{count} runs"
    return Reference(
        "single-location", f"{runs} in {str(lab.path)!r}", paper, alone, _copies(largest), int(largest["width"][0])
    )


def law_of_results(name: str, results: Path) -> Reference:
    """The networks of a figure in a folder of results."""
    if name not in LAWS:
        raise RequestError(f"law = {name!r} is unknown: choose {' or '.join(LAWS)}, or give --lab.")
    runs = study_table(results, name, "plateaus")
    if runs is None:
        raise RequestError(
            f"results = {str(results)!r} is not allowed: it has no table of {name}. Write one with "
            f"'daybreak reproduce {name} --scale laptop --out {results}', or leave the option out to use what comes with Daybreak."
        )
    if "p" in runs:
        runs = laws.select(runs, runs["p"] == 0)
    if "optimizer" in runs:
        runs = laws.select(runs, runs["optimizer"] == "adam")
    alone = laws.select(runs, runs["B"] == 1) if "B" in runs else runs
    return Reference("single-location", f"our runs of {name}", _published(name), alone, None, _WIDTH)


def law_of_recall(results: Path) -> Reference:
    """The networks of figure 4 in a folder of results; if it has none in the paper's regime, the law as it was published."""
    runs, paper = study_table(results, "fig4", "plateaus"), _published("fig4")
    if runs is None or not is_recall_of_the_paper(runs):
        return Reference("recall", paper.source, paper, None, None, _WIDTH)
    return Reference("recall", "our runs of fig4", paper, fig4.by_level(runs)["above the guess"], None, _WIDTH)


def _published(name: str) -> Published:
    return next(x for x in PUBLISHED if x.source == f"paper A, figure {name.removeprefix('fig')}")


def _copies(runs: Table) -> Law | None:
    """The law of runs that repeat in the context and of those that do not; None if they do not determine it."""
    try:
        return laws.fit("C * d**a * T**b * B**c", runs, "tobit").law
    except RequestError:
        return None


def study_table(results: Path, name: str, table: str) -> Table | None:
    """A table of a study at its largest scale above `smoke`; None if there is none."""
    scale = study_scale(results, name, table)
    return None if scale is None else tables.read(results / find(name).paper / name / scale / f"{table}.parquet")


def study_scale(results: Path, name: str, table: str) -> Literal["paper", "laptop"] | None:
    """The largest scale above `smoke` at which a folder has a table of a study."""
    folder = results / find(name).paper / name
    scales: tuple[Literal["paper", "laptop"], ...] = ("paper", "laptop")
    return next((scale for scale in scales if (folder / scale / f"{table}.parquet").exists()), None)
