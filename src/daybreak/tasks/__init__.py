"""What is to be learned: single-location regression, associative recall, Markov chains.

Each task is a frozen dataclass and a pytree: `world(key)` draws what a run keeps, `sample(key, world)` one example.
Tasks depend neither on models nor on training.
"""

from typing import Any

from daybreak.interface import Interface as Interface
from daybreak.tasks._task import Circuit as Circuit
from daybreak.tasks._task import Example as Example
from daybreak.tasks._task import Guess as Guess
from daybreak.tasks._task import Part as Part
from daybreak.tasks._task import Sizes as Sizes
from daybreak.tasks._task import Task as Task
from daybreak.tasks.markov import MarkovChain as MarkovChain
from daybreak.tasks.markov import MarkovWorld as MarkovWorld
from daybreak.tasks.recall import Placement as Placement
from daybreak.tasks.recall import Recall as Recall
from daybreak.tasks.recall import RecallWorld as RecallWorld
from daybreak.tasks.single_location import SingleLocation as SingleLocation
from daybreak.tasks.single_location import SingleLocationWorld as SingleLocationWorld

TASKS: dict[str, type[Task[Any]]] = {"single-location": SingleLocation, "recall": Recall, "markov": MarkovChain}
"""Tasks by their name in the command."""
