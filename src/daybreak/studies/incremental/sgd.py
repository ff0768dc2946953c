"""Appendix: gradient descent with momentum takes the same steps in the same order, about ten times slower."""

import numpy as np

from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, Training, verdict
from daybreak.studies.incremental._picture import staircase
from daybreak.studies.incremental._trained import MINIMAL, changed, curves, ranged, seeded, stages
from daybreak.studies.incremental._variant import in_order
from daybreak.training import Optimizer, Run, Stop

_SGD = changed(
    MINIMAL,
    optimizer=Optimizer(name="sgd", learning_rate=0.2, momentum=0.9),
    stop=Stop(budget=8000, every=80, level=0.0),
)


def _runs(scale: Scale) -> list[Run]:
    return seeded(_SGD, scale) + seeded(MINIMAL, scale)


def _tables(saved: list[Saved]) -> Tables:
    slow = [x for x in saved if x.run.optimizer.name == "sgd"]
    fast = [x for x in saved if x.run.optimizer.name != "sgd"]
    return {"curves": curves(slow), "stages": stages(slow), "adamw": stages(fast)}


def _judge(tables: Tables) -> Findings:
    ratios = {name: tables["stages"][name] / tables["adamw"][name] for name in ("second", "third")}
    middle = [float(np.median(x)) for x in ratios.values()]
    claims = (
        in_order(
            tables,
            "B11-19-sgd",
            "Trained by SGD the model passes the same stages in the same order.",
            "Minimal model, momentum 0.9.",
        ),
        Claim(
            id="B11-19-sgd-slower",
            sentence="SGD takes about ten times as many steps as AdamW.",
            paper="about 10",
            ours="; ".join(f"{name} transition: {ranged(x, '{:.1f}')} times" for name, x in ratios.items()),
            verdict=verdict(min(middle) >= 5 and max(middle) <= 20),
            note="Seed by seed, learning rates 0.2 and 0.08; a transition that has not come counts as the budget. Holds if both "
            "medians lie between 5 "
            "and 20.",
        ),
    )
    return Findings(claims)


STUDY = Study(
    name="b-sgd",
    paper="incremental",
    title="Minimal model: SGD instead of AdamW",
    minutes={"smoke": 0.2, "laptop": 50, "paper": 50},
    measure=Training(_runs, _tables),
    judge=_judge,
    draw=lambda tables, findings: staircase(tables["curves"]),
)
