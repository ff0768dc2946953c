"""`daybreak forecast`: when a run will emerge, from its curves so far."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, bare, check_picture, table
from daybreak.cli._lab import LabFolder, open_lab
from daybreak.cli._outlook import (
    Direction,
    Level,
    Probe,
    Seen,
    StepColumn,
    Value,
    Wanted,
    forecast_data,
    is_file,
    law_of_others,
    of_file,
    of_run,
    sentence,
)
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab.reading.laws import LawPrior
    from daybreak.lab.reading.progress import RunCurves

_SOURCES = {
    "law": "the law of other runs",
    "attention": "growth of attention to relevant positions",
    "loss": "change of loss or accuracy",
}


@final
@dataclass(frozen=True)
class Forecast:
    """Forecast when a run emerges, before its loss moves: a step with an 80 % interval, or why there is not enough evidence.

    Works on runs that still train, up to their last checkpoint, and on finished ones, up to any step. If the lab has enough
    other finished runs of the same kind, their law is used too. A file of curves from any program works as well: CSV, JSONL, JSON,
    Parquet, or a folder of TensorBoard.

    Example: daybreak forecast 3f2a --at 400 --plot forecast.png

    Example: daybreak forecast metrics.csv --value loss --level 0.1 --probe induction
    """

    run: Annotated[
        str,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="RUN|FILE", help="Id of the run, or the start of it; or a file or folder of curves."),
    ]
    at: Annotated[
        WholeNumber | None,
        tyro.conf.arg(metavar="STEP", help="Use the run only until this step. By default all of it."),
    ] = None
    lab: LabFolder = Path("lab")
    value: Value = None
    level: Level = None
    direction: Direction = None
    probe: Probe = None
    step: StepColumn = None
    law: Annotated[
        str | None,
        tyro.conf.arg(
            metavar="LAW",
            help="Law to fit to the lab's other runs, 'C * d**a * T**b', or 'none'. By default the paper's form.",
        ),
    ] = None
    plot: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="FILE",
            help="Draw the curve, attention and the forecast at each step to this PNG, PDF or SVG file.",
        ),
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the run or file, fit the law if there is one, forecast; draw if asked."""
        check_picture("plot", self.plot)
        wanted = Wanted(self.value, self.level, self.direction, self.probe, self.step)
        if is_file(self.run):
            if self.law not in (None, "none"):
                raise RequestError(
                    "--law is not allowed with a file: it has no other runs. 'daybreak runs import' puts it into a lab."
                )
            return self._answer(of_file(Path(self.run), wanted), None, "a file has no other runs.")
        if self.step is not None:
            raise RequestError(f"--step is not allowed with a run: {self.run!r} is not a file.")
        lab = open_lab(self.lab)
        from daybreak.lab.reading.progress import run_curves

        progress = run_curves(lab, self.run)
        law, no_law = law_of_others(lab, progress, wanted, self.law)
        return self._answer(of_run(progress, wanted, law and (law.median, law.spread)), law, no_law)

    def _answer(self, seen: Seen, law: "LawPrior | None", no_law: str | None) -> Answer:
        view, (kind, name) = seen.outlook, seen.source
        at = self._at(seen)
        forecast = view.at(at)
        if self.plot is not None:
            from daybreak import pictures

            figure = pictures.forecast_picture(view, at)
            pictures.save(figure, self.plot, [self.plot.suffix])
        data: dict[str, Any] = {
            kind: name,
            **seen.about,
            "done": seen.done,
            "at": at,
            "curve": view.name,
            "level": self.level if self.level is not None else view.level if seen.run is None else seen.run.level,
            "direction": view.direction,
            "heads": view.attention.shape[1],
            "law": law and {**law.as_json(), "notes": list(law.notes)},
            "no_law": no_law,
            "truth": None if view.truth is None else {"step": view.truth.length, "censored": view.truth.censored},
            "notes": list(seen.notes),
            "plot": self.plot and str(self.plot),
        }
        data |= forecast_data(forecast)
        if data["outcome"] == "not enough evidence":
            data |= {"every": _enough(forecast, seen.run)}
        return Answer(data, lambda console: self._show(console, data, f"{kind.capitalize()} {name}"))

    def _at(self, seen: Seen) -> int:
        kind, name = seen.source
        steps = seen.outlook.steps
        first, last = int(steps[0]), int(steps[-1] if seen.run is None else seen.run.steps[-1])
        if self.at is None:
            return last
        if not first <= self.at <= last:
            raise RequestError(f"at = {self.at} is not allowed: {kind} {name} has steps {first} to {last}.")
        return self.at

    def _show(self, console: Console, data: dict[str, Any], named: str) -> None:
        moves = "falls to" if data["direction"] == "down" else "rises to"
        if data.get("run") is not None:
            moves = "reaches"
        lines = [
            f"{named} until step {data['at']:,}. It emerges when {data['curve']} {moves} {data['level']:g}.",
            *data["notes"],
            sentence(data),
        ]
        if data.get("every") is not None:
            lines.append(
                f"A run that is evaluated more often can be forecast by this step: train with --stop.every {data['every']}."
            )
        for line in lines:
            console.print(bare(line), markup=False, highlight=False)
        if data["outcome"] == "forecast":
            rows = [(_SOURCES[x["source"]], f"{x['median']:,.0f}", f"{x['spread']:.0%}") for x in data["evidence"]]
            console.print(table("", ["evidence", "step", "±"], rows), highlight=False)
        lines = []
        if data["law"] is None:
            lines.append(f"No law was used: {data['no_law']}")
        else:
            rows = data["law"]["rows"]
            runs = "1 other run" if rows == 1 else f"{rows} other runs"
            lines.append(f"The law: plateau = {data['law']['formula']}, fitted to {runs} of the lab.")
            lines += data["law"]["notes"]
        if data["truth"] is not None:
            truth = data["truth"]
            after = "it had not emerged by" if truth["censored"] else "it emerged at"
            lines.append(f"The whole run: {after} step {truth['step']:,.0f}.")
        if self.plot is not None:
            lines.append(f"Picture: {self.plot}")
        for line in lines:
            console.print(bare(line), markup=False, highlight=False)


def _enough(answer: Any, run: "RunCurves | None") -> int | None:
    """Steps between evaluations that would have been enough; None if more evaluations would not help, or the run is not ours."""
    from daybreak.lab.criterion import criterion
    from daybreak.lab.reading.spacing import round_down

    if answer.evaluations is None or run is None or criterion(run.settings) is not None:
        return None
    enough = round_down(answer.at / max(answer.evaluations - 1, 1))
    return enough if enough < run.stop.every else None
