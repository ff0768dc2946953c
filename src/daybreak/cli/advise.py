"""`daybreak advise`: how long a plateau to expect, and how much faster repetition makes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, WholeNumber, table
from daybreak.cli._lab import FolderPath, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.advice import Advice, Expected, Gain, Reference

_SETTINGS = {  # with the least value of each
    "single-location": {"T": 8, "d": 1},
    "recall": {"N": 2, "V": 4},
    "text": {"context": 20, "batch": 1},  # passages of 10 tokens, twice
}
_MOST = 1_000_000


@final
@dataclass(frozen=True)
class Advise:
    """Expected plateau of a setting, how many times faster each form of repetition is, and which one to take.

    Steps come from networks that were trained with this version, or from your lab; factors from them, from laws and from theory.

    Example: daybreak advise --T 64 --d 32

    Example: daybreak advise recall --N 32 --V 256

    Example: daybreak advise text --context 256 --batch 8
    """

    task: Annotated[
        Literal["single-location", "recall", "text"],
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="TASK",
            help="single-location (the default), with --T and --d; recall, with --N and --V; or text, with --context and --batch.",
        ),
    ] = "single-location"
    T: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Sequence length, at least 8.")] = None
    d: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Dimension of tokens and targets.")] = None
    N: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Pairs in the context of recall.")] = None
    V: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Different tokens of recall.")] = None
    context: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Tokens of a sequence of text.")] = None
    batch: Annotated[WholeNumber | None, tyro.conf.arg(metavar="INT", help="Sequences of text in a step.")] = None
    width: Annotated[
        WholeNumber | None,
        tyro.conf.arg(metavar="INT", help="Width of the network that you will train; 256 by default, for text 128."),
    ] = None
    law: Annotated[
        str | None,
        tyro.conf.arg(
            metavar="NAME",
            help="Networks that give the steps: fig3 (two layers, four heads; the default) or fig15 (one of each).",
        ),
    ] = None
    lab: Annotated[
        FolderPath | None,
        tyro.conf.arg(metavar="DIR", help="Take the runs of this lab instead; no lab is used unless it is named."),
    ] = None
    results: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="DIR", help="Folder that 'daybreak reproduce' wrote to. By default what comes with Daybreak."
        ),
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Choose the networks, ask for advice."""
        setting = self._setting()
        if self.results is not None and not self.results.is_dir():
            raise RequestError(f"results = {str(self.results)!r} is not allowed: it is not a folder.")
        from daybreak import advice
        from daybreak.studies.results import shipped

        results = shipped() if self.results is None else self.results
        if self.task == "text":
            return self._of_text(setting, results)
        result = advice.advise(self.task, setting, self._width, self._reference(results), results)
        return Answer(result.as_json(), lambda console: _show(console, result, own_lab=self.lab is not None))

    @property
    def _width(self) -> int:
        return int(self.width) if self.width is not None else 128 if self.task == "text" else 256

    def _of_text(self, setting: dict[str, int], results: Path) -> Answer:
        from daybreak import advice
        from daybreak.cli._advise_text import show

        for name in ("law", "lab"):
            if getattr(self, name) is not None:
                raise RequestError(f"{name} is not allowed for text: its law is that of the study text-laws.")
        there = {"T": setting["context"], "batch": setting["batch"], "width": self._width, "vocabulary": 1000}
        result = advice.advise_text(there, results)
        return Answer(result.as_json(), lambda console: show(console, result))

    def _setting(self) -> dict[str, int]:
        least = _SETTINGS[self.task]
        for other in {"T", "d", "N", "V", "context", "batch"} - least.keys():
            if getattr(self, other) is not None:
                raise RequestError(
                    f"{other} = {getattr(self, other)} is not allowed for {self.task}: it has {_named(least)}."
                )
        missing = [name for name in least if getattr(self, name) is None]
        if missing:
            example = " ".join(f"--{name} {x}" for name, x in zip(least, (64, 32), strict=True))
            raise RequestError(
                f"{_named(missing)} missing: give both, such as 'daybreak advise {self.task} {example}'."
            )
        setting = {name: int(getattr(self, name)) for name in least}
        for name, x in (setting | {"width": self._width}).items():
            if not least.get(name, 1) <= x <= _MOST:
                raise RequestError(
                    f"{name} = {x} is not allowed: it must lie between {least.get(name, 1)} and {_MOST:,}, "
                    "and what was measured is far smaller than that."
                )
        return setting

    def _reference(self, results: Path) -> "Reference":
        from daybreak import advice

        if self.law is not None and self.lab is not None:
            raise RequestError(
                f"law = {self.law!r} is not allowed together with --lab: the law is then that of the lab."
            )
        if self.task == "recall":
            given = "law" if self.law is not None else "lab"
            if self.law is not None or self.lab is not None:
                raise RequestError(f"{given} is not allowed for recall: its law is that of figure 4.")
            return advice.law_of_recall(results)
        if self.lab is not None:
            return advice.law_of_lab(open_lab(self.lab))
        return advice.law_of_results(self.law or "fig3", results)


def _named(names: Sequence[str] | dict[str, int]) -> str:
    return " and ".join(f"--{name}" for name in names)


def _show(console: Console, advice: "Advice", *, own_lab: bool) -> None:
    expected = advice.expected
    lines = [
        f"Without repetition: {expected.steps:,.0f} steps{between(expected)}.",
        f"By plateau = {expected.formula}, from {advice.reference.source}."
        + ("" if own_lab or advice.task == "recall" else " --lab DIR would use runs of your own."),
        *_measured(advice),
    ]
    _print(console, lines)
    rows = [
        (
            option.name if option is not advice.recommended else f"→ {option.name}",
            f"{advice.steps(option):,.0f}",
            *_cells(option.gains),
        )
        for option in advice.options
    ]
    if rows:
        console.print()
        console.print(table("", ["repetition", "steps", "times faster", "source", "theory"], rows), highlight=False)
        console.print()
    _print(console, [*_recommended(advice), *advice.why_not, f"Next: {advice.command}"])
    for line in advice.cautions:
        console.print(f"Note: {line}", style="dim", markup=False, highlight=False)


def between(expected: "Expected") -> str:
    """In which steps 95 % of runs should emerge; empty if that is not known."""
    if expected.interval is None:
        return ""
    return f", 95 % of runs between {expected.interval.low:,.0f} and {expected.interval.high:,.0f}"


def _measured(advice: "Advice") -> list[str]:
    """What was measured, and how far the setting is from it."""
    ranges = [f"{name} {_range(*ends)}" for name, ends in advice.reference.measured.items()]
    lines = [f"Measured with {advice.task} at {', '.join(ranges)}."] if ranges else []
    if ranges and not advice.expected.beyond:
        inside = advice.reference.covers(advice.setting)
        return [
            *lines,
            "This setting lies inside of that."
            if inside
            else "Each number lies inside of that, but there are no runs on every side of their combination.",
        ]
    lines += [f"This extrapolates: {x}." for x in advice.expected.beyond]
    if ranges and advice.expected.beyond:
        paper = advice.reference.paper
        lines.append(f"By the law of {paper.source}, {paper.formula}: {advice.steps_by_paper:,.0f} steps.")
    return lines


def _recommended(advice: "Advice") -> list[str]:
    best = advice.recommended
    if best is None:
        return ["Recommended: no repetition. None that was trained is faster than that."]
    rule = (
        ": repeat until the loss on repeated data is at a fifth of its plateau, then stop"
        if best.schedule == "adaptive"
        else ""
    )
    gain = best.gains[0]
    where = ", ".join(f"{name} = {x:g}" for name, x in gain.measured.items())
    lines = [f"Recommended: {best.name}{rule}. {_factor(gain)} times faster by {gain.source}."]
    if gain.measured:
        away = ", ".join(f"{name} {x:,.3g} times" for name, x in advice.distance(gain).items())
        lines.append(f"That was measured at {where}" + (f"; your setting is away from it by {away}." if away else "."))
    theory = best.gains[-1]
    if theory.source == "theory" and theory.factor < 1:
        lines.append(
            f"By theory it is slower than no repetition here ({theory.factor:.2f} times as fast): try one seed of each first."
        )
    return lines


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _print(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _cells(gains: "tuple[Gain, ...]") -> tuple[str, str, str]:
    first, last = gains[0], gains[-1]
    return (_factor(first), first.source, "" if last.source != "theory" or first is last else f"{last.factor:.2f}")


def _factor(gain: "Gain") -> str:
    between = "" if gain.interval is None else f" [{gain.interval.low:.2f}, {gain.interval.high:.2f}]"
    return f"{gain.factor:.2f}{between}"
