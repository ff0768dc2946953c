"""Appendix: gradient descent with momentum passes the same stages in the same order, about ten times slower.

Criteria by the one rule for stages, 2026-11-18, before the runs of `b-sgd-sum`: three stages that no truth contradicts in four fifths
of the seeds, undecided where no seed has three; slower as the claim's note says.
"""

from dataclasses import replace

import numpy as np

from daybreak import measure
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, TrainedData, verdict
from daybreak.studies.incremental._picture import staircase
from daybreak.studies.incremental._trained import MINIMAL, by_seed, changed, curves, median_and_range, seeded, stages
from daybreak.studies.incremental._variant import in_order
from daybreak.training import Optimizer, Stop

RATE = 0.2  # as published
_FRACTIONS = {"half": 1 / 2, "fifth": 1 / 5, "tenth": 1 / 10}


def descent(name: str, title: str, loss: str, learning_rate: float) -> Study:
    """The study of SGD at a learning rate on our loss, the mean over tokens, against AdamW.

    Args:
        name: of the study, and without its `b-` of its claims.
        title: one line for lists.
        loss: what that rate means if the published one is 0.2.
        learning_rate: of SGD.
    """
    sgd = changed(
        MINIMAL,
        optimizer=Optimizer(name="sgd", learning_rate=learning_rate, momentum=0.9),
        stop=Stop(budget=8000, every=80, level=0.0),
    )
    return Study(
        name=name,
        paper="incremental",
        title=title,
        minutes={"smoke": 0.2, "laptop": 50, "paper": 50},
        data=TrainedData(lambda scale: seeded(sgd, scale) + seeded(MINIMAL, scale), _tables),
        judge=lambda tables: _judge(tables, name.replace("b-", "B11-19-"), loss),
        draw=lambda tables, findings: staircase(tables["curves"]),
    )


def _tables(saved: list[Saved]) -> Tables:
    slow = [x for x in saved if x.run.optimizer.name == "sgd"]
    fast = [x for x in saved if x.run.optimizer.name != "sgd"]
    return {"curves": curves(slow), "sgd": _times(slow), "adamw": _times(fast)}


def _times(saved: list[Saved]) -> Table:
    """When the excess loss of each seed reached some fractions of its start, and whether it did."""
    rows = []
    for one in by_seed(curves(saved)):
        excess = one["excess"]
        down = {
            name: measure.plateau(one["step"], excess, measure.fraction_of_start(excess, fraction))
            for name, fraction in _FRACTIONS.items()
        }
        times = {name: x.length for name, x in down.items()} | {
            f"{name}_came": not x.censored for name, x in down.items()
        }
        rows.append({"seed": one["seed"][0]} | times)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _judge(tables: Tables, claim: str, loss: str) -> Findings:
    slow, fast = tables["sgd"], tables["adamw"]
    ratios = {name: slow[name] / fast[name] for name in _FRACTIONS}
    reached = {name: bool(np.all(slow[f"{name}_came"])) for name in _FRACTIONS}
    middle = [float(np.median(x)) for x in ratios.values()]
    about_ten = min(middle) >= 5 and max(middle) <= 20
    slower = verdict(about_ten) if max(middle) > 20 or all(reached.values()) else "undecided"
    order = in_order(
        tables,
        claim,
        f"Trained by SGD on {loss} the model passes the same stages in the same order.",
        "Minimal model, momentum 0.9. Undecided where no seed reaches the third stage: how long it takes is the other claim.",
    )
    claims = (
        replace(order, verdict="undecided") if np.all(stages(tables["curves"])["stages"] < 3) else order,
        Claim(
            id=f"{claim}-slower",
            sentence=f"SGD on {loss} takes about ten times as many steps as AdamW.",
            paper="about 10",
            ours="; ".join(
                f"to 1/{1 / _FRACTIONS[name]:.0f} of the excess loss "
                f"{'' if reached[name] else 'at least '}{median_and_range(x, '{:.0f}')} times"
                for name, x in ratios.items()
            ),
            verdict=slower,
            note="Seed by seed, at the published learning rates 0.2 and 0.08. AdamW reaches a half on its way to the first "
            "plateau, a fifth with the second block, a tenth with the third. Where SGD did not reach it, the ratio is a lower bound. Holds "
            "if all three medians lie between 5 and 20 and all were reached; fails where a median, even as a bound, is above 20.",
        ),
    )
    return Findings(claims)


STUDY = descent("b-sgd", "Minimal model: SGD instead of AdamW", "the mean over tokens", RATE)
