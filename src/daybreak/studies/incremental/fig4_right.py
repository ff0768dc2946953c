"""Figure 4 right: the less the blocks differ in importance, the fewer and less distinct the stages.

Criteria for the campaign, 2026-11-18, before its runs (2 000 steps, ten new seeds at each m): B4r holds if in four fifths of the seeds all
four numbers of stages are the paper's; B4r-blurred, if the median time between the second and third transition, 0 where they
are one, grows with m from 1.3 to 1.7.
"""

import numpy as np

from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, TrainedData, select, verdict
from daybreak.studies.incremental._picture import side_by_side
from daybreak.studies.incremental._trained import (
    MINIMAL,
    NEW_SEEDS,
    PUBLISHED,
    changed,
    curves,
    records,
    seeded,
    stages,
    to_be_confirmed,
    verdict_over_seeds,
    without_heads,
)
from daybreak.training import Run

_RATIOS = (1.0, 1.3, 1.5, 1.7)
_STAGES = {1.0: 2, 1.3: 3, 1.5: 3, 1.7: 3}  # as the paper counts them


def _runs(scale: Scale) -> list[Run]:
    settings = [changed(MINIMAL, task={"m": m}, stop=PUBLISHED) for m in _RATIOS]
    return [run for setting in settings for run in seeded(setting, scale, NEW_SEEDS)]


def _tables(saved: list[Saved]) -> Tables:
    ratios = [task.m for _, _, task in records(saved)]
    return {"curves": without_heads(curves(saved, m=ratios))}


def _judge(tables: Tables) -> Findings:
    rows = stages(tables["curves"], "m")
    by_ratio = {m: select(rows, rows["m"] == m) for m in _RATIOS}
    counts = np.array([by_ratio[m]["stages"] == number for m, number in _STAGES.items()])
    lengths = [np.median(by_ratio[m]["apart"]) for m in _RATIOS[1:]]
    where = f"Minimal model, {rows['seed'].size // len(_RATIOS)} seeds at each m, {rows['budget'].max()} steps."
    claims = (
        Claim(
            id="B4r",
            sentence="Without an order of importance (m = 1) there are two stages; for m = 1.3 and 1.5 there are three.",
            paper="1.0: 2, 1.3: 3, 1.5: 3, 1.7: 3",
            ours="; ".join(f"{m:g}: {', '.join(map(str, x['stages']))}" for m, x in by_ratio.items()),
            verdict=verdict_over_seeds(np.all(counts, axis=0)),
            note=f"{where} One number per seed. Holds for a seed if all are the paper's.{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B4r-blurred",
            sentence="The nearer m is to one, the more the stages merge.",
            paper="seen in the plot: blurred at 1.3",
            ours=", ".join(f"m = {m:g}: {length:.0f}" for m, length in zip(_RATIOS[1:], lengths, strict=True))
            + " steps from the second transition to the third",
            verdict=verdict(bool(np.all(np.diff(lengths) > 0))),
            note=f"{where} Medians; 0 for a seed that goes from its first stage to the last truth in one drop. Holds if they grow with m."
            f"{to_be_confirmed(rows)}",
        ),
    )
    return Findings(claims)


STUDY = Study(
    name="b-fig4-right",
    paper="incremental",
    title="Minimal model: ratio of importance",
    minutes={"smoke": 0.2, "laptop": 200, "paper": 200},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=lambda tables, findings: side_by_side(tables["curves"], "m", "m"),
)
