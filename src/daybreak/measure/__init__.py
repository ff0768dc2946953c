"""When a run emerged, and which law that follows. Arrays in, answers out; no tasks, models or labs here.

| question | modules |
|---|---|
| when did a curve emerge? | `plateau`, `level`, `sensitivity`, `transition`, `departure` |
| in which stages did it fall? | `staircase`, `stages`, `overlap` |
| which law do plateaus follow? | `form`, `law`, `fit`, `transfer`, `validation` |
| when will a run emerge? | `forecast` |

Modules that start with an underscore are parts of these.
"""

from daybreak.measure.departure import has_left_plateau as has_left_plateau
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
from daybreak.measure.sensitivity import ThresholdSensitivity as ThresholdSensitivity
from daybreak.measure.sensitivity import threshold_sensitivity as threshold_sensitivity
from daybreak.measure.stages import Stage as Stage
from daybreak.measure.stages import stages as stages
from daybreak.measure.staircase import APART as APART
from daybreak.measure.staircase import Staircase as Staircase
from daybreak.measure.staircase import staircase as staircase
from daybreak.measure.transfer import Known as Known
from daybreak.measure.transfer import Transfer as Transfer
from daybreak.measure.transfer import transfer as transfer
from daybreak.measure.transition import Transition as Transition
from daybreak.measure.transition import transition as transition
from daybreak.measure.validation import Extrapolation as Extrapolation
from daybreak.measure.validation import Rival as Rival
from daybreak.measure.validation import compare_laws as compare_laws
from daybreak.measure.validation import extrapolation_test as extrapolation_test
