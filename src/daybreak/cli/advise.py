"""`daybreak advise`: how long a plateau to expect, and how much faster repetition makes it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, table
from daybreak.cli._lab import FolderPath, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.advice import Advice, Gain


@final
@dataclass(frozen=True)
class Advise:
    """Expected plateau of a setting, how many times faster each form of repetition is, and the schedule to take.

    Steps come from a law of trained networks. Factors come from theory, from the law, and from the shipped study.
    Example: daybreak advise --T 64 --d 32
    """

    T: Annotated[WholeNumber, tyro.conf.arg(help="Sequence length, at least 8.")]
    d: Annotated[WholeNumber, tyro.conf.arg(help="Dimension of tokens and targets, at least 1.")]
    law: Annotated[
        str | None,
        tyro.conf.arg(
            metavar="NAME",
            help="Law that gives the steps: fig3 (two layers, four heads; the default) or fig15 (one of each). Fitted to our runs if "
            "the folder of results has them, otherwise the paper's.",
        ),
    ] = None
    lab: Annotated[FolderPath | None, tyro.conf.arg(metavar="DIR", help="Take the law of this lab's runs instead.")] = (
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
                f"law = {self.law!r} is not allowed together with --lab: the law is then that of the lab."
            )
        from daybreak import advice

        if self.lab is not None:
            reference = advice.law_of_lab(open_lab(self.lab))
        else:
            reference = advice.law_of_results(self.law or "fig3", self.results)
        result = advice.advise(self.T, self.d, reference, self.results)
        return Answer(result.as_json(), lambda console: _show(console, result))


def _show(console: Console, advice: "Advice") -> None:
    between = (
        ""
        if advice.interval is None
        else f", 95 % of runs between {advice.interval.low:,.0f} and {advice.interval.high:,.0f}"
    )
    lines = [
        f"Without repetition: {advice.plateau:,.0f} steps{between}.",
        f"By {advice.reference.formula}, from {advice.reference.source}.",
        *(f"This extrapolates: {x}." for x in advice.beyond),
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False)
    options = [*advice.options, advice.recommended]
    rows = [
        (
            option.name if option is not advice.recommended else f"→ {option.name}",
            f"{advice.plateau / option.gains[0].factor:,.0f}",
            *_cells(option.gains),
        )
        for option in options
    ]
    console.print()
    console.print(table("", ["repetition", "steps", "times faster", "source", "theory"], rows), highlight=False)
    best = advice.recommended.gains[0]
    console.print()
    console.print(
        f"Recommended: {advice.recommended.name}: repeat until the loss on repeated data is at a fifth of its plateau, then stop. Expected "
        f"{_factor(best)} times faster, by {best.source}.",
        markup=False,
        highlight=False,
    )
    console.print(f"Next: {advice.command}", markup=False, highlight=False)
    for line in advice.cautions:
        console.print(f"Note: {line}", style="dim", markup=False, highlight=False)


def _cells(gains: "tuple[Gain, ...]") -> tuple[str, str, str]:
    first, last = gains[0], gains[-1]
    return (_factor(first), first.source, "" if first is last else f"{last.factor:.2f}")


def _factor(gain: "Gain") -> str:
    between = "" if gain.interval is None else f" [{gain.interval.low:.2f}, {gain.interval.high:.2f}]"
    return f"{gain.factor:.2f}{between}"
