"""Appendix: with fresh sequences at every step the minimal model keeps its three stages."""

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import MINIMAL, changed
from daybreak.studies.incremental._variant import in_order, variant


def _claims(tables: Tables) -> tuple[Claim, ...]:
    sentence = "Trained on fresh data, the model passes the same three stages."
    return (in_order(tables, "B6-9-online", sentence, "Minimal model, no sequence seen twice."),)


STUDY = variant(
    "b-online",
    "Minimal model: fresh data",
    {"smoke": 0.2, "laptop": 7, "paper": 7},
    changed(MINIMAL, task={"train": 0}),
    _claims,
)
