"""What is to be learned: single-location regression, associative recall, Markov chains, text.

Each task is a frozen dataclass and a pytree: `world(key)` draws what a run keeps, `sample(key, world)` one example.
Tasks depend neither on models nor on training.

A task of your own is a class derived from `Task`, in a file that you name: `find("my_task.py:Needle")`. See docs/guides/own.md.
"""

from pathlib import Path
from typing import Any

from daybreak import _own
from daybreak._check import as_float as as_float
from daybreak._check import as_floats as as_floats
from daybreak._check import as_int as as_int
from daybreak._check import check_bool as check_bool
from daybreak._check import check_choice as check_choice
from daybreak._check import check_whole as check_whole
from daybreak._check import is_plain as is_plain
from daybreak.errors import refuse as refuse
from daybreak.interface import Interface as Interface
from daybreak.tasks._shapes import check as check
from daybreak.tasks._task import Circuit as Circuit
from daybreak.tasks._task import Example as Example
from daybreak.tasks._task import Guess as Guess
from daybreak.tasks._task import Part as Part
from daybreak.tasks._task import Sizes as Sizes
from daybreak.tasks._task import Task as Task
from daybreak.tasks._task import cross_entropy as cross_entropy
from daybreak.tasks._task import fraction_correct as fraction_correct
from daybreak.tasks.corpus import Corpus as Corpus
from daybreak.tasks.markov import MarkovChain as MarkovChain
from daybreak.tasks.markov import MarkovWorld as MarkovWorld
from daybreak.tasks.recall import Placement as Placement
from daybreak.tasks.recall import Recall as Recall
from daybreak.tasks.recall import RecallWorld as RecallWorld
from daybreak.tasks.single_location import SingleLocation as SingleLocation
from daybreak.tasks.single_location import SingleLocationWorld as SingleLocationWorld
from daybreak.tasks.text import Text as Text
from daybreak.tasks.text import TextWorld as TextWorld

TASKS: dict[str, type[Task[Any]]] = {
    "single-location": SingleLocation,
    "recall": Recall,
    "markov": MarkovChain,
    "text": Text,
}
"""Tasks by their name in the command."""


def find(name: str, folder: Path = Path()) -> type[Any]:
    """The class of a task: one of `TASKS`, an installed one (entry point `daybreak.tasks`), or one in a file.

    Args:
        name: such as `recall`, or `path/to/my_task.py:Needle`. The file is executed.
        folder: where relative paths start; by default the working directory.

    Example:
        >>> find("recall").__name__
        'Recall'
        >>> find("recal")
        Traceback (most recent call last):
        daybreak.errors.RequestError: task 'recal' is unknown: perhaps you meant 'recall'.
    """
    return _own.find("task", name, TASKS, Task, folder)
