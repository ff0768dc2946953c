"""Appendix: blocks that overlap by half are still learned one after the other."""

from daybreak.studies._study import Claim, Tables
from daybreak.studies.incremental._trained import MINIMAL, changed
from daybreak.studies.incremental._variant import in_order, variant


def _claims(tables: Tables) -> tuple[Claim, ...]:
    sentence = "With blocks of four lags that overlap by two, the stages stay."
    return (in_order(tables, "B11-19-overlapping", sentence, "Minimal model, spans of 4 and a stride of 2."),)


STUDY = variant(
    "b-overlapping",
    "Minimal model: blocks that overlap",
    {"smoke": 0.2, "laptop": 7, "paper": 7},
    changed(MINIMAL, task={"L": 4, "stride": 2}),
    _claims,
)
