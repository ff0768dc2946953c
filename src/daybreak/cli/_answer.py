"""What a verb answers: plain data for `--json`, and a text with the same content."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, final

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from daybreak.errors import RequestError

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

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
    """The answer of a verb: `data` is all of it, `show` prints it as readable text."""

    data: dict[str, Any]
    show: Callable[[Console], None]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table without lines: text aligned left, numbers right, the first column never wrapped."""
    result = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
        numbers = all(re.fullmatch(r"[+−-]?[\d.,]+%?|", cell) for cell in cells)
        result.add_column(name, justify="right" if numbers else "left", no_wrap=not result.columns)
    for row in rows:
        result.add_row(*row)
    return result


def check_new_folder(name: str, path: Path) -> None:
    """Refuse a folder to write to that is a file, before anything is computed."""
    if path.exists() and not path.is_dir():
        raise RequestError(f"{name} = {str(path)!r} is not allowed: it is a file, and a folder is needed.")


def check_picture(name: str, path: Path | None) -> None:
    """Refuse a picture file that could not be written, before anything is computed."""
    if path is not None:
        check_new_file(name, path, (".png", ".pdf", ".svg"))


def check_new_file(name: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, or whose suffix is not one of these, before anything is computed."""
    if path.suffix not in suffixes:
        allowed = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise RequestError(f"{name} = {str(path)!r} is not allowed: the file name must end in {allowed}.")
    if path.is_dir() or not path.parent.is_dir():
        raise RequestError(
            f"{name} = {str(path)!r} is not allowed: {str(path.parent)!r} must be a folder, and the file must not be one."
        )


def bare(text: str) -> str:
    """Text from a file without control characters, so that it cannot control the terminal."""
    return _CONTROL.sub("", text)


def plain(text: str) -> str:
    """The same, with square brackets escaped, so that Rich reads no markup in it."""
    return escape(bare(text))
