"""What a verb answers: plain data for `--json`, and a text with the same content."""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, final

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from daybreak.errors import RequestError, format_number

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

MOST_WORKERS = 10_000
MOST_STEPS = 2**31 - 1  # steps are counted in 32 bits

Json = Annotated[
    bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Print one JSON document on stdout, and nothing else.")
]

KeepFiles = Annotated[
    tuple[Literal["parameters", "maps"], ...],
    tyro.conf.arg(
        metavar="{parameters,maps}",
        help="Also keep the parameters at the end, attention maps around the transition, or both. A run in the lab without them "
        "is trained again, to the same record.",
    ),
]


def _whole(text: str) -> int:
    try:
        return int(text)  # exactly: a float has 53 bits
    except ValueError:
        pass
    try:
        number = float(text)
        if number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{text!r} is not a whole number")


WholeNumber = Annotated[
    int,
    tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda args: _whole(args[0]),
        is_instance=lambda x: isinstance(x, int),
        str_from_instance=lambda x: [str(x)],
    ),
]
"""A whole number; 1e7 is one too."""


@final
@dataclass(frozen=True)
class Answer:
    """The answer of a verb.

    Args:
        data: all of it.
        show: prints it as readable text.
        failure: a sentence about work that failed; the answer is printed, and the command exits with 1.
    """

    data: dict[str, Any]
    show: Callable[[Console], None]
    failure: str | None = None


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table without lines: text aligned left, numbers right, the first column never wrapped."""
    result = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
        numbers = all(re.fullmatch(r"[+−-]?[\d.,]+%?|", cell) for cell in cells)
        result.add_column(name, justify="right" if numbers else "left", no_wrap=not result.columns)
    for row in rows:
        result.add_row(*row)
    return result


def counted(number: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> counted(1, "run"), counted(1200, "run")
        ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def check_number(name: str, value: float, least: float, most: float = math.inf, *, above: bool = False) -> None:
    """Refuse a number that is not at least `least`, or with `above` not above it; that is larger than `most`; or nan."""
    if not (least < value if above else least <= value):
        raise RequestError(
            f"{name} = {format_number(value)} is not allowed: it must be {'above' if above else 'at least'} {least:g}."
        )
    if value > most:
        raise RequestError(f"{name} = {format_number(value)} is not allowed: it must be at most {most:,.0f}.")


def check_new_folder(name: str, path: Path) -> None:
    """Refuse a folder to write to that is a file or cannot be made, before anything is computed."""
    try:
        if path.is_dir() and os.access(path, os.W_OK):
            return
        if path.exists():
            why = "it cannot be written to" if path.is_dir() else "it is a file, and a folder is needed"
        else:
            above = next(x for x in path.parents if x.exists())
            if above.is_dir() and os.access(above, os.W_OK):
                return
            why = f"{str(above)!r} {'cannot be written to' if above.is_dir() else 'is a file'}"
    except OSError as error:
        why = str(error.strerror)
    raise RequestError(f"{name} = {str(path)!r} is not allowed: {why}.")


def check_picture(name: str, path: Path | None) -> None:
    """Refuse a picture file that could not be written, before anything is computed."""
    if path is not None:
        check_new_file(name, path, (".png", ".pdf", ".svg"))


def check_new_file(name: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, or whose suffix is not one of these, before anything is computed."""
    if path.suffix not in suffixes:
        allowed = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise RequestError(f"{name} = {str(path)!r} is not allowed: the file name must end in {allowed}.")
    try:
        if path.is_dir() or not path.parent.is_dir():
            why = f"{str(path.parent)!r} must be a folder, and the file must not be one"
        elif path.exists() and not path.is_file():
            why = "it is not a regular file"
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            why = "it cannot be written"
        else:
            return
    except OSError as error:
        why = str(error.strerror)
    raise RequestError(f"{name} = {str(path)!r} is not allowed: {why}.")


def bare(text: str) -> str:
    """Text from a file without control characters, so that it cannot control the terminal."""
    return _CONTROL.sub("", text)


def plain(text: str) -> str:
    """The same, with square brackets escaped, so that Rich reads no markup in it."""
    return escape(bare(text))
