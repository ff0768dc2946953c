"""`daybreak reproduce`: figures of the papers, each with claims and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import MOST_WORKERS, Answer, Json, WholeNumber, check_new_folder, check_number, table
from daybreak.cli._confirm import confirmed
from daybreak.cli._lab import FolderPath
from daybreak.cli._watch import clock, how_long, measured_rates, watching
from daybreak.errors import RequestError, WorkError

if TYPE_CHECKING:
    from rich.table import Table

    from daybreak.lab import Lab
    from daybreak.studies import Reproduction, Scale, Study, StudyCost, StudyStatus
    from daybreak.studies._study import Verdict
    from daybreak.training import Run

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
    add: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(help="Train only the runs that the tables in --out lack, and add theirs to these tables."),
    ] = False
    list: Annotated[
        bool,
        tyro.conf.FlagCreatePairsOff,
        tyro.conf.arg(
            help="List figures, their cost and their status, and train nothing. For named ones a few programs are timed."
        ),
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
        if self.add and self.from_tables:
            raise RequestError(
                "--add is not allowed together with --from-tables, which trains nothing: leave out one of them."
            )
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
                f"there are no tables at {self.scale} scale in {str(self.out)!r}. Name the folder that has them with --out, "
                "or leave out --from-tables to measure them."
            )
        return measured

    def _carry_out(self, chosen: "Sequence[Study]") -> "list[Reproduction]":
        if self.add:
            for study in chosen:
                self._left(study)  # each is refused before the first is trained
        if self.scale == "paper" and not self.from_tables:
            self._estimate(chosen)
        done = []
        for i, study in enumerate(chosen, start=1):
            title = f"{i}/{len(chosen)} {study.name}: {study.title}"
            try:
                done.append(self._judge_again(study, title) if self.from_tables else self._measure(study, title))
            except WorkError as error:
                if not done:
                    raise
                names = ", ".join(x.study.name for x in done)
                raise WorkError(f"{error} Done before that, and written to {str(self.out)!r}: {names}.") from None
        return done

    def _judge_again(self, study: "Study", title: str) -> "Reproduction":
        from daybreak import studies

        with watching(title):
            return studies.judge_again(study, self.scale, self.out)

    def _measure(self, study: "Study", title: str) -> "Reproduction":
        from daybreak import studies
        from daybreak.lab import Lab
        from daybreak.lab.reading.expected import expected_steps

        data = self._left(study).data
        runs = data.runs(self.scale) if isinstance(data, studies.TrainedData) else []
        expected = expected_steps(Lab(self.lab), runs)
        workers = self.workers or None
        with watching(title, expected.source) as on_change:
            return studies.reproduce(
                study,
                self.scale,
                self.out,
                self.lab,
                add=self.add,
                workers=workers,
                expected=expected.steps,
                on_change=on_change,
            )

    def _estimate(self, chosen: "Sequence[Study]") -> None:
        """Print what training will cost, before it begins."""
        from daybreak.lab import Lab
        from daybreak.lab.compute.cost import cost
        from daybreak.studies import cost_of

        lab = Lab(self.lab)
        todo = list({run.id: run for runs in self._missing(chosen, lab) for run in runs}.values())
        if todo:
            operations = sum(cost(run).operations for run in todo)
            estimate = cost_of(todo, lab, measured_rates(lab, todo).estimate)
            assert estimate is not None  # noqa: S101
            duration = how_long(
                estimate.seconds_expected if estimate.expected_by else None,
                estimate.seconds_at_most,
                estimate.expected_by,
            )
            Console(stderr=True).print(
                f"{len(todo):,} runs to train, {operations:.1e} operations if each uses its whole budget: {duration} "
                f"on the processor of this machine, {clock(operations / _GPU)} on a GPU that does {_GPU:.0e} a second.",
                highlight=False,
            )

    def _missing(self, chosen: "Sequence[Study]", lab: "Lab") -> "list[list[Run]]":
        from daybreak import studies

        return [studies.missing(self._left(study, refuse=not self.list), self.scale, lab) for study in chosen]

    def _left(self, study: "Study", *, refuse: bool = True) -> "Study":
        """A study with the runs that are to be trained: with --add those that the tables lack; all if nothing can be added to them."""
        from daybreak import studies

        try:
            return studies.lacking(study, self.scale, self.out) if self.add else study
        except WorkError:
            if refuse:
                raise
            return study

    def _listing(self) -> Answer:
        """All figures, with costs as far as rates are known; those that are named, with costs from rates that are measured now."""
        from daybreak import studies
        from daybreak.lab import Lab

        chosen, lab = [studies.find(name) for name in self.names] or [*studies.STUDIES], Lab(self.lab)
        statuses = studies.statuses(chosen, self.out, lab)
        costs = self._costs(chosen, lab)
        data = {
            "studies": [
                {
                    "name": study.name,
                    "paper": study.paper,
                    "title": study.title,
                    "minutes": dict(study.minutes),
                    "scales": {scale: asdict(status) for scale, status in scales.items()},
                    "left": None if cost is None else {"scale": self.scale, **asdict(cost)},
                }
                for study, scales, cost in zip(chosen, statuses, costs, strict=True)
            ]
        }
        rows = [
            (study.name, _PAPERS[study.paper], study.title, *self._cells(study, scales, cost))
            for study, scales, cost in zip(chosen, statuses, costs, strict=True)
        ]
        columns = ["name", "paper", "figure", "smoke", "laptop", "paper"]
        title = (
            "Figures and their status at each scale: cost on two cores, or what is left here; runs in the lab; results"
        )
        return Answer(data, lambda console: self._show_list(console, table(title, columns, rows)))

    def _cells(
        self, study: "Study", scales: "Mapping[Scale, StudyStatus]", cost: "StudyCost | None"
    ) -> "Sequence[str]":
        """The status of a study at each scale; at the scale that is asked for with the cost on this machine, if that is known."""
        costs = {self.scale: cost}
        return [_cell(study.minutes[x], scales[x], costs.get(x)) for x in scales]

    def _costs(self, chosen: "Sequence[Study]", lab: "Lab") -> "list[StudyCost | None]":
        """What is left to train of each study; None where nothing is, or no rate is known."""
        from daybreak import studies
        from daybreak.lab.compute.rates import Rates, has_rates

        if not self.names and not has_rates(lab):
            return [None for _ in chosen]
        left = self._missing(chosen, lab)
        todo = [run for runs in left for run in runs]
        seconds = measured_rates(lab, todo).seconds if self.names else Rates(lab, todo).known
        return [studies.cost_of(runs, lab, seconds) if runs else None for runs in left]

    def _show_list(self, console: Console, listed: "Table") -> None:
        console.print(listed)
        if not self.names:
            console.print(
                "What is left is estimated where runs of the same kind were trained or timed on this machine. "
                "Name figures, as in 'daybreak reproduce fig3 --list', to time them now.",
                highlight=False,
            )


def _cell(minutes: float, status: "StudyStatus", cost: "StudyCost | None") -> str:
    """The status of a study at a scale, as a cell of the list."""
    duration = clock(60 * minutes) if cost is None else f"{_left(cost)} left here"
    trained = f"{status.trained:,}/{status.runs:,} runs" if status.runs else ""
    return ", ".join(x for x in (duration, trained, _done(status)) if x)


def _done(status: "StudyStatus") -> str:
    """Whether results are written; of another grid than today's, if their tables lack runs of it."""
    if not status.results:
        return ""
    if status.in_tables is None or status.in_tables == status.runs:
        return "done"
    return f"tables have {status.in_tables:,} of {status.runs:,}" if status.in_tables else "done with an older grid"


def _left(cost: "StudyCost") -> str:
    """What is left to train: as long as expected, if that is known, or at most."""
    return f"about {clock(cost.seconds_expected)}" if cost.expected_by else f"at most {clock(cost.seconds_at_most)}"


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
        if one.added is not None:
            console.print(
                f"  {one.added:,} of {one.runs:,} runs added; the others were in the tables.", highlight=False
            )
        console.print(f"  {one.folder}", highlight=False)
    verdicts = [claim.verdict for one in done for claim in one.findings.claims]
    console.print(", ".join(f"{verdicts.count(x)} {x}" for x in _COLOURS if x in verdicts), highlight=False)
    console.print(f"All results in the folder on one page: {report}", markup=False, highlight=False)
