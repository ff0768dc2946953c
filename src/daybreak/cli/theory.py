"""`daybreak theory`: the plateau of the toy model by its flow and by closed forms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, check_picture, table
from daybreak.errors import format_number


@final
@dataclass(frozen=True)
class Theory:
    """Plateau of the toy model (paper A): by its gradient flow, and by closed forms.

    Example: daybreak theory --T 512 --d 64 --B 4 --logits free --plot flow.png
    """

    T: Annotated[WholeNumber, tyro.conf.arg(help="Sequence length, at least 2.")]
    d: Annotated[WholeNumber, tyro.conf.arg(help="Dimension of tokens and targets, at least 1.")]
    B: Annotated[WholeNumber, tyro.conf.arg(help="Copies of the relevant token in the context, below T.")] = 1
    p: Annotated[float, tyro.conf.arg(help="Probability that the relevant token is the repeated one, in [0, 1).")] = 0.0
    logits: Annotated[
        Literal["tied", "free"],
        tyro.conf.arg(help="Whether one scalar drives all relevant logits, or each position has its own."),
    ] = "tied"
    level: Annotated[float, tyro.conf.arg(help="Fraction of the starting loss that ends the plateau, in (0, 1).")] = 0.2
    plot: Annotated[
        Path | None,
        tyro.conf.arg(help="Draw loss, weights, attention and phase portrait to this PNG, PDF or SVG file."),
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Compute all of it; draw if asked."""
        from daybreak import theory

        where = (self.T, self.d, self.B, self.p)
        check_picture("plot", self.plot)
        flow = float(theory.plateau(*where, logits=self.logits, level=self.level))
        closed = {
            "plateau_estimate": theory.plateau_estimate(*where, logits=self.logits, level=self.level),
            "takeoff_time": theory.takeoff_time(*where, logits=self.logits),
            "escape_time": theory.escape_time(*where, eps=1 - self.level, logits=self.logits),
            "escape_time_log": theory.escape_time_log(*where, eps=1 - self.level, logits=self.logits),
        }
        if self.plot is not None:
            self._draw(self.plot, flow)
        data = {
            "T": self.T,
            "d": self.d,
            "B": self.B,
            "p": self.p,
            "logits": self.logits,
            "level": self.level,
            "plateau": flow,
            "growth_rate": float(theory.growth_rate(*where, logits=self.logits)),
            "closed_forms": {
                k: {"time": float(v), "relative_difference": float(v / flow - 1)} for k, v in closed.items()
            },
            "plot": None if self.plot is None else str(self.plot),
        }
        return Answer(data, lambda console: self._show(console, data))

    def _draw(self, path: Path, plateau: float) -> None:
        from daybreak import pictures, theory

        line = theory.flow(self.T, self.d, self.B, self.p, logits=self.logits)
        pictures.save(pictures.portrait(line, plateau), path, [path.suffix])

    def _show(self, console: Console, data: dict) -> None:
        labels = {
            "plateau_estimate": "take-off and settling, closed form",
            "takeoff_time": "take-off alone, closed form",
            "escape_time": f"escape time of paper A, ε = {format_number(1 - self.level)}",
            "escape_time_log": "its limit for long sequences",
        }
        rows = [("gradient flow", f"{data['plateau']:,.1f}", "")]
        rows += [
            (label, f"{data['closed_forms'][k]['time']:,.1f}", f"{data['closed_forms'][k]['relative_difference']:+.1%}")
            for k, label in labels.items()
        ]
        title = (
            f"Plateau at T = {self.T}, d = {self.d}, B = {self.B}, p = {format_number(self.p)}, {self.logits} logits"
        )
        console.print(
            table(
                title,
                [f"until the clean loss is at {format_number(self.level)} of its start", "flow time", "difference"],
                rows,
            )
        )
        console.print(f"Growth rate at the start: {data['growth_rate']:.4g} per unit of flow time.")
        if self.plot is not None:
            console.print(f"Picture: {self.plot}", highlight=False)
