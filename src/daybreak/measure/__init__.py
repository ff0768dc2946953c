"""When it emerged, and what law that follows. Arrays in, answers out; nothing here knows of tasks, models or labs."""

from daybreak.measure.fit import fit_law as fit_law
from daybreak.measure.law import Interval as Interval
from daybreak.measure.law import Law as Law
from daybreak.measure.plateau import Plateau as Plateau
from daybreak.measure.plateau import plateau as plateau
