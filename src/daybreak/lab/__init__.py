"""Where runs are kept: a directory that is consistent at every moment, and an index of it."""

from daybreak.lab.observed import ObservedRun as ObservedRun
from daybreak.lab.provenance import device as device
from daybreak.lab.result import DamageError as DamageError
from daybreak.lab.result import Result as Result
from daybreak.lab.saved import Keep as Keep
from daybreak.lab.saved import Saved as Saved
from daybreak.lab.store import Damaged as Damaged
from daybreak.lab.store import Lab as Lab
