"""`daybreak forecast`: when a run will emerge, from what it has shown so far."""

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

_SOURCES = {
    "law": "the law of other runs",
    "attention": "attention to relevant positions grows",
    "loss": "loss or accuracy has begun to move",
}


@final
@dataclass(frozen=True)
class Forecast:
    """Forecast when a run emerges, before its loss moves: a step with an 80 % interval, or that evidence is lacking.

    Works on runs that still train, as of their last checkpoint, and on finished ones, as of any step. If the lab has enough
    other finished runs of the kind, their law counts too.
    Example: daybreak forecast 3f2a --at 400 --plot forecast.png
    """

    run: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN", help="Its name, or how that begins.")]
    at: Annotated[
        WholeNumber | None,
        tyro.conf.arg(metavar="STEP", help="Look at the run only until this step. By default all of it."),
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
            help="Law of the lab's other runs to start from: 'C * d**a * T**b', or 'none'. By default the paper's form.",
        ),
    ] = None
    plot: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="FILE",
            help="Draw curve, attention and the forecast as it was at each step to this PNG, PDF or SVG.",
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

        found = run_curves(lab, self.run)
        law, no_law = self._law(lab, found)
        seen = outlook(found, level=self.level, prior=law and (law.median, law.spread))
        at = self._at(found)
        said = seen.at(at)
        if self.plot is not None:
            from daybreak import pictures

            figure = pictures.forecast_picture(seen, at)
            pictures.save(figure, self.plot, [self.plot.suffix])
        data: dict[str, Any] = {
            "run": found.run.id,
            "done": found.done,
            "at": at,
            "curve": seen.name,
            "level": seen.level,
            "law": law and {"median": law.median, "spread": law.spread, **law.fitted.law.as_json()},
            "no_law": no_law,
            "truth": None if seen.truth is None else {"step": seen.truth.length, "censored": seen.truth.censored},
            "plot": self.plot and str(self.plot),
        }
        match said:
            case measure.Forecast():
                answer = {
                    "outcome": "forecast",
                    "median": said.median,
                    "interval": list(said.interval),
                    "evidence": [one.as_json() for one in said.evidence],
                }
            case measure.NotEnoughEvidence():
                answer = {"outcome": "not enough evidence", "reason": said.reason}
            case _:
                answer = {"outcome": "emerged", "step": said.length}
        data |= answer
        return Answer(data, lambda console: self._show(console, data))

    def _law(self, lab: "Lab", found: "RunCurves"):
        """The law of the lab's other runs at this one; or why there is none."""
        from daybreak.lab.reading.laws import prior

        if self.law == "none":
            return None, "none was asked for."
        if self.level is not None and self.level != found.run.stop.level:
            return None, f"the runs of the lab were measured at their own level, not at {self.level:g}."
        try:
            return prior(lab, found.run, self.law), None
        except RequestError as error:
            if self.law is not None:
                raise
            return None, str(error)

    def _at(self, found: "RunCurves") -> int:
        last = int(found.steps[-1])
        if self.at is None:
            return last
        if not 0 <= self.at <= last:
            raise RequestError(f"at = {self.at} is not allowed: run {found.run.id} was seen from step 0 to {last}.")
        return self.at

    def _show(self, console: Console, data: dict[str, Any]) -> None:
        lines = [f"Run {data['run']}, seen until step {data['at']:,}; emerged means {data['curve']} {data['level']:g}."]
        if data["outcome"] == "forecast":
            low, high = data["interval"]
            lines.append(f"It emerges at step {data['median']:,.0f}; 80 % between {low:,.0f} and {high:,.0f}.")
        elif data["outcome"] == "emerged":
            lines.append(f"It has emerged, at step {data['step']:,.0f}.")
        else:
            lines.append(f"Not enough evidence: {data['reason']}")
        for line in lines:
            console.print(line, markup=False, highlight=False)
        if data["outcome"] == "forecast":
            rows = [
                (_SOURCES[x["source"]], f"{x['median']:,.0f}", f"{100 * x['spread']:.0f} %") for x in data["evidence"]
            ]
            console.print(table("", ["evidence", "step", "give or take"], rows), highlight=False)
        lines = []
        if data["law"] is None:
            lines.append(f"No law was used: {data['no_law']}")
        else:
            lines.append(
                f"The law: plateau = {data['law']['formula']}, from {data['law']['rows']} other runs of the lab."
            )
        if data["truth"] is not None:
            truth = data["truth"]
            after = "had not emerged" if truth["censored"] else "emerged"
            lines.append(f"What happened: it {after} at step {truth['step']:,.0f}.")
        if self.plot is not None:
            lines.append(f"Picture: {self.plot}")
        for line in lines:
            console.print(line, markup=False, highlight=False)
