"""Natural text: induction heads, and what repetition does to them. Studies of our own, after both papers' question."""

from daybreak.studies.language import forecasts, induction, laws, schedules

STUDIES = (induction.STUDY, laws.STUDY, schedules.STUDY, forecasts.STUDY)
