"""Appendix: lags with weights 0.7 and 0.3 in their block get 0.7 and 0.3 of its attention.

Criteria for the campaign, 2026-11-18, before its runs (2 000 steps, five new seeds): in four fifths of the seeds all three fractions are
within 0.05 of 0.7; in four fifths there are three stages that no truth contradicts.
"""

import numpy as np

from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import (
    MINIMAL,
    NEW_SEEDS,
    PUBLISHED,
    by_seed,
    changed,
    median_and_range,
    verdict_over_seeds,
)
from daybreak.studies.incremental._variant import in_order, variant

_NEWER = 0.7


def _claims(tables: Tables) -> tuple[Claim, ...]:
    fractions = np.array([_on_newer_lag(one) for one in by_seed(tables["curves"])])
    return (
        Claim(
            id="B11-19-weights",
            sentence="With α = [0.7, 0.3] in a block, the head of the block attends to its two lags as 0.7 to 0.3.",
            paper="seen in the plot",
            ours="; ".join(
                f"block {k + 1}: {median_and_range(fractions[:, k], '{:.2f}')} on the newer lag" for k in range(3)
            ),
            verdict=verdict_over_seeds(np.all(np.abs(fractions - _NEWER) <= 0.05, axis=1)),
            note="Minimal model at the end of training; for each block the head that attends most to it. Holds for a seed if all "
            "three fractions are within 0.05 of 0.7.",
        ),
        in_order(
            tables,
            "B11-19-weights-stages",
            "Unequal weights within a block do not change the stages.",
            "Minimal model.",
            hours=2.7,
        ),
    )


def _on_newer_lag(one: Table) -> list[float]:
    """For each block, the fraction of its head's attention to the block that is on the newer lag."""
    fractions = []
    for k in range(3):
        head = 1 + int(np.argmax([one[f"head{h}_block{k + 1}"][-1] for h in (1, 2, 3)]))
        newer, older = (one[f"head{head}_lag{lag}"][-1] for lag in (2 * k + 1, 2 * k + 2))
        fractions.append(float(newer / (newer + older)))
    return fractions


STUDY = variant(
    "b-weights",
    "Minimal model: unequal weights in a block",
    {"smoke": 0.2, "laptop": 20, "paper": 20},
    changed(MINIMAL, task={"weights": (_NEWER, 0.3)}, stop=PUBLISHED),
    _claims,
    NEW_SEEDS[:5],
)
