"""Appendix: with the oldest block the most important the stages are the same, the oldest block first.

Criteria by the one rule for stages, 2026-11-18, before the campaign: three stages that no truth contradicts in four fifths of the seeds;
half-way to the second transition more than half of the attention on the oldest block.
"""

import numpy as np

from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import (
    MINIMAL,
    by_seed,
    changed,
    median_and_range,
    stages,
    verdict_over_seeds,
)
from daybreak.studies.incremental._variant import in_order, variant


def _claims(tables: Tables) -> tuple[Claim, ...]:
    halfway = (stages(tables["curves"])["second"] / 2).tolist()
    oldest = np.array([_mass(*x) for x in zip(by_seed(tables["curves"]), halfway, strict=True)])
    sentence = "With importance reversed the model passes the same three stages."
    where = "Minimal model, blocks numbered by importance: block 1 is the oldest."
    return (
        in_order(tables, "B6-9-reversed", sentence, where),
        Claim(
            id="B6-9-reversed-first",
            sentence="The oldest block, now the most important, is learned first.",
            paper="seen in the plot",
            ours=f"half-way to the second transition the heads give {median_and_range(oldest, '{:.0%}')} of their attention to it",
            verdict=verdict_over_seeds(oldest > 0.5),
            note="Holds for a seed if it is more than half, mean over heads.",
        ),
    )


def _mass(one: Table, step: float) -> float:
    """Attention to block 1 at a step, mean over heads."""
    return float(np.mean([np.interp(step, one["step"], one[f"head{h}_block1"]) for h in (1, 2, 3)]))


STUDY = variant(
    "b-reversed",
    "Minimal model: the oldest block matters most",
    {"smoke": 0.2, "laptop": 6, "paper": 6},
    changed(MINIMAL, task={"reversed": True}),
    _claims,
)
