"""`daybreak forecast`: when a run will emerge, from its curves so far."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, check_picture, table
from daybreak.cli._lab import LabFolder, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab import Lab
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import NotEnoughEvidence

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
    other finished runs of the same kind, their law is used too.
    Example: daybreak forecast 3f2a --at 400 --plot forecast.png
    """

    run: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN", help="Id of the run, or the start of it.")]
    at: Annotated[
        WholeNumber | None,
        tyro.conf.arg(metavar="STEP", help="Use the run only until this step. By default all of it."),
    ] = None
    lab: LabFolder = Path("lab")
    level: Annotated[
        float | None,
        tyro.conf.arg(
            metavar="X", help="Clean loss or accuracy that counts as emerged. By default that of the run's stop rule."
        ),
    ] = None
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
        """Read the run, fit the law if there is one, forecast; draw if asked."""
        check_picture("plot", self.plot)
        lab = open_lab(self.lab)
        from daybreak import measure
        from daybreak.lab.reading.outlook import outlook
        from daybreak.lab.reading.progress import run_curves

        progress = run_curves(lab, self.run)
        law, no_law = self._law(lab, progress)
        view = outlook(progress, level=self.level, prior=law and (law.median, law.spread))
        at = self._at(progress)
        forecast = view.at(at)
        if self.plot is not None:
            from daybreak import pictures

            figure = pictures.forecast_picture(view, at)
            pictures.save(figure, self.plot, [self.plot.suffix])
        data: dict[str, Any] = {
            "run": progress.id,
            "done": progress.done,
            "at": at,
            "curve": view.name,
            "level": progress.stop.level if self.level is None else self.level,
            "law": law and {**law.as_json(), "notes": list(law.notes)},
            "no_law": no_law,
            "truth": None if view.truth is None else {"step": view.truth.length, "censored": view.truth.censored},
            "plot": self.plot and str(self.plot),
        }
        match forecast:
            case measure.Forecast():
                data |= {
                    "outcome": "forecast",
                    "median": forecast.median,
                    "interval": list(forecast.interval),
                    "evidence": [one.as_json() for one in forecast.evidence],
                }
            case measure.NotEnoughEvidence():
                data |= {"outcome": "not enough evidence", "reason": forecast.reason}
                data |= {"evaluations": forecast.evaluations, "every": _enough(forecast, progress.stop.every)}
            case _:
                data |= {"outcome": "emerged", "step": forecast.length}
        return Answer(data, lambda console: self._show(console, data))

    def _law(self, lab: "Lab", progress: "RunCurves"):
        """The prediction of the law of the lab's other runs; or why there is none."""
        from daybreak.lab.reading.laws import prior

        if self.law == "none":
            return None, "--law none was given."
        if self.level is not None and self.level != progress.stop.level:
            return None, f"the plateaus in the lab were measured at the level of each stop rule, not at {self.level:g}."
        try:
            return prior(lab, progress.settings, self.law), None
        except RequestError as error:
            if self.law is not None:
                raise
            return None, str(error)

    def _at(self, progress: "RunCurves") -> int:
        last = int(progress.steps[-1])
        if self.at is None:
            return last
        if not 0 <= self.at <= last:
            raise RequestError(f"at = {self.at} is not allowed: run {progress.id} has steps 0 to {last}.")
        return self.at

    def _show(self, console: Console, data: dict[str, Any]) -> None:
        lines = [
            f"Run {data['run']} until step {data['at']:,}. It emerges when {data['curve']} reaches {data['level']:g}."
        ]
        if data["outcome"] == "forecast":
            low, high = data["interval"]
            lines.append(f"Forecast: step {data['median']:,.0f}; 80 % between {low:,.0f} and {high:,.0f}.")
        elif data["outcome"] == "emerged":
            lines.append(f"It has emerged at step {data['step']:,.0f}.")
        else:
            lines.append(f"Not enough evidence: {data['reason']}")
            if data["every"] is not None:
                lines.append(
                    f"A run that is evaluated more often can be forecast by this step: train with --stop.every {data['every']}."
                )
        for line in lines:
            console.print(line, markup=False, highlight=False)
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
            console.print(line, markup=False, highlight=False)


def _enough(answer: "NotEnoughEvidence", every: int) -> int | None:
    """Steps between evaluations that would have been enough; None if more evaluations would not help."""
    from daybreak.lab.reading.spacing import round_down

    if answer.evaluations is None:
        return None
    enough = round_down(answer.at / max(answer.evaluations - 1, 1))
    return enough if enough < every else None
