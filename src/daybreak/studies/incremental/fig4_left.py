"""Figure 4 left: with less initial noise the transitions are later; without noise only the first pattern is learned.

Criteria for the campaign, 2026-11-18, before its runs (2 000 steps, ten new seeds at each ε): B4l holds if in four fifths of the seeds both
transitions are later with each smaller ε; B4l-zero, if four fifths of the seeds without noise have one stage.
"""

import numpy as np

from daybreak.lab import Saved
from daybreak.models import MinimalAttention
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, TrainedData, select, verdict
from daybreak.studies.incremental._picture import side_by_side
from daybreak.studies.incremental._trained import (
    MINIMAL,
    NEW_SEEDS,
    PUBLISHED,
    changed,
    curves,
    seeded,
    stages,
    to_be_confirmed,
    transition_steps,
    verdict_over_seeds,
    without_heads,
)
from daybreak.training import Run

_EPS = (0.0, 1e-9, 1e-6, 1e-3)


def _runs(scale: Scale) -> list[Run]:
    settings = [changed(MINIMAL, model={"epsilon": eps}, stop=PUBLISHED) for eps in _EPS]
    return [run for setting in settings for run in seeded(setting, scale, NEW_SEEDS)]


def _tables(saved: list[Saved]) -> Tables:
    eps = [x.run.model.epsilon for x in saved if isinstance(x.run.model, MinimalAttention)]
    return {"curves": without_heads(curves(saved, eps=eps))}


def _judge(tables: Tables) -> Findings:
    rows = stages(tables["curves"], "eps")
    still, *noisy = (select(rows, rows["eps"] == eps) for eps in _EPS)
    later = {name: np.all(np.diff([x[name] for x in noisy], axis=0) < 0, axis=0) for name in ("second", "third")}
    fine, middle, coarse = (float(np.median(x["second"])) for x in noisy)
    even, square = middle - coarse, _square(coarse, middle)  # the next delay, if t or √t is linear in ln 1/ε
    count = still["seed"].size
    where = f"Minimal model, {count} seeds at each ε, {rows['budget'].max()} steps."
    claims = (
        Claim(
            id="B4l",
            sentence="The smaller the initial noise ε, the later the second and third transitions.",
            paper="seen in the plot",
            ours="; ".join(
                f"ε = {x['eps'][0]:g}: {transition_steps(x, 'second')} and {transition_steps(x, 'third')}"
                for x in noisy
            )
            + f"; later with each smaller ε in {later['second'].sum()} and {later['third'].sum()}, both in "
            f"{(later['second'] & later['third']).sum()} of {count} seeds",
            verdict=verdict_over_seeds(later["second"] & later["third"]),
            note=f"{where} Median (range) of the steps; a transition that did not occur counts as the last step. Holds for a seed if both "
            f"are later with each smaller ε.{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B4l-zero",
            sentence="Without noise (ε = 0) the model never leaves the first pattern.",
            paper="seen in the plot",
            ours=f"stages: {', '.join(map(str, still['stages']))}",
            verdict=verdict_over_seeds(still["stages"] == 1),
            note=f"{where} Holds for a seed if it has one stage.{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B4l-trained",
            sentence="The trained model follows the law of the flow: √t of the second transition is linear in ln 1/ε.",
            paper="ours, not the paper's",
            ours=f"from 1e-3 to 1e-6 it is later by {even:.0f} steps, from 1e-6 to 1e-9 by {fine - middle:.0f}",
            verdict=verdict(abs(fine - middle - square) < abs(fine - middle - even)),
            note=f"{where} Medians. A constant growth rate would give {even:.0f} again, √t linear in ln 1/ε {square:.0f}. "
            "Holds if the delay is nearer to the second. Adam moves logits by the sign of a gradient, not by its size, so its time "
            "scale is not that of the flow; and in single precision 1e-9 is less than the last digit of a weight that has moved.",
        ),
    )
    return Findings(claims)


def _square(coarse: float, middle: float) -> float:
    """The delay after the one from `coarse` to `middle`, if √t is linear in ln 1/ε."""
    return (2 * np.sqrt(middle) - np.sqrt(coarse)) ** 2 - middle


STUDY = Study(
    name="b-fig4-left",
    paper="incremental",
    title="Minimal model: initial noise",
    minutes={"smoke": 0.2, "laptop": 200, "paper": 200},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=lambda tables, findings: side_by_side(tables["curves"], "eps", "ε"),
)
