"""`daybreak reproduce`: figures of the papers, each with claims and verdicts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import MOST_WORKERS, Answer, Json, WholeNumber, check_new_folder, check_number, table
from daybreak.cli._confirm import confirmed
from daybreak.cli._lab import FolderPath
from daybreak.cli._watch import clock, watching
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.studies import Reproduction, Study, StudyStatus
    from daybreak.studies._study import Verdict

_GPU = 1e13  # operations a second of a good GPU in single precision, kept busy
_PAPERS = {"emergence": "A", "incremental": "B", "language": "our own"}
_COLOURS: "dict[Verdict, str]" = {"holds": "green", "fails": "red", "undecided": "yellow", "outside": "magenta"}


@final
@dataclass(frozen=True)
class Reproduce:
    """Reproduce figures of the papers: measurements, laws, claims with verdicts, and the picture.

    All figures take hours: name some, or give --all. After an interruption the same command continues. What was measured
    before can be judged again in seconds, with --from-tables.
    Example: daybreak reproduce fig1c fig2-left --scale laptop --out results
    """

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="[NAME ...]", help="Figures, as --list names them."),
    ] = ()
    all: Annotated[
        bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="All figures, one after the other, without asking.")
    ] = False
    scale: Annotated[
        Literal["smoke", "laptop", "paper"],
        tyro.conf.arg(help="smoke: seconds. laptop: a corner of the paper's grid. paper: all of it."),
    ] = "laptop"
    lab: Annotated[FolderPath, tyro.conf.arg(metavar="DIR", help="Folder in which trained runs are kept.")] = Path(
        "lab"
    )
    out: Annotated[Path, tyro.conf.arg(help="Folder for data, claims, pictures and report.html.")] = Path("results")
    workers: Annotated[WholeNumber, tyro.conf.arg(help="Cohorts of runs trained at a time; 0: one per core.")] = 0
    from_tables: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(help="Judge and draw again from the tables in --out; measure and train nothing."),
    ] = False
    list: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(help="List the figures, their cost and their status, and do nothing else."),
    ] = False
    json: Json = False

    def answer(self) -> Answer:
        """Carry out the named studies, or list them all."""
        from daybreak import studies

        for name in ("out", "lab"):
            check_new_folder(name, getattr(self, name))
        check_number("workers", self.workers, 0, MOST_WORKERS)
        if self.all and self.names:
            raise RequestError(f"--all is not allowed together with names of figures: {', '.join(self.names)}.")
        if self.list:
            return self._listing()
        done = self._carry_out([studies.find(name) for name in self.names] or self._every_figure())
        report = studies.write_report(self.out)
        data = {
            "reproduced": [{**x.as_json(), "folder": str(x.folder), "seconds": round(x.seconds, 1)} for x in done],
            "report": str(report),
        }
        return Answer(data, lambda console: show(console, done, report))

    def _every_figure(self) -> "list[Study]":
        from daybreak import studies

        if not self.from_tables:
            if not self.all:
                seconds = 60 * sum(study.minutes[self.scale] for study in studies.STUDIES)
                question = f"Reproduce all {len(studies.STUDIES)} figures at {self.scale} scale, about {clock(seconds)} on two cores?"
                if not confirmed("", question, "names of figures, or --all"):
                    raise RequestError("nothing was done: name figures, or give --all; --list shows names and costs.")
            return [*studies.STUDIES]
        measured = [study for study in studies.STUDIES if studies.has_tables(study, self.scale, self.out)]
        if not measured:
            raise RequestError(
                f"there are no tables at {self.scale} scale in {str(self.out)!r}: leave out --from-tables to measure them."
            )
        return measured

    def _carry_out(self, chosen: "Sequence[Study]") -> "list[Reproduction]":
        if self.scale == "paper" and not self.from_tables:
            self._estimate(chosen)
        done = []
        for i, study in enumerate(chosen, start=1):
            title = f"{i}/{len(chosen)} {study.name}: {study.title}"
            done.append(self._judge_again(study, title) if self.from_tables else self._measure(study, title))
        return done

    def _judge_again(self, study: "Study", title: str) -> "Reproduction":
        from daybreak import studies

        with watching(title):
            return studies.judge_again(study, self.scale, self.out)

    def _measure(self, study: "Study", title: str) -> "Reproduction":
        from daybreak import studies
        from daybreak.lab import Lab
        from daybreak.lab.reading.expected import expected_steps

        runs = study.data.runs(self.scale) if isinstance(study.data, studies.TrainedData) else []
        expected = expected_steps(Lab(self.lab), runs)
        workers = self.workers or None
        with watching(title, expected.source) as on_change:
            return studies.reproduce(
                study,
                self.scale,
                self.out,
                self.lab,
                workers=workers,
                expected=expected.steps,
                on_change=on_change,
            )

    def _estimate(self, chosen: "Sequence[Study]") -> None:
        """Print what training will cost, before it begins."""
        from daybreak.lab import Lab
        from daybreak.lab.compute.cost import cost, machine_speed
        from daybreak.studies import TrainedData

        data = [study.data for study in chosen]
        runs = {x.id: x for training in data if isinstance(training, TrainedData) for x in training.trainings("paper")}
        todo = [run for run in runs.values() if not Lab(self.lab).has(run)]
        if todo:
            operations = sum(cost(run).operations for run in todo)
            seconds = operations / machine_speed()
            Console(stderr=True).print(
                f"{len(todo):,} runs to train, {operations:.1e} operations if each uses its whole budget: about {clock(seconds)} "
                f"on the processor of this machine, {clock(operations / _GPU)} on a GPU that does {_GPU:.0e} a second.",
                highlight=False,
            )

    def _listing(self) -> Answer:
        from daybreak import studies
        from daybreak.lab import Lab

        statuses = studies.statuses(studies.STUDIES, self.out, Lab(self.lab))
        data = {
            "studies": [
                {
                    "name": study.name,
                    "paper": study.paper,
                    "title": study.title,
                    "minutes": dict(study.minutes),
                    "scales": {scale: asdict(status) for scale, status in scales.items()},
                }
                for study, scales in zip(studies.STUDIES, statuses, strict=True)
            ]
        }
        rows = [
            (study.name, _PAPERS[study.paper], study.title, *(_cell(study.minutes[x], scales[x]) for x in scales))
            for study, scales in zip(studies.STUDIES, statuses, strict=True)
        ]
        columns = ["name", "paper", "figure", "smoke", "laptop", "paper"]
        title = "Figures and their status at each scale: cost on two cores, runs in the lab, results"
        return Answer(data, lambda console: console.print(table(title, columns, rows)))


def _cell(minutes: float, status: "StudyStatus") -> str:
    """The status of a study at a scale, as a cell of the list."""
    trained = f"{status.trained:,}/{status.runs:,} runs" if status.runs else ""
    return ", ".join(x for x in (clock(60 * minutes), trained, "done" if status.results else "") if x)


def show(console: Console, done: "Sequence[Reproduction]", report: Path) -> None:
    """The verdicts of carried-out studies, and where everything was written."""
    for one in done:
        console.print(f"[bold]{one.study.name}[/]  {one.study.title}")
        for claim in one.findings.claims:
            console.print(f"  [{_COLOURS[claim.verdict]}]{claim.verdict}[/]  [bold]{claim.id}[/]  ", end="")
            console.print(claim.sentence, markup=False, highlight=False)
            for label, text in (("paper", claim.paper), ("measured", claim.ours), ("note", claim.note)):
                if text:
                    console.print(
                        f"      {label:>8}  {text}",
                        markup=False,
                        highlight=False,
                        style="dim" if label == "note" else None,
                    )
        console.print(f"  {one.folder}", highlight=False)
    verdicts = [claim.verdict for one in done for claim in one.findings.claims]
    console.print(", ".join(f"{verdicts.count(x)} {x}" for x in _COLOURS if x in verdicts), highlight=False)
    console.print(f"All results in the folder on one page: {report}", markup=False, highlight=False)
