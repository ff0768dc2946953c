"""Figure 2: the heads of the full model all attend to block 1, then one head each to blocks 2 and 3.

B2 is about heads and uses no stages. B2-order, by the one rule for stages (2026-11-18, before the campaign): three stages of the excess
loss in four fifths of the seeds, none contradicted by the nearest truth.
"""

import numpy as np
from jaxtyping import Float
from numpy.lib.stride_tricks import sliding_window_view

from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import HOLD, by_seed, median_and_range, verdict_over_seeds
from daybreak.studies.incremental._variant import in_order, variant
from daybreak.training.presets import PRESETS

_Masses = Float[np.ndarray, "evaluations heads blocks"]


def _claims(tables: Tables) -> tuple[Claim, ...]:
    seeds = by_seed(tables["curves"])
    masses = [block_masses(one) for one in seeds]
    uniform = np.array([np.ptp(x[0]) <= 0.1 for x in masses])
    together = np.array([all_on_block_1(x) for x in masses])
    specialised = np.array([set(x[-1].argmax(axis=1).tolist()) == {0, 1, 2} for x in masses])
    since = [[_since(one["step"], x, k) for one, x in zip(seeds, masses, strict=True)] for k in (1, 2)]
    largest = [x[:, :, 0].mean(axis=1).max() for x in masses]
    where = (
        "Full model: one block of attention and MLP as published, AdamW, 9 000 sequences, "
        f"{tables['curves']['step'].max()} steps."
    )
    return (
        Claim(
            id="B2",
            sentence="The heads of the full model start uniform, then all attend to block 1 and compete, then specialise on blocks "
            "1, 2 and 3.",
            paper="seen in the plot",
            ours=f"uniform in {uniform.sum()}, then all on block 1 in {together.sum()}, at the end one head per block "
            f"in {specialised.sum()} of "
            f"{len(seeds)} seeds; attention to block 1 at its largest {median_and_range(largest, '{:.0%}')}; a "
            "head for block 2 from step "
            f"{median_and_range(since[0])}, for block 3 from {median_and_range(since[1])}",
            verdict=verdict_over_seeds(uniform & together & specialised),
            note=f"{where} Holds for a seed if block masses of all heads start within 0.1, block 1 then has the most "
            "attention of every head for "
            f"{HOLD} evaluations in a row, and at the end the three heads attend most to three different blocks.",
        ),
        in_order(tables, "B2-order", "The full model passes the stages 1, 2, 3.", where),
    )


def block_masses(one: Table) -> _Masses:
    """Attention of each head to each block."""
    return np.moveaxis(np.array([[one[f"head{h}_block{k}"] for k in (1, 2, 3)] for h in (1, 2, 3)]), 2, 0)


def _since(steps: np.ndarray, masses: _Masses, block: int) -> float:
    """The step from which some head attends most to a block until the end; the last step if none does."""
    without = np.flatnonzero(~np.any(masses.argmax(axis=2) == block, axis=1))
    return float(steps[min(without[-1] + 1, len(steps) - 1)]) if without.size else float(steps[0])


def all_on_block_1(masses: _Masses) -> bool:
    """Whether block 1 has the most attention of every head for `HOLD` evaluations in a row."""
    flags = np.all(masses.argmax(axis=2) == 0, axis=1)
    return len(flags) >= HOLD and bool(sliding_window_view(flags, HOLD).all(axis=1).any())


STUDY = variant(
    "b-fig2",
    "Full model: from competition to cooperation",
    {"smoke": 0.3, "laptop": 90, "paper": 90},
    PRESETS["paper-b-full"],
    _claims,
)
