"""`daybreak examples`: the sweep files of the docs, for people who have the package and not the repository."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, check_new_folder, table
from daybreak.cli._lab import FolderPath
from daybreak.errors import RequestError


@final
@dataclass(frozen=True)
class Examples:
    """Write the sweep files of the docs to a folder, to run and to change. Files that are there stay as they are.

    Example: daybreak examples
    """

    out: Annotated[FolderPath, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]", help="Folder to write to.")] = Path(
        "examples"
    )
    json: Json = False

    def answer(self) -> Answer:
        """Copy what is missing, and say what each file is for."""
        check_new_folder("DIR", self.out)
        sources = sorted(shipped().glob("*.toml"))
        different = [x.name for x in sources if (self.out / x.name).exists() and not _is_same(x, self.out / x.name)]
        if different:
            raise RequestError(
                f"{', '.join(different)} in {str(self.out)!r} would be overwritten: give another folder, or move them away first."
            )
        written = [source.name for source in sources if not (self.out / source.name).exists()]
        self.out.mkdir(parents=True, exist_ok=True)
        for name in written:
            (self.out / name).write_bytes((shipped() / name).read_bytes())
        about = {source.name: _first_sentence(source) for source in sources}
        data = {"folder": str(self.out), "written": written, "examples": about}
        return Answer(data, lambda console: self._show(console, about))

    def _show(self, console: Console, about: dict[str, str]) -> None:
        console.print(table(f"Sweep files in {str(self.out)!r}", ["file", "what it trains"], list(about.items())))
        console.print(f"Try: daybreak sweep {self.out / 'small.toml'}", markup=False, highlight=False)


def shipped() -> Path:
    """The folder of sweep files that come with the package: part of an installed one, else the repository's."""
    installed = Path(__file__).parents[1] / "_examples"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "examples"


def check_example(file: Path) -> None:
    """Refuse a sweep file that is not there but is one of the examples, with the command that writes it."""
    names = {path.name for path in shipped().glob("*.toml")}
    if file.name in names and not os.path.lexists(file):
        raise RequestError(
            f"there is no file {str(file)!r}: 'daybreak examples' writes it, and the other examples, to the folder 'examples'."
        )


def _is_same(first: Path, second: Path) -> bool:
    return second.is_file() and first.read_bytes() == second.read_bytes()


def _first_sentence(path: Path) -> str:
    """What a sweep file says of itself in its first line."""
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("#").strip()
