"""Appendix: a second layer keeps the stages of the full model."""

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import changed
from daybreak.studies.incremental._variant import in_order, variant
from daybreak.studies.incremental.fig2 import FULL, PAPER


def _claims(tables: Tables) -> tuple[Claim, ...]:
    sentence = "A Transformer of two layers passes the same three stages."
    return (in_order(tables, "B11-19-layers", sentence, "Full model with a second block."),)


STUDY = variant(
    "b-two-layers",
    "Full model: two layers",
    {"smoke": 0.3, "laptop": 100, "paper": 330},
    changed(FULL, model={"layers": 2}),
    _claims,
    paper=changed(PAPER, model={"layers": 2}),
)
