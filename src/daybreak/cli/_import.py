"""`daybreak runs import`: curves of somebody else's training as a run of a lab."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, bare, check_new_folder
from daybreak.cli._lab import FolderPath
from daybreak.cli._outlook import Direction, StepColumn
from daybreak.errors import RequestError


@final
@dataclass(frozen=True)
class Import:
    """Put the curves of a file into a lab as a finished observed run: CSV, JSONL, JSON, Parquet, or a folder of TensorBoard.

    The same file with the same name and settings is the same run: importing it again changes nothing.

    Example: daybreak runs import metrics.csv --value loss --level 0.1 --setting context=256 --setting batch=8
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE", help="File or folder of curves.")]
    name: Annotated[str | None, tyro.conf.arg(metavar="TEXT", help="Name of the run. By default that of the file.")] = (
        None
    )
    value: Annotated[
        str | None,
        tyro.conf.arg(metavar="NAME", help="Column that decides when it has emerged. By default 'loss'."),
    ] = None
    level: Annotated[
        float, tyro.conf.arg(metavar="X", help="Value of it that counts as emerged; 0 if there is none.")
    ] = 0.0
    direction: Direction = None
    setting: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]],
        tyro.conf.arg(
            metavar="NAME=VALUE",
            help="A setting of the run, which laws can be fitted over. May be given several times.",
        ),
    ] = ()
    step: StepColumn = None
    lab: Annotated[FolderPath, tyro.conf.arg(metavar="DIR", help="Folder of the lab; made if it does not exist.")] = (
        Path("lab")
    )
    json: Json = False

    def answer(self) -> Answer:
        """Read the file, and write the run if the lab does not have it."""
        settings = _settings(self.setting)
        check_new_folder("lab", self.lab)
        from daybreak.watch.curves import read
        from daybreak.watch.importing import import_file

        file = read(self.file, self.step)
        imported = import_file(
            self.lab,
            file,
            name=self.name,
            settings=settings,
            value=self.value,
            level=self.level,
            direction=self.direction,
        )
        from daybreak.lab import Lab

        result = Lab(self.lab).load(imported.id).result
        plateau = result.plateau
        data: dict[str, Any] = {
            "lab": str(self.lab),
            "run": imported.id,
            "new": imported.new,
            "outcome": result.outcome,
            "plateau": None if plateau is None else {"length": plateau.length, "censored": plateau.censored},
            "rows": len(file.steps),
            "curves": imported.names,
            "notes": list(file.notes),
        }
        return Answer(data, lambda console: self._show(console, data))

    def _show(self, console: Console, data: dict[str, Any]) -> None:
        how = "imported" if data["new"] else "is in the lab already, and nothing was changed"
        lines = [f"Run {data['run']} {how}: {data['rows']:,} rows, {data['outcome']}.", *data["notes"]]
        renamed = [f"{x} is {y}" for x, y in data["curves"].items() if x != y]
        if renamed:
            lines.append(f"Curves have plain names: {', '.join(renamed)}.")
        where = "" if self.lab == Path("lab") else f" --lab {self.lab}"
        lines.append(f"Next: daybreak runs show {data['run'][:6]}{where}")
        for line in lines:
            console.print(bare(line), markup=False, highlight=False)


def _settings(texts: tuple[str, ...]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise RequestError(f"setting = {text!r} is not allowed: write NAME=VALUE, such as context=256.")
        if name.strip() in settings:
            raise RequestError(f"setting = {text!r} is not allowed: {name.strip()} is given twice.")
        settings[name.strip()] = _plain(value.strip())
    return settings


def _plain(text: str) -> Any:
    """A number, true or false, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
