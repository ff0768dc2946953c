"""Appendix: with a second layer the full model passes the same stages.

Criteria for the campaign, 2026-11-18, before its runs (2 000 steps, five new seeds): three stages of the excess loss that no truth
contradicts in four fifths of the seeds; in four fifths all heads of the last layer attend most to block 1 first, and one leaves. Runs
of fewer steps decide neither.
"""

import numpy as np

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import HOLD, NEW_SEEDS, PUBLISHED, by_seed, changed, verdict_over_seeds
from daybreak.studies.incremental._variant import in_order, outside, variant
from daybreak.studies.incremental.fig2 import all_on_block_1, block_masses
from daybreak.training.presets import PRESETS

_HOURS = 19  # of a worker, for five seeds: 20 144 s for 600 steps


def _claims(tables: Tables) -> tuple[Claim, ...]:
    masses = [block_masses(one) for one in by_seed(tables["curves"])]
    together = np.array([all_on_block_1(x) for x in masses])
    moved = np.array([bool(np.any(x[-1].argmax(axis=1) != 0)) for x in masses])
    budget = int(tables["curves"]["step"].max())
    short = budget < PUBLISHED.budget
    return (
        in_order(
            tables,
            "B11-19-layers",
            "A Transformer of two layers passes the same three stages.",
            f"Full model with a second block, {budget} steps.",
            hours=_HOURS,
        ),
        Claim(
            id="B11-19-layers-heads",
            sentence="The heads of its last layer all attend to block 1 first, and then one leaves.",
            paper="ours, not the paper's",
            ours=f"all on block 1 in {together.sum()}, at the end one or more elsewhere in {moved.sum()}, both in "
            f"{(together & moved).sum()} of {len(masses)} seeds",
            verdict="outside" if short else verdict_over_seeds(together & moved),
            note=f"By the rule of B2: block 1 has the most attention of every head for {HOLD} evaluations in a row. "
            "Holds if four fifths of the "
            f"seeds show both. Added when the first two seeds had been seen.{outside(budget, _HOURS) if short else ''}",
        ),
    )


STUDY = variant(
    "b-two-layers",
    "Full model: two layers",
    {"smoke": 0.3, "laptop": 570, "paper": 570},
    changed(PRESETS["paper-b-full"], model={"layers": 2}),
    _claims,
    NEW_SEEDS[:5],
)
