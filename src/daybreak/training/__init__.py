"""How a network learns: runs, cohorts trained by one compiled program, and the records they leave."""

from daybreak.training.checkpoint import DamagedCheckpoint as DamagedCheckpoint
from daybreak.training.optimizer import Optimizer as Optimizer
from daybreak.training.record import Outcome as Outcome
from daybreak.training.record import Record as Record
from daybreak.training.run import Run as Run
from daybreak.training.run import Stop as Stop
from daybreak.training.run import canonical as canonical
from daybreak.training.run import check_own as check_own
from daybreak.training.run import from_json as from_json
from daybreak.training.run import level_of as level_of
from daybreak.training.run import own_sources as own_sources
from daybreak.training.run import own_texts as own_texts
from daybreak.training.run import shape as shape
from daybreak.training.run import to_json as to_json
from daybreak.training.schedule import Schedule as Schedule
from daybreak.training.train import Progress as Progress
from daybreak.training.train import evaluations as evaluations
from daybreak.training.train import train as train
from daybreak.training.train import within as within
