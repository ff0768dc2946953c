"""What every `daybreak train` has besides its task: options, training itself, and what is shown."""

import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak._own import located
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
from daybreak.models import Precision
from daybreak.training import Optimizer, Run, Schedule, Stop, check_own
from daybreak.training.hardware import check_hardware
from daybreak.training.watched import Watch

if TYPE_CHECKING:
    from daybreak.lab import Lab, Saved

_MOST_SEEDS = 10_000


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
class Training:
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
            stop = self.rule(first)
            runs = [replace(first, stop=stop, seed=self.seed + i) for i in range(self.seeds)]
        check_own(runs)
        check_hardware(runs)
        return runs

    def rule(self, run: Run) -> Stop:
        """The stop rule of a run with these options."""
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
