"""What studies of paper A's trained networks share: their sweeps, its published laws, and what its sentences are about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from daybreak.lab.reading.published import PUBLISHED, Published
from daybreak.measure import Law
from daybreak.studies import _runs, _verdicts
from daybreak.studies._study import Claim, Table, Verdict

TINY = """
evaluation = 64
seeds = 2
model.layers = 1
model.heads = 1
model.width = 16
model.head_width = 8
model.mlp = 32
optimizer.learning_rate = 0.01
stop.every = 10
stop.budget = 400
"""
"""Start of every sweep at smoke scale: the smallest networks that still learn."""

CORNER = """
[[grid]]
preset = "paper-a-regression"
where = "T == 4 or d == 2"
task.T = [4, 8]
task.d = [2, 4]
"""
"""The fewest shapes that separate the effects of d and T, for smoke scale."""

TINY_RECALL = """
[[grid]]
preset = "paper-a-recall"
model.layers = 2
stop.level = 0.9
"""
"""A recall that tiny networks learn, for smoke scale; N and V are to follow."""

SMALL_RECALL = """
preset = "paper-a-recall"
optimizer.learning_rate = 0.001
model.layers = 2
model.width = 64
model.head_width = 16
model.mlp = 0
model.positions = "learned"
task.V = 32
stop.every = 20
"""
"""Recall by two layers of attention with learned positions: one sharp transition to nearly 100 %, within minutes."""

PAPER_LAW = "2 * 0.76 * d**1.29 * (T / B)**0.8 + 500"
"""Budget of regressions at laptop scale: twice what the paper's law of figure 3 predicts, and 500 steps."""

LENGTHS = f"""
[[grid]]
preset = "paper-a-regression"
seeds = 3
precision = "bfloat16"
where = "T * d <= 4096"
task.T = [32, 64, 128]
task.d = [16, 32, 64]
stop.budget = "{PAPER_LAW}"
"""
"""The regressions without repetition of figures 3, 11, 13 and 14 at laptop scale.

All their runs have products in bfloat16, which moves no plateau (claim R11) and takes half of the time.
"""


NETWORK = ("layers", "width", "mlp", "learning_rate")
"""Settings that `network_of` reads."""


def network_of(table: Table) -> str:
    """The network of studies that do not have the paper's."""
    layers, width, mlp, rate = (table[name][0] for name in NETWORK)
    return f"{layers} layers of width {width}{'' if mlp else ' without MLP'}, learning rate {rate:g}"


def published(figure: int) -> list[Published]:
    """The laws that paper A gives in a figure."""
    return [x for x in PUBLISHED if x.source == f"paper A, figure {figure}"]


def is_recall_of_the_paper(runs: Table) -> bool:
    """Whether runs of recall are in the regime that the paper's sentences are about.

    That is from eight pairs on: with fewer, nothing is sharp. And the answer has exactly one copy without repetition.
    """
    return bool(runs["N"].min() >= 8) and not _repeats(runs)


def _repeats(runs: Table) -> bool:
    """Whether there are copies without repetition: at-least-one, the only placement of tables without that column, makes some in 40 %."""
    return "placement" not in runs or bool(np.any(runs["placement"] != "one-plus"))


def unless_outside(claims: Sequence[Claim], runs: Table, hours: float) -> tuple[Claim, ...]:
    """Claims about recall, `outside` if their runs are not in the regime that the paper's sentences are about."""
    if is_recall_of_the_paper(runs):
        return tuple(claims)
    repeats = _repeats(runs)
    about = (
        f"The sentence is about recall of 8 pairs or more, with one copy of the answer if there is no repetition; these runs have N from "
        f"{runs['N'].min():g} to {runs['N'].max():g}{', and about 1.5 copies without repetition' if repeats else ''}. "
        f"To reach it costs about {hours:g} hours of two cores."
    )
    return tuple(replace(x, verdict="outside", note=f"{about} {x.note}") for x in claims)


def unless_small(
    claims: Sequence[Claim], runs: Table, ranges: Mapping[str, tuple[float, float]], hours: float
) -> tuple[Claim, ...]:
    """Claims about regressions, `outside` if their runs are only a small corner of the paper's grid.

    At T below 32 and d below 16 exponents are smaller and grow with the size: such runs say nothing about the paper's laws.

    Args:
        claims: as judged.
        runs: that they were judged on.
        ranges: for each setting a value that no run may be below, and one that some run must reach.
        hours: of two cores for runs that do.
    """
    if all(low <= runs[name].min() and high <= runs[name].max() for name, (low, high) in ranges.items()):
        return tuple(claims)
    asked = " and ".join(f"{name} {_from_to(x)} or more" for name, x in ranges.items())
    given = " and ".join(f"{name} {_from_to((float(runs[name].min()), float(runs[name].max())))}" for name in ranges)
    about = (
        f"The sentence is about {asked}; these runs have {given}. To reach it costs about {hours:g} hours of two cores."
    )
    return tuple(replace(x, verdict="outside", note=f"{about} {x.note}") for x in claims)


def _from_to(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"of {low:g}" if low == high else f"from {low:g} to {high:g}"


def agrees(law: Law, paper: Published, columns: Mapping[str, str], tolerance: float = 0.2) -> Verdict:
    """Whether exponents of a law, each the power of a column, are those of a published law within a tolerance."""
    return _verdicts.all_of(
        _verdicts.verdict_within(law.intervals[x], paper.exponents[column], tolerance) for x, column in columns.items()
    )


def local_exponents(runs: Table, one: str, other: str) -> str:
    """The exponents of two settings between neighbouring sizes, at each value of the other one that has two sizes or more."""
    texts = []
    for name, fixed in ((one, other), (other, one)):
        for x in map(float, np.unique(runs[fixed])):
            sizes = map(float, np.unique(runs[name][runs[fixed] == x]))
            parts = ", ".join(f"{a:g} to {b:g}: {_slope(runs, name, fixed, x, a, b):.2f}" for a, b in pairwise(sizes))
            if parts:
                texts.append(f"exponents of {name} at {fixed} = {x:g} from {parts}")
    return "; ".join(texts)


def _slope(runs: Table, name: str, fixed: str, x: float, low: float, high: float) -> float:
    """The exponent of a setting between two of its values, at a value of the other one."""
    first, second = (_runs.geometric_mean(runs, (runs[name] == value) & (runs[fixed] == x)) for value in (low, high))
    return float(np.log(second / first) / np.log(high / low))
