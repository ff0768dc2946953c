"""Advice for a setting: how long its plateau is expected to be, what each form of repetition gains, which schedule to take.

The expected length comes from a law of trained networks: of the runs of a lab, of the shipped results, or the paper's. The
factors come from the flow of the toy model, from the law where it contains B, and from the shipped study of schedules. Each
number states its source, and how far the setting lies outside of what was measured.
"""

from daybreak.advice.advise import Advice as Advice
from daybreak.advice.advise import advise as advise
from daybreak.advice.options import Option as Option
from daybreak.advice.reference import LAWS as LAWS
from daybreak.advice.reference import Beyond as Beyond
from daybreak.advice.reference import Gain as Gain
from daybreak.advice.reference import Reference as Reference
from daybreak.advice.reference import law_of_lab as law_of_lab
from daybreak.advice.reference import law_of_results as law_of_results
