"""Appendix: changes to the minimal model that should leave its three stages and their order, one row each.

Criterion by the one rule for stages, 2026-11-18, before the campaign: in four fifths of the seeds there are three stages that no truth
contradicts. For overlapping blocks the campaign is 2 000 steps on five new seeds; fewer steps can show it, and cannot refute it.
"""

from typing import Any

from daybreak.studies._study import Study
from daybreak.studies.incremental._trained import MINIMAL, NEW_SEEDS, PUBLISHED, SEEDS, changed
from daybreak.studies.incremental._variant import in_order, variant


def _study(
    name: str,
    title: str,
    minutes: float,
    change: dict[str, Any],
    claim: str,
    sentence: str,
    where: str,
    hours: float | None = None,
) -> Study:
    return variant(
        name,
        f"Minimal model: {title}",
        {"smoke": 0.2, "laptop": minutes, "paper": minutes},
        changed(MINIMAL, **change),
        lambda tables: (in_order(tables, claim, sentence, where, hours=hours),),
        NEW_SEEDS[:5] if hours else SEEDS,
    )


STUDIES = (
    _study(
        "b-online",
        "fresh data",
        7,
        {"task": {"train": 0}},
        "B6-9-online",
        "Trained on fresh data, the model passes the same three stages.",
        "Minimal model, no sequence seen twice.",
    ),
    _study(
        "b-overlapping",
        "blocks that overlap",
        20,
        {"task": {"L": 4, "stride": 2}, "stop": PUBLISHED},
        "B11-19-overlapping",
        "With blocks of four lags that overlap by two, the model passes the same three stages.",
        "Minimal model, spans of 4 and a stride of 2.",
        hours=0.7,
    ),
    _study(
        "b-four-heads",
        "more heads than blocks",
        8,
        {"model": {"heads": 4}},
        "B11-19-heads",
        "With four heads for three blocks the model passes the same three stages.",
        "Minimal model.",
    ),
)
