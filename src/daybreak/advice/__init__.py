"""Advice for a setting: how long its plateau is expected to be, what each form of repetition gains, which one to take.

The expected length comes from trained networks: those of a lab, or of the results that come with the package; where there are
none, from a paper's law. The factors come from the nearest trained networks, from a law with B, and from the flow of the toy model.
Each number states its source, and how far the setting lies outside of what was measured.
"""

from daybreak.advice.advise import Advice as Advice
from daybreak.advice.advise import advise as advise
from daybreak.advice.options import Option as Option
from daybreak.advice.reference import LAWS as LAWS
from daybreak.advice.reference import Expected as Expected
from daybreak.advice.reference import Gain as Gain
from daybreak.advice.reference import Reference as Reference
from daybreak.advice.reference import Task as Task
from daybreak.advice.reference import law_of_lab as law_of_lab
from daybreak.advice.reference import law_of_recall as law_of_recall
from daybreak.advice.reference import law_of_results as law_of_results
from daybreak.advice.text import Arm as Arm
from daybreak.advice.text import TextAdvice as TextAdvice
from daybreak.advice.text import advise_text as advise_text
