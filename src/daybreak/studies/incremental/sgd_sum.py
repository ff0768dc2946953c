"""Appendix: SGD again, in case the published loss is a sum over the generated tokens.

The paper does not state it. AdamW does not depend on the scale of a loss;
for SGD a sum over twenty tokens is a learning rate twenty times as large.
"""

from daybreak.studies.incremental._trained import MINIMAL
from daybreak.studies.incremental.sgd import RATE, descent

_TOKENS = len(MINIMAL.task.interface.reads)

STUDY = descent("b-sgd-sum", "Minimal model: SGD on a sum over tokens", "the sum over tokens", _TOKENS * RATE)
