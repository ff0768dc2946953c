"""Appendix: lags that weigh 0.7 and 0.3 in their block get 0.7 and 0.3 of its attention."""

import numpy as np

from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import MINIMAL, by_seed, changed, over_seeds, ranged
from daybreak.studies.incremental._variant import in_order, variant

_NEWER = 0.7


def _claims(tables: Tables) -> tuple[Claim, ...]:
    shares = np.array([_shares(one) for one in by_seed(tables["curves"])])
    return (
        Claim(
            id="B11-19-weights",
            sentence="With α = [0.7, 0.3] in a block, the head of the block attends to its two lags as 0.7 to 0.3.",
            paper="seen in the plot",
            ours="; ".join(f"block {k + 1}: {ranged(shares[:, k], '{:.2f}')} on the newer lag" for k in range(3)),
            verdict=over_seeds(np.all(np.abs(shares - _NEWER) <= 0.05, axis=1)),
            note="Minimal model at the end of training; for each block the head that attends most to it. Holds for a seed if all "
            "three shares "
            "are within 0.05 of 0.7.",
        ),
        in_order(
            tables, "B11-19-weights-stages", "Weights within a block leave the stages as they are.", "Minimal model."
        ),
    )


def _shares(one: Table) -> list[float]:
    """For each block, the newer lag's share of the attention that its head gives to the block."""
    found = []
    for k in range(3):
        head = 1 + int(np.argmax([one[f"head{h}_block{k + 1}"][-1] for h in (1, 2, 3)]))
        newer, older = (one[f"head{head}_lag{lag}"][-1] for lag in (2 * k + 1, 2 * k + 2))
        found.append(float(newer / (newer + older)))
    return found


STUDY = variant(
    "b-weights",
    "Minimal model: unequal weights in a block",
    {"smoke": 0.2, "laptop": 6, "paper": 6},
    changed(MINIMAL, task={"weights": (_NEWER, 0.3)}),
    _claims,
)
