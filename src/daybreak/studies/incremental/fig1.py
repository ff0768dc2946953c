"""Figure 1: the minimal model learns block by block, and its heads compete before they cooperate.

Criterion of B1 by the one rule for stages, 2026-11-18, before the campaign: three stages in order in four fifths of the seeds, and
both median transitions within 15 % of the paper's.
"""

import numpy as np

from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import (
    MINIMAL,
    by_seed,
    median_and_range,
    stages,
    to_be_confirmed,
    transition_steps,
    verdict_over_seeds,
)
from daybreak.studies.incremental._variant import variant

_TRANSITIONS = {"second": 330, "third": 575}  # read off the paper's figure


def _claims(tables: Tables) -> tuple[Claim, ...]:
    rows = stages(tables["curves"])
    count = rows["seed"].size
    seeds = by_seed(tables["curves"])
    shapes = np.array([_divergences(one) for one in seeds])
    apart = np.array([_overlaps(*x) for x in zip(seeds, rows["second"].tolist(), strict=True)])
    off = np.array([np.median(rows[name]) / step - 1 for name, step in _TRANSITIONS.items()])
    where = f"Minimal model as published (ε = 1e-9, 9 000 sequences, AdamW), {count} seeds."
    return (
        Claim(
            id="B1",
            sentence="The excess loss of the minimal model falls in three steps, with transitions near steps 330 and 575.",
            paper="330 and 575, one seed",
            ours=f"{transition_steps(rows, 'second')} and {transition_steps(rows, 'third')}, median (range); in order in "
            f"{rows['in_order'].sum()} of {count} seeds; stages: {', '.join(map(str, rows['stages']))}",
            verdict=verdict_over_seeds(rows["in_order"]) if np.abs(off).max() <= 0.15 else "fails",
            note=f"{where} A transition is half-way between two stages; in the median, one that did not occur counts as the last "
            "step. Holds if four fifths of the seeds have three stages that no truth contradicts, and both medians are within 15 % of "
            "the paper's."
            f"{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B1-divergence",
            sentence="The divergence from p⁽¹⁾ falls, then rises; that from p⁽²⁾ is lowest between the transitions; that from p⁽³⁾ "
            "ends lowest.",
            paper="seen in the plot",
            ours=f"{shapes.sum()} of {count} seeds",
            verdict=verdict_over_seeds(shapes),
            note=f"{where} Holds for a seed if the minimum of n = 1 is first, then that of n = 2, each at least 10 % below its "
            "value at the end, "
            "and n = 3 is the lowest at the end.",
        ),
        Claim(
            id="B-overlap",
            sentence="Heads compete, then cooperate: they attend to the same lags until the second transition, and no longer at the end.",
            paper="ours, as a number",
            ours=f"overlap of heads {median_and_range(apart[:, 0], '{:.2f}')} half-way to the second transition, "
            f"{median_and_range(apart[:, 1], '{:.2f}')} at the end",
            verdict=verdict_over_seeds((apart[:, 0] >= 0.9) & (apart[:, 1] <= 0.5)),
            note=f"{where} Cosine of the attention of two heads over lags, mean over pairs. Holds for a seed if it is at least 0.9, "
            "then at most 0.5.",
        ),
    )


def _divergences(one: Table) -> bool:
    lows = [int(np.argmin(one[f"kl_{n}"])) for n in (1, 2, 3)]
    ends = [one[f"kl_{n}"][-1] for n in (1, 2, 3)]
    leaves = all(one[f"kl_{n}"].min() < 0.9 * one[f"kl_{n}"][-1] for n in (1, 2))
    return bool(lows[0] < lows[1] < lows[2] and leaves and np.argmin(ends) == 2)


def _overlaps(one: Table, second: float) -> tuple[float, float]:
    return float(np.interp(second / 2, one["step"], one["overlap"])), float(one["overlap"][-1])


STUDY = variant("b-fig1", "Minimal model: block by block", {"smoke": 0.2, "laptop": 6, "paper": 6}, MINIMAL, _claims)
