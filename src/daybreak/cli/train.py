"""`daybreak train`: one network, several seeds, until it emerges."""

import shlex
import sys
from dataclasses import MISSING, dataclass, field, fields, make_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union, final

import tyro
from rich.console import Console

from daybreak import models, tasks
from daybreak._own import installed, located
from daybreak.cli._answer import (
    MOST_STEPS,
    Answer,
    Json,
    KeepFiles,
    WholeNumber,
    check_new_folder,
    check_number,
    check_picture,
    table,
)
from daybreak.cli._lab import FolderPath
from daybreak.cli._log import LogOption, logging, trackers
from daybreak.cli._watch import watching
from daybreak.errors import WorkError
from daybreak.models import MinimalAttention, Precision, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation, Text
from daybreak.training import Optimizer, Run, Schedule, Stop, check_own, level_of
from daybreak.training.hardware import check_hardware
from daybreak.training.presets import PRESETS
from daybreak.training.watched import Watch

if TYPE_CHECKING:
    from daybreak.lab import Lab, Saved


_MOST_SEEDS = 10_000
_REGRESSION: Any = PRESETS["paper-a-regression"]
_RECALL: Any = PRESETS["paper-a-recall"]
_MINIMAL: Any = PRESETS["paper-b-minimal"]
_FULL: Any = PRESETS["paper-b-full"]
_TEXT: Any = PRESETS["text-induction"]


@final
@dataclass(frozen=True, kw_only=True)
class StopOptions:
    """When a run ends, and how often it is evaluated: often enough for a forecast, unless a number is given."""

    budget: Annotated[WholeNumber, tyro.conf.arg(help="Steps at most.")] = Stop.budget
    every: Annotated[
        WholeNumber | None,
        tyro.conf.arg(
            metavar="INT",
            help="Steps between two evaluations. By default 2 to 20, so that about ten come before half of the plateau that the "
            "paper's law predicts: fewer do not allow a forecast.",
        ),
    ] = None
    level: Annotated[
        float,
        tyro.conf.arg(
            help="Clean loss (regression), clean accuracy (tokens) or watched attention that counts as emerged; "
            "0 to spend the whole budget."
        ),
    ] = Stop.level
    margin: Annotated[float, tyro.conf.arg(help="Fraction of the plateau to train on after emergence.")] = Stop.margin
    watch: Annotated[
        Watch,
        tyro.conf.arg(
            help="What is compared with the level: the score on clean data, or attention to relevant positions, of the head with "
            "the most."
        ),
    ] = Stop.watch

    def rule(self, run: Run) -> Stop:
        """The stop rule of a run with these options, whose own does not count."""
        from daybreak.lab.reading.spacing import spacing

        every = spacing(run) if self.every is None else self.every
        return Stop(self.budget, every, self.level, self.margin, self.watch)


@dataclass(frozen=True, kw_only=True)
class _Training:
    """What every training has besides its task and model."""

    model_name: Annotated[
        str | None,
        tyro.conf.arg(
            name="model",
            metavar="NAME",
            help="Another model: transformer, minimal, toy, an installed one, or a class in a file, my_model.py:Bag. Its options "
            "are then --model.*, see --model NAME --help.",
        ),
    ] = None
    optimizer: Optimizer = field(default_factory=Optimizer)
    stop: StopOptions = field(default_factory=StopOptions)
    schedule: Schedule = field(default_factory=Schedule)
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = 32
    evaluation: Annotated[
        WholeNumber, tyro.conf.arg(help="Examples an evaluation, where the task has no validation set.")
    ] = 256
    precision: Annotated[
        Precision,
        tyro.conf.arg(
            help="Of the factors of the Transformer's products; sums and weights have float32. bfloat16 is faster where the "
            "hardware has it."
        ),
    ] = "float32"
    seeds: Annotated[WholeNumber, tyro.conf.arg(help="Networks to train, each with another seed.")] = 1
    seed: Annotated[WholeNumber, tyro.conf.arg(help="The first seed.")] = 0
    lab: Annotated[FolderPath, tyro.conf.arg(metavar="DIR", help="Folder in which runs are kept.")] = Path("lab")
    checkpoint: Annotated[
        float, tyro.conf.arg(help="Seconds between two checkpoints; the first ones come earlier.")
    ] = 30.0
    keep: KeepFiles = ()
    log: LogOption = ()
    plot: Annotated[
        Path | None, tyro.conf.arg(metavar="FILE", help="Draw the curves to this PNG, PDF or SVG file.")
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Train what the lab does not have yet, and show the results."""
        from daybreak.lab import Lab
        from daybreak.lab.compute.driver import Rules, train_missing
        from daybreak.lab.compute.inline import InlineExecutor
        from daybreak.lab.compute.rates import Rates
        from daybreak.lab.reading.expected import expected_steps

        check_new_folder("lab", self.lab)
        check_picture("plot", self.plot)
        check_number("checkpoint", self.checkpoint, 0)
        opened = trackers(self.log)
        runs, lab = self._runs(), Lab(self.lab)
        command = shlex.join(["daybreak", *sys.argv[1:]])
        rules = Rules(retries=0, checkpoint=self.checkpoint)
        expected, rates = expected_steps(lab, runs), Rates(lab, lab.missing(runs, self.keep))
        with watching(source=expected.source) as show, logging(opened, runs, lab, show) as on_change:
            train_missing(
                runs,
                lab,
                InlineExecutor(),
                command=command,
                rules=rules,
                keep=self.keep,
                expected=expected.steps,
                seconds=rates.seconds,
                on_change=on_change,
            )
        saved = [lab.load(run.id) for run in runs]
        for x in saved:
            if x.record is None:
                raise WorkError(f"run {x.result.id} failed: {x.document['traceback'].strip().splitlines()[-1]}")
        if left := lab.missing(runs, self.keep):
            raise WorkError(f"run {left[0].id} has not kept its {' and '.join(self.keep)}, for the reason given above.")
        if self.plot is not None:
            _draw(self.plot, saved)
        data = {
            "lab": str(self.lab),
            "runs": [{"seed": run.seed, **x.document} for run, x in zip(runs, saved, strict=True)],
            "plot": self.plot and str(self.plot),
        }
        return Answer(data, lambda console: self._show(console, lab, saved))

    def _runs(self) -> list[Run]:
        check_number("seeds", self.seeds, 1, _MOST_SEEDS)
        check_number("budget", self.stop.budget, 1, MOST_STEPS)
        settings: Any = self
        with located():
            rest = (self.batch, self.evaluation, self.schedule, self.precision)
            first = Run(settings.task, settings.model, self.optimizer, Stop(), self.seed, *rest)
            stop = self._stop(first)
            runs = [replace(first, stop=stop, seed=self.seed + i) for i in range(self.seeds)]
        check_own(runs)
        check_hardware(runs)
        return runs

    def _stop(self, run: Run) -> Stop:
        return self.stop.rule(run)

    def _show(self, console: Console, lab: "Lab", saved: "list[Saved]") -> None:
        rows = [_row(x) for x in saved]
        console.print(table("", ["run", "seed", "outcome", "plateau", "loss", "accuracy", "attention"], rows))
        console.print(
            f"plateau: steps until {_watched_words(saved[0].run)} crossed its level. loss, accuracy, attention: at the end of the "
            f"run, on clean data. attention: {_attention_words(saved[0].run)}, of the head with the most.",
            style="dim",
        )
        for x in saved:
            if other := x.document["provenance"].get("from_run"):
                console.print(
                    f"{x.result.id[:8]} differs from run {other[:8]} only in its budget: steps of that run were not trained again.",
                    highlight=False,
                )
        where = "" if lab.path == Path("lab") else f" --lab {shlex.quote(str(lab.path))}"
        if self.plot is not None:
            console.print(f"Picture: {self.plot}", markup=False, highlight=False)
        console.print(f"Next: daybreak runs show {saved[0].result.id[:6]}{where}", markup=False, highlight=False)


def _watched_words(run: Run) -> str:
    return "the clean loss or accuracy" if run.stop.watch == "score" else "attention"


def _attention_words(run: Run) -> str:
    """What the column says; a task with a probe batch of its own has another name for it."""
    name = run.task.attention_name
    return "to the relevant positions" if name.startswith("attention") else f"the {name}, on a probe batch"


def _row(saved: "Saved") -> tuple[str, ...]:
    result, record = saved.result, saved.record
    assert record is not None  # noqa: S101
    accuracy = result.final.get("clean_accuracy")
    return (
        result.id[:8],
        str(saved.run.seed),
        result.outcome,
        str(result.plateau) if saved.run.stop.level else "",
        f"{result.final.get('clean_loss', float('nan')):.4g}",
        "" if accuracy is None else f"{100 * accuracy:.1f}%",
        f"{record.curves['attention'][-1].max():.3f}",
    )


def _draw(path: Path, saved: "list[Saved]") -> None:
    from daybreak import pictures

    records = {f"seed {x.run.seed}": x.record for x in saved if x.record is not None}
    plateaus = {f"seed {x.run.seed}": x.result.plateau for x in saved}
    ends = {name: x.bracket for name, x in plateaus.items() if x is not None and not x.censored}
    attention = saved[0].run.task.attention_name
    pictures.save(pictures.learning_curves(records, ends, attention), path, [path.suffix])


@final
@dataclass(frozen=True, kw_only=True)
class TrainSingleLocation(_Training):
    """A Transformer learns a regression from the one relevant position (paper A, §2.3). About half a minute a seed.

    Example: daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --plot curves.png
    """

    task: SingleLocation = field(default_factory=lambda: SingleLocation(T=32, d=16))
    model: Transformer = field(default_factory=lambda: _REGRESSION.model)


@final
@dataclass(frozen=True, kw_only=True)
class TrainToy(_Training):
    """The toy model of paper A, whose attention does not depend on the input, learns the same at a fixed position.

    Example: daybreak train toy --task.T 64 --task.d 64 --seeds 5
    """

    task: SingleLocation = field(default_factory=lambda: SingleLocation(T=64, d=64, position="fixed", feature=False))
    model: ToyAttention = field(default_factory=ToyAttention)
    optimizer: Optimizer = field(default_factory=lambda: Optimizer(name="sgd", learning_rate=1.0))


@final
@dataclass(frozen=True, kw_only=True)
class TrainRecall(_Training):
    """A Transformer learns to recall a value by its key from the context (paper A, §3). About five minutes a seed.

    Example: daybreak train recall --task.N 8 --task.V 64 --task.B 2
    """

    task: Recall = field(default_factory=lambda: Recall(N=8, V=64))
    model: Transformer = field(default_factory=lambda: _RECALL.model)
    stop: StopOptions = field(default_factory=lambda: StopOptions(every=50, level=0.6, margin=0.5))


@final
@dataclass(frozen=True, kw_only=True)
class TrainMarkov(_Training):
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
class TrainMarkovFull(_Training):
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
class TrainText(_Training):
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
class _TrainOwn(_Training):
    """What training a task of somebody's own has besides the task; a class with the task itself is made from it."""

    # Enough for a small task: two layers of four heads, half a minute or a minute on two cores.
    model: Transformer = field(default_factory=lambda: Transformer(width=64, head_width=16, mlp=256))
    optimizer: Optimizer = field(default_factory=lambda: Optimizer(learning_rate=1e-3))
    has_level: ClassVar[bool]  # whether --stop.level was given

    def _stop(self, run: Run) -> Stop:
        options = self.stop if self.has_level else replace(self.stop, level=level_of(run.task))
        return options.rule(run)


_TASKS: dict[str, type[_Training]] = {
    "single-location": TrainSingleLocation,
    "toy": TrainToy,
    "recall": TrainRecall,
    "markov": TrainMarkov,
    "markov-full": TrainMarkovFull,
    "text": TrainText,
}
if TYPE_CHECKING:
    _Choice = _Training
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
