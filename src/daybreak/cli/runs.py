"""`daybreak runs`: the runs of a lab."""

import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import tyro
from rich.console import Console

from daybreak.cli import _export, _listing
from daybreak.cli._answer import Answer, Json, bare, check_new_file, check_new_folder, counted, plain
from daybreak.cli._delete import Delete
from daybreak.cli._import import Import
from daybreak.cli._lab import LabFolder, Where, open_lab
from daybreak.cli._show import Show
from daybreak.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True)
class List:
    """List runs: what differs between them, how they ended or how far they are, how long their plateaus were.

    Example: daybreak runs list --where "outcome = 'emerged' and T >= 128"
    """

    lab: LabFolder = Path("lab")
    where: Where = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the index, and how far runs are that still train."""
        lab = open_lab(self.lab)
        runs = lab.query(self.where, unfinished=True)
        unfinished = lab.unfinished()
        damaged = [{"folder": str(x.folder), "why": x.why.strip()} for x in lab.damaged()]
        data = {"lab": str(self.lab), "runs": runs.to_pylist(), "unfinished": unfinished, "damaged": damaged}
        return Answer(data, lambda console: self._show(console, data, runs))

    def _show(self, console: Console, data: dict[str, Any], runs: "pa.Table") -> None:
        from daybreak.lab import listing

        if runs.num_rows:
            self._show_rows(console, runs)
        which = "" if self.where is None else " for which the condition holds"
        message = listing.summary([row["outcome"] for row in data["runs"]], which)
        message += "." if runs.num_rows else f" in lab {str(self.lab)!r}."
        console.print(message, markup=False, highlight=False)
        for x in data["damaged"]:
            label = "Damaged and set aside" if Path(x["folder"]).parent.name == "damaged" else "Left out"
            console.print(f"{label}: {plain(x['folder'])} ({plain(x['why'])})", highlight=False)

    def _show_rows(self, console: Console, runs: "pa.Table") -> None:
        from daybreak.lab import listing

        width = max(console.width, 40)
        shared = listing.sentence(listing.settings(runs)[0])
        for line in textwrap.wrap(f"All: {shared}", width, subsequent_indent="     ", break_on_hyphens=False):
            console.print(plain(line), style="dim", highlight=False)
        (head, *lines), left_out = _listing.page(runs, width)
        console.print(plain(head), style="bold", highlight=False)
        console.out(bare("\n".join(lines)), highlight=False)
        if left_out:
            console.print(f"They differ also in {', '.join(left_out)}: see --json, or 'runs export'.", highlight=False)


@final
@dataclass(frozen=True)
class Export:
    """Write runs to a file: one row per run, or with --curves one row per run, evaluation and curve. Or their parameters.

    With --format FILE is a folder, to which the curves of each run are written for other programs.

    Example: daybreak runs export runs.parquet --where "task = 'recall'"

    Example: daybreak runs export board --format tensorboard
    """

    file: Annotated[
        Path | None,
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="FILE", help="File to write; its name ends in .csv, .parquet or .json. With --format a folder."
        ),
    ] = None
    lab: LabFolder = Path("lab")
    where: Where = None
    curves: Annotated[
        bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Write the curves: columns id, step, curve, value.")
    ] = False
    format: Annotated[
        Literal["tensorboard", "csv", "parquet"] | None,
        tyro.conf.arg(
            help="Write the curves of each run to the folder FILE: FILE/ID/ for TensorBoard, or FILE/ID.csv, FILE/ID.parquet with "
            "one row per evaluation and one column per number."
        ),
    ] = None
    parameters: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="DIR",
            help="Write to this folder the parameters of each run that has kept them: ID.safetensors, and ID.json with the names "
            "and shapes, the task and the model.",
        ),
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the index, and the curves or parameters if asked for; write."""
        if (self.file is None) == (self.parameters is None):
            raise RequestError("give either a FILE to write rows to, or --parameters DIR.")
        if self.format is not None and self.curves:
            raise RequestError("--curves is not allowed together with --format, which writes curves anyway.")
        if self.format is not None and self.file is None:
            raise RequestError("--format is not allowed together with --parameters.")
        if self.file is None:
            return self._parameters(self.parameters or Path())
        if self.format is not None:
            return self._folder(self.file, self.format)
        check_new_file("file", self.file, tuple(_export.WRITERS))
        lab = open_lab(self.lab)
        runs = lab.query(self.where)
        parts = _export.long_curves(lab, runs["id"].to_pylist()) if self.curves else iter([runs])
        rows = _export.write(self.file, parts)
        data = {"file": str(self.file), "runs": runs.num_rows, "rows": rows}
        message = f"{self.file}: {counted(rows, 'row')} of {counted(runs.num_rows, 'run')}."
        return Answer(data, lambda console: console.print(message, markup=False, highlight=False))

    def _folder(self, folder: Path, form: Literal["tensorboard", "csv", "parquet"]) -> Answer:
        from daybreak.cli import _export_curves

        check_new_folder("file", folder)
        lab = open_lab(self.lab)
        names = lab.query(self.where)["id"].to_pylist()
        written = _export_curves.write(lab, names, folder, form)
        data = {"folder": str(folder), "format": form, "runs": len(names), "written": written}
        message = f"{folder}: curves of {len(written):,} of {counted(len(names), 'run')}."
        if form == "tensorboard":
            message += f" See them with: tensorboard --logdir {shlex.quote(str(folder))}"
        return Answer(data, lambda console: console.print(message, markup=False, highlight=False))

    def _parameters(self, folder: Path) -> Answer:
        check_new_folder("parameters", folder)
        lab = open_lab(self.lab)
        names = lab.query(self.where)["id"].to_pylist()
        written = _export.parameters(lab, names, folder)
        data = {"folder": str(folder), "runs": len(names), "written": written}
        message = f"{folder}: parameters of {len(written):,} of {counted(len(names), 'run')}."
        return Answer(data, lambda console: console.print(message, markup=False, highlight=False))


@final
@dataclass(frozen=True)
class Runs:
    """The runs of a lab: list them, show one, export them, import curves from a file, delete some.

    Example: daybreak runs list --lab lab
    """

    action: Annotated[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Show, tyro.conf.subcommand("show")]
        | Annotated[Export, tyro.conf.subcommand("export")]
        | Annotated[Import, tyro.conf.subcommand("import")]
        | Annotated[Delete, tyro.conf.subcommand("delete")],
        tyro.conf.arg(name=""),
    ] = List()

    @property
    def json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.action.json

    def answer(self) -> Answer:
        """List, show, export, import or delete."""
        return self.action.answer()


def chosen(options: list[str]) -> tuple[type, str, list[str]]:
    """What reads the options, the command so far, and the options. Without the name of an action they are those of `list`."""
    lists = options and options[0].startswith("-") and options[0] not in ("-h", "--help")
    return Runs, "daybreak runs", ["list", *options] if lists else options
