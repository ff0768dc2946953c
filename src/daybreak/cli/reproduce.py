"""`daybreak reproduce`: figures of the papers, each with claims and verdicts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, final

import tyro
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from daybreak.cli._answer import Answer, Json, check_new_folder, table

_MARKS = {"holds": "[green]holds[/]", "fails": "[red]fails[/]", "undecided": "[yellow]undecided[/]"}


@final
@dataclass(frozen=True)
class Reproduce:
    """Reproduce figures of the papers: measurements, laws, claims with verdicts, and the picture.

    Without a name all figures are reproduced.
    Example: daybreak reproduce fig1c fig2-left --scale laptop --out results
    """

    names: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="[NAME ...]", help="Figures, as --list names them."),
    ] = ()
    scale: Annotated[
        Literal["smoke", "laptop", "paper"],
        tyro.conf.arg(help="smoke: seconds. laptop: a corner of the paper's grid. paper: all of it."),
    ] = "laptop"
    out: Annotated[Path, tyro.conf.arg(help="Folder for data, claims and pictures.")] = Path("results")
    list: Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="List the figures, and do nothing.")] = False
    json: Json = False

    def answer(self) -> Answer:
        """Carry out the named studies, or list them all."""
        from daybreak import studies

        if self.list:
            return self._listing()
        check_new_folder("out", self.out)
        chosen = [studies.find(name) for name in self.names] or list(studies.STUDIES)
        console = Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        progress = Progress(*columns, console=console, disable=not console.is_terminal)
        done = []
        with progress:
            for i, study in enumerate(chosen, start=1):
                task = progress.add_task(f"{i}/{len(chosen)} {study.name}: {study.title}", total=1)
                done.append(studies.reproduce(study, self.scale, self.out))
                progress.update(task, completed=1)
        data = {"reproduced": [{**x.as_json(), "folder": str(x.folder), "seconds": round(x.seconds, 1)} for x in done]}
        return Answer(data, lambda console: show(console, done))

    def _listing(self) -> Answer:
        from daybreak import studies

        data = {
            "studies": [
                {"name": s.name, "paper": s.paper, "title": s.title, "minutes": dict(s.minutes)}
                for s in studies.STUDIES
            ]
        }
        rows = [
            (s.name, s.paper, s.title, *(f"{s.minutes[x]:g}" for x in ("smoke", "laptop", "paper")))
            for s in studies.STUDIES
        ]
        columns = ["name", "paper", "figure", "smoke", "laptop", "paper"]
        title = "Figures, and the minutes each takes on two cores at a scale"
        return Answer(data, lambda console: console.print(table(title, columns, rows)))


def show(console: Console, done) -> None:
    """The verdicts of carried-out studies, and where everything was written."""
    for one in done:
        console.print(f"[bold]{one.study.name}[/]  {one.study.title}")
        for claim in one.findings.claims:
            console.print(f"  {_MARKS[claim.verdict]}  [bold]{claim.id}[/]  ", end="")
            console.print(claim.sentence, markup=False, highlight=False)
            for label, text in (("paper", claim.paper), ("here", claim.ours), ("note", claim.note)):
                if text:
                    console.print(
                        f"         {label:>5}  {text}",
                        markup=False,
                        highlight=False,
                        style="dim" if label == "note" else None,
                    )
        console.print(f"  {one.folder}", highlight=False)
    verdicts = [claim.verdict for one in done for claim in one.findings.claims]
    console.print(", ".join(f"{verdicts.count(x)} {x}" for x in _MARKS if x in verdicts), highlight=False)
