"""Figure 2: the heads of the full model all turn to block 1, then one each to blocks 2 and 3."""

import numpy as np

from daybreak.lab.presets import PRESETS
from daybreak.studies._study import Claim, Table, Tables
from daybreak.studies.incremental._trained import by_seed, changed, over_seeds, ranged
from daybreak.studies.incremental._variant import in_order, variant
from daybreak.training import Stop

FULL = changed(PRESETS["paper-b-full"], stop=Stop(budget=600, every=10, level=0.0))


def _claims(tables: Tables) -> tuple[Claim, ...]:
    rows, seeds = tables["stages"], by_seed(tables["curves"])
    looks = (np.zeros(len(seeds)), rows["second"] / 2, rows["budget"])
    start, middle, end = (np.array([_masses(*x) for x in zip(seeds, steps.tolist(), strict=True)]) for steps in looks)
    uniform = np.ptp(start, axis=(1, 2)) <= 0.1
    compete = np.all(middle.argmax(axis=2) == 0, axis=1)
    share = np.array([set(heads) == {0, 1, 2} for heads in end.argmax(axis=2).tolist()])
    where = "Full model: one block of attention and MLP as published, AdamW, 9 000 sequences."
    return (
        Claim(
            id="B2",
            sentence="The heads of the full model start uniform, then all attend to block 1 and compete, then specialise on blocks "
            "1, 2 and 3.",
            paper="seen in the plot",
            ours=f"uniform in {uniform.sum()}, then all on block 1 in {compete.sum()}, at the end one head per block in {share.sum()} of "
            f"{rows['seed'].size} seeds; attention to block 1 in the first stage {ranged(middle[:, :, 0].mean(axis=1), '{:.0%}')}",
            verdict=over_seeds(uniform & compete & share),
            note=f"{where} The first stage is looked at half-way to the second transition. Holds for a seed if block masses of all "
            "heads start within "
            "0.1, block 1 then has the most of each head, and at the end the three heads prefer three blocks.",
        ),
        in_order(tables, "B2-order", "The full model passes the stages 1, 2, 3.", where),
    )


def _masses(one: Table, step: float) -> np.ndarray:
    """Attention of each head to each block at a step."""
    return np.array([[np.interp(step, one["step"], one[f"head{h}_block{k}"]) for k in (1, 2, 3)] for h in (1, 2, 3)])


STUDY = variant(
    "b-fig2", "Full model: from competition to cooperation", {"smoke": 0.3, "laptop": 60, "paper": 60}, FULL, _claims
)
