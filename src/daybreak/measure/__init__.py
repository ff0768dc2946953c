"""When it emerged, and what law that follows. Arrays in, answers out; nothing here knows of tasks, models or labs."""

from daybreak.measure.departure import departed as departed
from daybreak.measure.fit import fit_law as fit_law
from daybreak.measure.forecast import Evidence as Evidence
from daybreak.measure.forecast import Forecast as Forecast
from daybreak.measure.forecast import NotEnoughEvidence as NotEnoughEvidence
from daybreak.measure.forecast import forecast as forecast
from daybreak.measure.law import Interval as Interval
from daybreak.measure.law import Law as Law
from daybreak.measure.level import above_guess as above_guess
from daybreak.measure.level import fraction_of_start as fraction_of_start
from daybreak.measure.overlap import overlap as overlap
from daybreak.measure.plateau import Plateau as Plateau
from daybreak.measure.plateau import plateau as plateau
from daybreak.measure.reference import Nearest as Nearest
from daybreak.measure.reference import Span as Span
from daybreak.measure.reference import nearest_reference as nearest_reference
from daybreak.measure.sensitivity import ThresholdSensitivity as ThresholdSensitivity
from daybreak.measure.sensitivity import threshold_sensitivity as threshold_sensitivity
from daybreak.measure.stages import Stage as Stage
from daybreak.measure.stages import stages as stages
from daybreak.measure.transition import Transition as Transition
from daybreak.measure.transition import transition as transition
from daybreak.measure.validation import Extrapolation as Extrapolation
from daybreak.measure.validation import Rival as Rival
from daybreak.measure.validation import compare_laws as compare_laws
from daybreak.measure.validation import extrapolation_test as extrapolation_test
