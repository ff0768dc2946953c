"""`daybreak train`: one network, several seeds, until it emerges."""

from dataclasses import MISSING, dataclass, field, fields, make_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union, final

import tyro

from daybreak import models, tasks
from daybreak._own import installed, located
from daybreak.cli._answer import Answer, WholeNumber
from daybreak.cli._training import StopOptions, Training
from daybreak.models import MinimalAttention, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation, Text
from daybreak.training import Optimizer, Run, Stop, level_of
from daybreak.training.presets import PRESETS

_REGRESSION: Any = PRESETS["paper-a-regression"]
_RECALL: Any = PRESETS["paper-a-recall"]
_MINIMAL: Any = PRESETS["paper-b-minimal"]
_FULL: Any = PRESETS["paper-b-full"]
_TEXT: Any = PRESETS["text-induction"]


@final
@dataclass(frozen=True, kw_only=True)
class TrainSingleLocation(Training):
    """A Transformer learns a regression from the one relevant position (paper A, §2.3). About half a minute a seed.

    Example: daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --plot curves.png
    """

    task: SingleLocation = field(default_factory=lambda: SingleLocation(T=32, d=16))
    model: Transformer = field(default_factory=lambda: _REGRESSION.model)


@final
@dataclass(frozen=True, kw_only=True)
class TrainToy(Training):
    """The toy model of paper A, whose attention does not depend on the input, learns the same at a fixed position.

    Example: daybreak train toy --task.T 64 --task.d 64 --seeds 5
    """

    task: SingleLocation = field(default_factory=lambda: SingleLocation(T=64, d=64, position="fixed", feature=False))
    model: ToyAttention = field(default_factory=ToyAttention)
    optimizer: Optimizer = field(default_factory=lambda: Optimizer(name="sgd", learning_rate=1.0))


@final
@dataclass(frozen=True, kw_only=True)
class TrainRecall(Training):
    """A Transformer learns to recall a value by its key from the context (paper A, §3). About five minutes a seed.

    Example: daybreak train recall --task.N 8 --task.V 64 --task.B 2
    """

    task: Recall = field(default_factory=lambda: Recall(N=8, V=64))
    model: Transformer = field(default_factory=lambda: _RECALL.model)
    stop: StopOptions = field(default_factory=lambda: StopOptions(every=50, level=0.6, margin=0.5))


@final
@dataclass(frozen=True, kw_only=True)
class TrainMarkov(Training):
    """The minimal model of paper B learns a Markov chain block by block. About two and a half minutes a seed.

    Example: daybreak train markov --model.epsilon 1e-9 --seeds 5
    """

    task: MarkovChain = field(default_factory=lambda: _MINIMAL.task)
    model: MinimalAttention = field(default_factory=lambda: _MINIMAL.model)
    optimizer: Optimizer = field(default_factory=lambda: _MINIMAL.optimizer)
    stop: StopOptions = field(default_factory=lambda: StopOptions(budget=1000, every=10, level=0.0))
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = _MINIMAL.batch


@final
@dataclass(frozen=True, kw_only=True)
class TrainMarkovFull(Training):
    """The one-block Transformer of paper B learns the same chain.

    Example: daybreak train markov-full --task.m 1.5
    """

    task: MarkovChain = field(default_factory=lambda: _FULL.task)
    model: Transformer = field(default_factory=lambda: _FULL.model)
    optimizer: Optimizer = field(default_factory=lambda: _FULL.optimizer)
    stop: StopOptions = field(default_factory=lambda: StopOptions(budget=2000, every=10, level=0.0))
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = _FULL.batch


@final
@dataclass(frozen=True, kw_only=True)
class TrainText(Training):
    """Two layers of attention learn to predict text, until a head copies what followed the last time: an induction head.

    The text comes with the package; or name a file of your own, --task.text my.txt. About a minute a seed.

    Example: daybreak train text --plot text.png
    """

    task: Text = field(default_factory=lambda: _TEXT.task)
    model: Transformer = field(default_factory=lambda: _TEXT.model)
    optimizer: Optimizer = field(default_factory=lambda: _TEXT.optimizer)
    stop: StopOptions = field(
        default_factory=lambda: StopOptions(
            budget=_TEXT.stop.budget, every=_TEXT.stop.every, level=_TEXT.stop.level, watch=_TEXT.stop.watch
        )
    )
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = _TEXT.batch
    evaluation: Annotated[WholeNumber, tyro.conf.arg(help="Examples an evaluation.")] = _TEXT.evaluation


@dataclass(frozen=True, kw_only=True)
class _TrainOwn(Training):
    """What training a task of somebody's own has besides the task; a class with the task itself is made from it."""

    # Enough for a small task: two layers of four heads, half a minute or a minute on two cores.
    model: Transformer = field(default_factory=lambda: Transformer(width=64, head_width=16, mlp=256))
    optimizer: Optimizer = field(default_factory=lambda: Optimizer(learning_rate=1e-3))
    has_level: ClassVar[bool]  # whether --stop.level was given

    def rule(self, run: Run) -> Stop:
        """The stop rule of a run: without a level of its own, that of the task."""
        options = self.stop if self.has_level else replace(self.stop, level=level_of(run.task))
        return options.rule(run)


_TASKS: dict[str, type[Training]] = {
    "single-location": TrainSingleLocation,
    "toy": TrainToy,
    "recall": TrainRecall,
    "markov": TrainMarkov,
    "markov-full": TrainMarkovFull,
    "text": TrainText,
}
if TYPE_CHECKING:
    _Choice = Training
else:
    _Choice = Union[tuple(Annotated[kind, tyro.conf.subcommand(name)] for name, kind in _TASKS.items())]  # noqa: UP007


@final
@dataclass(frozen=True)
class Train:
    """Train networks, several seeds at once, until they emerge. Interrupted or killed, the same command goes on.

    A task of your own is a class in a file: daybreak train my_task.py:Needle --help

    Example: daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --plot curves.png
    """

    what: Annotated[_Choice, tyro.conf.arg(name="")]

    @property
    def json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.what.json

    def answer(self) -> Answer:
        """Train what was asked for."""
        return self.what.answer()


def chosen(options: list[str]) -> tuple[type, str, list[str]]:
    """What reads the options, the command so far, and the options that are left.

    A task or a model that is not built in is loaded here: its fields are options.
    """
    task, model = options[0] if options else "", _value("--model", options)
    is_own = task not in _TASKS and (":" in task or task.endswith(".py") or task in installed("task"))
    if not is_own and (model is None or task not in _TASKS):
        names = ", ".join(installed("task"))
        about = f"{Train.__doc__}\n\nInstalled tasks: {names}" if names else Train.__doc__
        return type("Train", (Train,), {"__doc__": about}), "daybreak train", options
    prog, left = f"daybreak train {task}", options[1:]
    with located():
        parts = [] if model is None else [("model", *_with_default(models.find(model)))]
        if not is_own:
            return _made(_TASKS[task], parts), prog, left
        kind = tasks.find(task)
        made: Any = _made(_TrainOwn, [*parts, ("task", *_with_default(kind)), *_stop_of(kind)])
    made.__doc__ = f"{(kind.__doc__ or task).strip()}\n\nExample: {prog} --seeds 3 --plot curves.png"
    made.has_level = _value("--stop.level", options) is not None
    return made, prog, left


def _made(base: type, parts: list[tuple[Any, ...]]) -> type:
    return make_dataclass("TrainOwn", parts, bases=(base,), frozen=True, kw_only=True)


def _stop_of(kind: type) -> list[tuple[Any, ...]]:
    """The stop rule that the help shows: with the level of the task's default, if it has one."""
    if len(_with_default(kind)) == 1:
        return []
    stop = StopOptions(level=level_of(kind()))
    return [("stop", StopOptions, field(default_factory=lambda: stop))]


def _with_default(kind: type) -> tuple[Any, ...]:
    """A class and, if no field needs a value, what it is by default."""
    needed = any(x.default is MISSING and x.default_factory is MISSING for x in fields(kind))
    return (kind,) if needed else (kind, field(default_factory=kind))


def _value(option: str, options: list[str]) -> str | None:
    """What is given for an option."""
    for i, text in enumerate(options):
        name, equals, value = text.partition("=")
        if name == option:
            return value if equals else "".join(options[i + 1 : i + 2])
    return None
