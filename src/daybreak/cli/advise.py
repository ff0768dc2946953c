"""`daybreak advise`: how long a plateau to expect, and what repetition would do about it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, table
from daybreak.cli._lab import open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.advice import Advice, Gain


@final
@dataclass(frozen=True)
class Advise:
    """Expected plateau of a setting, what each form of repetition would buy, and the schedule to take.

    Steps come from a law of trained networks; how many times sooner from theory, from the law, and from the shipped study.
    Example: daybreak advise --T 64 --d 32
    """

    T: Annotated[WholeNumber, tyro.conf.arg(help="Sequence length, at least 8.")]
    d: Annotated[WholeNumber, tyro.conf.arg(help="Dimension of tokens and targets, at least 1.")]
    law: Annotated[
        str | None,
        tyro.conf.arg(
            metavar="NAME",
            help="Whose law speaks of steps: fig3 (two layers, four heads; the default) or fig15 (one of each). From our runs if the "
            "folder of results has them, otherwise the paper's.",
        ),
    ] = None
    lab: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help="Take the law of this lab's own runs instead.")] = (
        None
    )
    results: Annotated[Path, tyro.conf.arg(metavar="DIR", help="Folder that 'daybreak reproduce' wrote to.")] = Path(
        "results"
    )
    json: Json = False

    def answer(self) -> Answer:
        """Choose the law, ask for advice."""
        for name, value, least in (("T", self.T, 8), ("d", self.d, 1)):
            if value < least:
                raise RequestError(f"{name} = {value} is not allowed: it must be at least {least}.")
        if self.law is not None and self.lab is not None:
            raise RequestError(
                f"law = {self.law!r} is not allowed together with --lab: the law is that of the lab then."
            )
        from daybreak import advice

        own = self.lab and advice.of_lab(open_lab(self.lab))
        reference = own or advice.of_results(self.law or "fig3", self.results)
        found = advice.advise(self.T, self.d, reference, self.results)
        return Answer(found.as_json(), lambda console: _show(console, found))


def _show(console: Console, found: "Advice") -> None:
    between = (
        ""
        if found.interval is None
        else f", 95 % of runs between {found.interval.low:,.0f} and {found.interval.high:,.0f}"
    )
    lines = [
        f"Without repetition: {found.plateau:,.0f} steps{between}.",
        f"By {found.reference.formula}, from {found.reference.source}.",
        *(f"This extrapolates: {x}." for x in found.beyond),
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False)
    options = [*found.options, found.recommended]
    rows = [
        (
            option.name if option is not found.recommended else f"→ {option.name}",
            f"{found.plateau / option.gains[0].factor:,.0f}",
            *_cells(option.gains),
        )
        for option in options
    ]
    console.print()
    console.print(table("", ["lever", "steps", "times sooner", "by", "theory"], rows), highlight=False)
    best = found.recommended.gains[0]
    console.print()
    console.print(
        f"Recommended: {found.recommended.name}: repeat until the loss on repeated data is at a fifth of its plateau, then stop. Expected "
        f"{_factor(best)} times sooner, by {best.source}.",
        markup=False,
        highlight=False,
    )
    console.print(f"Next: {found.command}", markup=False, highlight=False)
    for line in found.cautions:
        console.print(f"Mind: {line}", style="dim", markup=False, highlight=False)


def _cells(gains: "tuple[Gain, ...]") -> tuple[str, str, str]:
    first, last = gains[0], gains[-1]
    return (_factor(first), first.source, "" if first is last else f"{last.factor:.2f}")


def _factor(gain: "Gain") -> str:
    between = "" if gain.interval is None else f" [{gain.interval.low:.2f}, {gain.interval.high:.2f}]"
    return f"{gain.factor:.2f}{between}"
