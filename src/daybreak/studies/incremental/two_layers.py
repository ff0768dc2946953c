"""Appendix: with a second layer the full model passes the same stages."""

import numpy as np

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import HOLD, by_seed, changed, verdict_over_seeds
from daybreak.studies.incremental._variant import in_order, variant
from daybreak.studies.incremental.fig2 import all_on_block_1, block_masses
from daybreak.training import Stop
from daybreak.training.presets import PRESETS

_PAPER = changed(PRESETS["paper-b-full"], model={"layers": 2})
_LAPTOP = changed(_PAPER, stop=Stop(budget=600, every=10, level=0.0))  # the published 2 000 take six hours


def _claims(tables: Tables) -> tuple[Claim, ...]:
    masses = [block_masses(one) for one in by_seed(tables["curves"])]
    together = np.array([all_on_block_1(x) for x in masses])
    moved = np.array([bool(np.any(x[-1].argmax(axis=1) != 0)) for x in masses])
    return (
        in_order(
            tables,
            "B11-19-layers",
            "A Transformer of two layers passes the same three stages.",
            f"Full model with a second block, {tables['stages']['budget'].max()} steps (published: {_PAPER.stop.budget}).",
        ),
        Claim(
            id="B11-19-layers-heads",
            sentence="The heads of its last layer all attend to block 1 first, and then one leaves.",
            paper="ours, not the paper's",
            ours=f"all on block 1 in {together.sum()}, at the end one or more elsewhere in {moved.sum()}, both in "
            f"{(together & moved).sum()} of {len(masses)} seeds",
            verdict=verdict_over_seeds(together & moved),
            note=f"By the rule of B2: block 1 has the most attention of every head for {HOLD} evaluations in a row. "
            "Holds if four fifths of the "
            "seeds show both. Added when the first two seeds had been seen.",
        ),
    )


STUDY = variant(
    "b-two-layers",
    "Full model: two layers",
    {"smoke": 0.3, "laptop": 100, "paper": 330},
    _LAPTOP,
    _claims,
    paper=_PAPER,
)
