"""What a study is: a figure of a paper, with what was measured for it, what it claims, and the picture."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Literal, final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daybreak._types import Bools
from daybreak.lab import Keep, Saved
from daybreak.measure import Law
from daybreak.training import Run

Scale = Literal["smoke", "laptop", "paper"]
Verdict = Literal["holds", "fails", "undecided", "outside"]
VERDICTS: Mapping[Verdict, str] = {
    "holds": "our measurements agree with the sentence, by the rule of its study",
    "fails": "our measurements contradict the sentence",
    "undecided": "our measurements do not decide it",
    "outside": "our grid does not reach the regime the sentence is about",
}
"""What each verdict means, for legends."""
_OUTSIDE = re.compile(r"The sentence is about .+\. To reach it costs about .+ hours")
Table = dict[str, NDArray]
Tables = dict[str, Table]


@final
@dataclass(frozen=True)
class Claim:
    """One checkable sentence of a paper, what the paper gives for it, what we measured, and the verdict.

    Ids are those of the papers' list; a word behind one (`A8-left`) distinguishes the parts of a claim. Claims of our own
    have "ours" in place of the paper's figure. The note of a claim with verdict `outside` contains "The sentence is about
    REGIME. To reach it costs about N hours".
    """

    id: str
    sentence: str
    paper: str
    ours: str
    verdict: Verdict
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict == "outside" and not _OUTSIDE.search(self.note):
            raise ValueError(
                f"claim {self.id} is outside: its note must contain 'The sentence is about REGIME. To reach it costs about N hours'."
            )

    def as_json(self) -> dict[str, Any]:
        """The claim as plain data."""
        return asdict(self)


@final
@dataclass(frozen=True)
class Findings:
    """The findings of a study: claims with verdicts, and the laws they are based on."""

    claims: tuple[Claim, ...]
    laws: Mapping[str, Law] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class TrainedData:
    """Measurements that need networks to be trained.

    Args:
        runs: what to train at a scale, each run once.
        tables: what is measured from their records, in the order of the runs; none of them failed.
        keep: files to keep of each run besides its record. If there are any, a run goes on from the end of the one that differs from
            it in a smaller budget only, so that such runs together are one training that is read on its way.
    """

    runs: Callable[[Scale], list[Run]]
    tables: Callable[[list[Saved]], Tables]
    keep: tuple[Keep, ...] = ()

    def rounds(self, scale: Scale) -> list[list[Run]]:
        """The runs of a scale in the order in which they are trained: those of a round do not depend on each other."""
        if not self.keep:
            return [self.runs(scale)]
        families = self._families(scale)
        depth = max(map(len, families), default=0)
        return [[family[i] for family in families if i < len(family)] for i in range(depth)]

    def trainings(self, scale: Scale) -> list[Run]:
        """The runs of a scale that say what it costs: of those that go on from each other, the longest."""
        return [family[-1] for family in self._families(scale)] if self.keep else self.runs(scale)

    def _families(self, scale: Scale) -> list[list[Run]]:
        """Runs that differ in their budgets only, the shortest first."""
        families: dict[str, list[Run]] = {}
        for run in sorted(self.runs(scale), key=lambda run: run.stop.budget):
            families.setdefault(replace(run, stop=replace(run.stop, budget=1)).id, []).append(run)
        return list(families.values())


@final
@dataclass(frozen=True)
class Study:
    """A figure: measurements → laws and claims → picture.

    Args:
        name: what the command calls it, `fig1c`.
        paper: its folder under `studies/`: `emergence` (paper A), `incremental` (paper B) or `language` (our own).
        title: one line, for lists.
        minutes: rough cost on two cores at each scale; of trained figures at the scale `paper`, by counted operations, with
            75 billion a second on a core.
        data: compute the tables at a scale, by mathematics alone or by training.
        judge: laws and claims from the tables.
        draw: the picture from both.
    """

    name: str
    paper: Literal["emergence", "incremental", "language"]
    title: str
    minutes: Mapping[Scale, float]
    data: Callable[[Scale], Tables] | TrainedData
    judge: Callable[[Tables], Findings]
    draw: Callable[[Tables, Findings], Figure]


def verdict(condition: bool | np.bool_) -> Verdict:
    """`holds` or `fails`, for claims that the measurements decide."""
    return "holds" if condition else "fails"


def grid(**axes: Any) -> Table:
    """Every combination of the axes, one row each.

    Example:
        >>> grid(T=[64, 128], d=[16])["T"].tolist()
        [64.0, 128.0]
    """
    rows = np.array(list(product(*axes.values())), dtype=np.float64)
    return dict(zip(axes, rows.T, strict=True))


def stack(*tables: Table) -> Table:
    """Rows of several tables of equal columns below each other."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def select(table: Table, rows: Bools) -> Table:
    """The rows of a table for which a condition holds."""
    return {name: column[rows] for name, column in table.items()}
