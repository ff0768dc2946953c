"""`daybreak train`: one network, several seeds, until it emerges."""

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import (
    MOST_STEPS,
    Answer,
    Json,
    WholeNumber,
    check_new_folder,
    check_number,
    check_picture,
    table,
)
from daybreak.cli._watch import watching
from daybreak.errors import WorkError
from daybreak.models import MinimalAttention, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation
from daybreak.training import Optimizer, Run, Schedule, Stop
from daybreak.training.presets import PRESETS

if TYPE_CHECKING:
    from daybreak.lab import Lab, Saved


_MOST_SEEDS = 10_000
_REGRESSION: Any = PRESETS["paper-a-regression"]
_RECALL: Any = PRESETS["paper-a-recall"]
_MINIMAL: Any = PRESETS["paper-b-minimal"]
_FULL: Any = PRESETS["paper-b-full"]


@dataclass(frozen=True, kw_only=True)
class _Training:
    """What every training has besides its task and model."""

    optimizer: Optimizer = field(default_factory=Optimizer)
    stop: Stop = field(default_factory=Stop)
    schedule: Schedule = field(default_factory=Schedule)
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = 32
    evaluation: Annotated[
        WholeNumber, tyro.conf.arg(help="Examples an evaluation, where the task has no validation set.")
    ] = 256
    seeds: Annotated[WholeNumber, tyro.conf.arg(help="Networks to train, each with another seed.")] = 1
    seed: Annotated[WholeNumber, tyro.conf.arg(help="The first seed.")] = 0
    lab: Annotated[Path, tyro.conf.arg(metavar="DIR", help="Folder in which runs are kept.")] = Path("lab")
    checkpoint: Annotated[float, tyro.conf.arg(help="Seconds between two checkpoints, at least.")] = 30.0
    plot: Annotated[
        Path | None, tyro.conf.arg(metavar="FILE", help="Draw the curves to this PNG, PDF or SVG file.")
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Train what the lab does not have yet, and show the results."""
        from daybreak.lab import Lab
        from daybreak.lab.compute.driver import Rules, train_missing
        from daybreak.lab.compute.inline import InlineExecutor
        from daybreak.lab.reading.expected import expected_steps

        check_new_folder("lab", self.lab)
        check_picture("plot", self.plot)
        check_number("checkpoint", self.checkpoint, 0)
        runs, lab = self._runs(), Lab(self.lab)
        command = shlex.join(["daybreak", *sys.argv[1:]])
        rules = Rules(retries=0, checkpoint=self.checkpoint)
        expected = expected_steps(lab, runs)
        with watching(source=expected.source) as on_change:
            train_missing(
                runs, lab, InlineExecutor(), command=command, rules=rules, expected=expected.steps, on_change=on_change
            )
        saved = [lab.load(run.id) for run in runs]
        for x in saved:
            if x.record is None:
                raise WorkError(f"run {x.result.id} failed: {x.document['traceback'].strip().splitlines()[-1]}")
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
        parts = (settings.task, settings.model, self.optimizer, self.stop)
        rest = (self.batch, self.evaluation, self.schedule)
        return [Run(*parts, self.seed + i, *rest) for i in range(self.seeds)]

    def _show(self, console: Console, lab: "Lab", saved: "list[Saved]") -> None:
        rows = [_row(x) for x in saved]
        console.print(table("", ["run", "seed", "outcome", "plateau", "loss", "accuracy", "attention"], rows))
        console.print(
            "plateau: steps until the clean loss or accuracy crossed its level. loss, accuracy, attention: at the end of the "
            "run, on clean data. attention: to the relevant positions, of the head with the most.",
            style="dim",
        )
        where = "" if lab.path == Path("lab") else f" --lab {shlex.quote(str(lab.path))}"
        if self.plot is not None:
            console.print(f"Picture: {self.plot}", markup=False, highlight=False)
        console.print(f"Next: daybreak runs show {saved[0].result.id[:6]}{where}", markup=False, highlight=False)


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
    lengths = {name: x.length for name, x in plateaus.items() if x is not None and not x.censored}
    pictures.save(pictures.learning_curves(records, lengths), path, [path.suffix])


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
    stop: Stop = field(default_factory=lambda: Stop(every=50, level=0.6, margin=0.5))


@final
@dataclass(frozen=True, kw_only=True)
class TrainMarkov(_Training):
    """The minimal model of paper B learns a Markov chain block by block. About two and a half minutes a seed.

    Example: daybreak train markov --model.epsilon 1e-9 --seeds 5
    """

    task: MarkovChain = field(default_factory=lambda: _MINIMAL.task)
    model: MinimalAttention = field(default_factory=lambda: _MINIMAL.model)
    optimizer: Optimizer = field(default_factory=lambda: _MINIMAL.optimizer)
    stop: Stop = field(default_factory=lambda: Stop(budget=1000, every=10, level=0.0))
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
    stop: Stop = field(default_factory=lambda: _FULL.stop)
    batch: Annotated[WholeNumber, tyro.conf.arg(help="Examples a step.")] = _FULL.batch


@final
@dataclass(frozen=True)
class Train:
    """Train networks, several seeds at once, until they emerge. Interrupted or killed, the same command goes on.

    Example: daybreak train single-location --task.T 32 --task.d 16 --seeds 3 --plot curves.png
    """

    what: Annotated[
        Annotated[TrainSingleLocation, tyro.conf.subcommand("single-location")]
        | Annotated[TrainToy, tyro.conf.subcommand("toy")]
        | Annotated[TrainRecall, tyro.conf.subcommand("recall")]
        | Annotated[TrainMarkov, tyro.conf.subcommand("markov")]
        | Annotated[TrainMarkovFull, tyro.conf.subcommand("markov-full")],
        tyro.conf.arg(name=""),
    ]

    @property
    def json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.what.json

    def answer(self) -> Answer:
        """Train what was asked for."""
        return self.what.answer()
