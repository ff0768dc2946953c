"""`daybreak sweep`: all runs of a sweep file, on this machine, on a Ray cluster or on a Slurm cluster."""

import shlex
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import tyro
from rich.console import Console

from daybreak._machine import cores
from daybreak.cli._answer import (
    MOST_STEPS,
    MOST_WORKERS,
    Answer,
    Json,
    KeepFiles,
    WholeNumber,
    check_new_folder,
    check_number,
    table,
)
from daybreak.cli._lab import FolderPath
from daybreak.cli._watch import clock, how_long, measured_rates, watching
from daybreak.cli.examples import check_example
from daybreak.errors import RequestError, format_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from daybreak.lab import Lab
    from daybreak.lab.compute.cohorts import Cohort
    from daybreak.lab.compute.executor import Executor
    from daybreak.lab.compute.rates import Rates
    from daybreak.lab.compute.state import State
    from daybreak.training import Run

_ROWS, _COLUMNS = 10, 6  # of a dry run: cohorts, and settings that differ between them
_ONLY_WITH = {"address": ("ray",), "gpus": ("ray", "slurm"), "partition": ("slurm",), "sbatch": ("slurm",)}
_STARTING = 3  # seconds until a worker trains its first cohort, with a program that is compiled
_COMPILING = 8  # seconds to compile a program, as seen on small models


@final
@dataclass(frozen=True)
class Sweep:
    """Train all runs of a sweep file that the lab does not have yet. Interrupted or killed, the same command goes on.

    Example: daybreak sweep examples/small.toml --lab lab
    """

    file: Annotated[
        Path, tyro.conf.Positional, tyro.conf.arg(metavar="SWEEP.toml", help="What to run, see docs/guides/lab.md.")
    ]
    lab: Annotated[FolderPath, tyro.conf.arg(help="Folder in which runs are kept.")] = Path("lab")
    executor: Annotated[
        Literal["local", "ray", "slurm"],
        tyro.conf.arg(help="Processes of this machine, tasks of a Ray cluster, or jobs of a Slurm cluster."),
    ] = "local"
    workers: Annotated[
        WholeNumber,
        tyro.conf.arg(
            help="Cohorts trained at the same time; 0: cores, of the machine or cluster, divided by --threads."
        ),
    ] = 0
    threads: Annotated[
        WholeNumber, tyro.conf.arg(help="Cores for each worker. Measurements depend on it, in their last bits.")
    ] = 1
    gpus: Annotated[
        float, tyro.conf.arg(help="GPUs for each worker; on Ray also a fraction of one. With --executor ray or slurm.")
    ] = 0.0
    address: Annotated[
        str,
        tyro.conf.arg(metavar="HOST:PORT", help="Ray cluster to connect to; if empty, one is started on this machine."),
    ] = ""
    partition: Annotated[
        str, tyro.conf.arg(metavar="NAME", help="Partition of the Slurm cluster; if empty, its default one.")
    ] = ""
    sbatch: Annotated[
        str,
        tyro.conf.arg(
            metavar="OPTIONS", help="Further options for Slurm's sbatch, such as '--time=60 --account=mine'."
        ),
    ] = ""
    retries: Annotated[
        WholeNumber, tyro.conf.arg(help="Times a run is tried again before it is recorded as failed.")
    ] = 2
    patience: Annotated[float, tyro.conf.arg(help="Seconds without a message after which a worker is killed.")] = 1800.0
    checkpoint: Annotated[
        float, tyro.conf.arg(help="Seconds between two checkpoints; the first ones come earlier.")
    ] = 30.0
    keep: KeepFiles = ()
    dry_run: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(help="Show runs, cohorts and an estimate of the time; train nothing."),
    ] = False
    json: Json = False

    def answer(self) -> Answer:
        """Show the plan, or train."""
        from daybreak.lab.sweeps import sweep

        self._check()
        check_example(self.file)
        runs = sweep.read(self.file)
        check_number("budget", max(run.stop.budget for run in runs), 1, MOST_STEPS)
        return self._plan(runs) if self.dry_run else self._train(runs)

    def _check(self) -> None:
        check_new_folder("lab", self.lab)
        check_number("workers", self.workers, 0, MOST_WORKERS)
        check_number("threads", self.threads, 1)
        check_number("retries", self.retries, 0)
        check_number("patience", self.patience, 0, above=True)
        check_number("checkpoint", self.checkpoint, 0)
        check_number("gpus", self.gpus, 0)
        for name, executors in _ONLY_WITH.items():
            if getattr(self, name) and self.executor not in executors:
                needed = " or ".join(f"--executor {x}" for x in executors)
                raise RequestError(f"{name} = {getattr(self, name)!r} is not allowed: it needs {needed}.")
        if self.executor == "slurm" and self.gpus % 1:
            raise RequestError(f"gpus = {self.gpus:g} is not allowed: a job of Slurm has whole GPUs.")

    def _missing(self, runs: "list[Run]", lab: "Lab") -> "list[Run]":
        """The runs to train. Those that this machine is to train and cannot are refused before anything starts."""
        from daybreak.training.hardware import check_hardware

        todo = lab.missing(runs, self.keep)
        if self.executor == "local":
            check_hardware(todo)
        return todo

    def _executor(self) -> "Executor":
        if self.executor == "ray":
            from daybreak.lab.compute.ray import RayExecutor

            return RayExecutor(self.address or None, self.workers or None, self.threads, self.gpus)
        if self.executor == "slurm":
            from daybreak.lab.compute.slurm import SlurmExecutor

            options = shlex.split(self.sbatch)
            return SlurmExecutor(self.lab, self.workers or None, self.threads, int(self.gpus), self.partition, options)
        from daybreak.lab.compute.local import LocalExecutor

        return LocalExecutor(self.workers or None, self.threads)

    def _train(self, runs: "list[Run]") -> Answer:
        from daybreak.lab import Lab
        from daybreak.lab.compute.driver import Rules, train_missing
        from daybreak.lab.compute.rates import Rates
        from daybreak.lab.reading.expected import expected_steps

        lab = Lab(self.lab)
        rules = Rules(self.retries, self.patience, self.checkpoint)
        command = shlex.join(["daybreak", *sys.argv[1:]])
        expected = expected_steps(lab, runs)
        rates = Rates(lab, self._missing(runs, lab))
        with watching(source=expected.source) as on_change:
            state = train_missing(
                runs,
                lab,
                self._executor(),
                command=command,
                rules=rules,
                keep=self.keep,
                expected=expected.steps,
                seconds=rates.seconds,
                on_change=on_change,
            )
        data = {"lab": str(self.lab), "runs": state.total, "existing": state.existing, "outcomes": dict(state.outcomes)}
        data |= {"reused": state.reused, "continued": state.continued}
        failed = state.outcomes["failed"]
        failure = f"{failed:,} of {state.total:,} runs failed: 'daybreak runs show ID' shows why, and the same command tries them again."
        return Answer(data, lambda console: self._show(console, state), failure if failed else None)

    def _show(self, console: Console, state: "State") -> None:
        counted = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(state.outcomes.items()))
        before = f"{state.existing:,} were in the lab before" if state.existing else ""
        reused = f"{state.reused:,} have the record of a run with another budget" if state.reused else ""
        continued = f"{state.continued:,} went on from a run with a smaller budget" if state.continued else ""
        details = "; ".join(x for x in (counted, reused, continued, before) if x)
        console.print(f"{state.total:,} runs in lab {str(self.lab)!r}: {details}.", markup=False, highlight=False)

    def _plan(self, runs: "list[Run]") -> Answer:
        from daybreak.lab import Lab
        from daybreak.lab.compute.cohorts import pack
        from daybreak.lab.compute.cost import check_memory
        from daybreak.lab.compute.rates import duration
        from daybreak.lab.reading.expected import expected_steps

        lab, executor = Lab(self.lab), self._executor()
        todo = self._missing(runs, lab)
        check_memory(todo, executor.memory)
        packed = pack(todo, executor.workers, executor.memory, executor.at_once)
        rates = measured_rates(lab, todo)
        timed = sorted(((c, [rates.estimate(run) for run in c.runs]) for c in packed), key=lambda x: -sum(x[1]))
        cohorts, each = [x[0] for x in timed], [x[1] for x in timed]
        expected = expected_steps(lab, todo)
        fractions = {run.id: expected.steps.get(run.id, run.stop.budget) / run.stop.budget for run in todo}
        likely = [[x * fractions[run.id] for x, run in zip(seconds, c.runs, strict=True)] for c, seconds in timed]
        start = (_STARTING + self._compiling(rates) / min(executor.workers, len(cohorts))) if todo else 0.0
        crowded = self._crowded(executor.workers)
        data = {
            "runs": len(runs),
            "existing": len(runs) - len(todo),
            "workers": executor.workers,
            "cohorts": [
                {
                    "runs": len(c.runs),
                    "steps": c.runs[0].stop.budget,
                    "operations": c.operations,
                    "seconds": crowded * duration([seconds], 1, executor.at_once),
                    **settings,
                }
                for c, seconds, settings in zip(cohorts, each, _settings(cohorts), strict=True)
            ],
            "programs": len(rates.programs),
            "seconds_expected": crowded * duration(likely, executor.workers, executor.at_once) + start,
            "expected_by": expected.source,
            "seconds_at_most": crowded * duration(each, executor.workers, executor.at_once) + start,
            "seconds_to_start": start,
            "operations_per_second": sum(c.operations for c in cohorts) / (sum(map(sum, each)) or 1.0),
            "rates_by": _counts(rates.source(run) for run in rates.programs),
        }
        return Answer(data, lambda console: _show_plan(console, data))

    def _compiling(self, rates: "Rates") -> float:
        """Seconds to compile the programs of runs that were not compiled on this machine before."""
        return _COMPILING * sum(not rates.is_compiled(run) for run in rates.programs)

    def _crowded(self, workers: int) -> float:
        """How many times slower workers are that share cores of this machine."""
        return max(1.0, workers * self.threads / len(cores())) if self.executor == "local" else 1.0


def _counts(sources: "Iterable[str]") -> dict[str, int]:
    """How many programs each source gives the rate of, the most frequent first."""
    return dict(Counter(sources).most_common())


def _settings(cohorts: "list[Cohort]") -> list[dict[str, list]]:
    """For each cohort the values of those settings that differ between the runs of the sweep; not the seed, nor the budget."""
    from daybreak.lab import index
    from daybreak.training import to_json

    rows = [[index.settings(to_json(run)) for run in cohort.runs] for cohort in cohorts]
    names = list(dict.fromkeys(name for row in rows for run in row for name in run if name not in ("seed", "budget")))
    values = {name: {repr(run[name]) for row in rows for run in row if name in run} for name in names}
    differing = [name for name in names if len(values[name]) > 1]
    return [{name: sorted({run[name] for run in row if name in run}, key=str) for name in differing} for row in rows]


def _show_plan(console: Console, data: dict) -> None:
    todo, cohorts = data["runs"] - data["existing"], data["cohorts"]
    console.print(
        f"{data['runs']:,} runs, of which {data['existing']:,} are in the lab and {todo:,} are to be trained.",
        highlight=False,
    )
    if not cohorts:
        return
    names = [name for name in cohorts[0] if name not in ("runs", "steps", "operations", "seconds")][:_COLUMNS]
    rows = [
        (
            f"{c['runs']:,}",
            f"{c['steps']:,}",
            f"{c['seconds'] / 60:,.1f}",
            *(_few(c[name]) for name in names),
        )
        for c in cohorts[:_ROWS]
    ]
    count = f"{len(cohorts):,} cohort{'s' * (len(cohorts) > 1)}"
    title = f"{count}, longest first, for {data['workers']} worker{'s' * (data['workers'] > 1)}"
    console.print(table(title, ["runs", "steps", "minutes at most", *names], rows))
    if len(cohorts) > _ROWS:
        console.print(f"and {len(cohorts) - _ROWS:,} shorter ones", highlight=False)
    expected = data["seconds_expected"] if data["expected_by"] else None
    duration = how_long(expected, data["seconds_at_most"], data["expected_by"])
    limit = ", if every run uses its whole budget" if "at most" in duration else ""
    programs = f"{data['programs']:,} program{'s' * (data['programs'] > 1)}"
    console.print(
        f"{duration[0].upper()}{duration[1:]}{limit}. Estimated by measured rates of {programs} "
        f"({_sources(data['rates_by'])}), with {clock(data['seconds_to_start'])} to start and compile.",
        highlight=False,
    )


def _sources(counts: dict[str, int]) -> str:
    """Where rates come from, with the number of programs if there is more than one source."""
    phrases = {source: source if source == "timed on this machine" else f"from {source}" for source in counts}
    return ", ".join(x if len(counts) == 1 else f"{counts[source]:,} {x}" for source, x in phrases.items())


def _few(values: list) -> str:
    shown = [format_number(x) if isinstance(x, float) else str(x) for x in values]
    return ", ".join(shown) if len(shown) <= 3 else f"{shown[0]} … {shown[-1]}"
