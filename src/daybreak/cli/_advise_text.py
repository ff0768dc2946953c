"""How advice for text is shown."""

from typing import TYPE_CHECKING

from rich.console import Console

from daybreak.cli._answer import table
from daybreak.cli.advise import between

if TYPE_CHECKING:
    from daybreak.advice import Arm, TextAdvice


def show(console: Console, advice: "TextAdvice") -> None:
    """The expected step, what each form of repetition gains and costs, and what to do."""
    expected = advice.expected
    ranges = ", ".join(f"{_NAMES[name]} {x:g} to {y:g}" for name, (x, y) in advice.measured.items())
    lines = [
        (f"An induction head, if every sequence repeats a passage: {expected.steps:,.0f} steps{between(expected)}."),
        f"By steps = {expected.formula}, from our runs of text-laws.",
        f"Measured at {ranges}.",
        *(f"This extrapolates: {x}." for x in expected.beyond),
    ]
    _print(console, lines)
    columns = ["repetition", "steps", f"emerged in {advice.budget:,}", "loss, against none"]
    rows = [_row(advice, arm) for arm in advice.arms]
    console.print()
    console.print(table("", columns, rows), highlight=False)
    console.print()
    _print(console, [_recommended(advice), f"Next: {advice.command}"])
    for line in advice.cautions:
        console.print(f"Note: {line}", style="dim", markup=False, highlight=False)


_NAMES = {"T": "context T", "batch": "batch", "width": "width", "vocabulary": "vocabulary"}


def _row(advice: "TextAdvice", arm: "Arm") -> tuple[str, ...]:
    steps = advice.steps(arm)
    return (
        arm.name if arm is not advice.recommended else f"→ {arm.name}",
        "" if steps is None else f"{steps:,.0f}",
        f"{arm.emerged} of {arm.runs}",
        "" if arm.price is None else str(arm.price),
    )


def _recommended(advice: "TextAdvice") -> str:
    best = advice.recommended
    if best is None:
        return "Recommended: no repetition. None that was trained had an induction head in every run."
    rule = ": repeat until the induction score is 0.3, then train on plain text" if "adaptive" in best.name else ""
    return f"Recommended: {best.name}{rule}."


def _print(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False)
