"""Appendix: a fourth head for three blocks does not change the order of the stages."""

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import MINIMAL, changed
from daybreak.studies.incremental._variant import in_order, variant


def _claims(tables: Tables) -> tuple[Claim, ...]:
    sentence = "With four heads for three blocks the model passes the same three stages."
    return (in_order(tables, "B11-19-heads", sentence, "Minimal model."),)


STUDY = variant(
    "b-four-heads",
    "Minimal model: more heads than blocks",
    {"smoke": 0.2, "laptop": 8, "paper": 8},
    changed(MINIMAL, model={"heads": 4}),
    _claims,
)
