"""Natural text: induction heads, and what repetition does to them. Studies of our own, after both papers' question."""

from daybreak.studies.language import induction

STUDIES = (induction.STUDY,)
