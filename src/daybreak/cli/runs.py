"""`daybreak runs`: the runs of a lab."""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli import _export, _listing
from daybreak.cli._answer import Answer, Json, bare, check_new_file, check_new_folder, check_picture, plain
from daybreak.cli._chart import chart
from daybreak.cli._lab import LabFolder, Where, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from daybreak.lab import Saved
    from daybreak.training import Record


@final
@dataclass(frozen=True)
class List:
    """List runs: what differs between them, how they ended, how long their plateaus were.

    Example: daybreak runs list --where "outcome = 'emerged' and T >= 128"
    """

    lab: LabFolder = Path("lab")
    where: Where = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the index."""
        lab = open_lab(self.lab)
        runs = lab.query(self.where)
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
        message += "." if runs.num_rows else f" in {self.lab}."
        if data["unfinished"]:
            message += f" {len(data['unfinished'])} unfinished."
        console.print(message, markup=False, highlight=False)
        for x in data["damaged"]:
            console.print(f"Damaged and set aside: {plain(x['folder'])} ({plain(x['why'])})", highlight=False)

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
class Show:
    """Show one run: its settings, how it ended, and its curves, in the terminal or as a picture.

    Example: daybreak runs show 3f2a --plot curves.png
    """

    run: Annotated[
        str, tyro.conf.Positional, tyro.conf.arg(metavar="ID", help="Its id, or the first characters of it.")
    ]
    lab: LabFolder = Path("lab")
    plot: Annotated[
        Path | None, tyro.conf.arg(metavar="FILE", help="Draw its curves to this PNG, PDF or SVG file.")
    ] = None
    maps: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="FILE",
            help="Draw the attention maps that it has kept around its transition to this PNG, PDF or SVG file.",
        ),
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the run; draw if asked."""
        check_picture("plot", self.plot)
        check_picture("maps", self.maps)
        lab = open_lab(self.lab)
        saved = lab.load(lab.find(self.run))
        if self.plot is not None:
            self._draw(self.plot, saved)
        if self.maps is not None:
            _draw_maps(self.maps, saved)
        from daybreak.training import to_json

        columns = lab.columns_of(saved.result.id) or {}
        curves = _export.finite({name: x.tolist() for name, x in columns.items()})
        data = {"run": to_json(saved.run), **saved.document, "curves": curves, "plot": self.plot and str(self.plot)}
        data["maps"] = self.maps and str(self.maps)
        return Answer(data, lambda console: self._show(console, data, saved))

    def _draw(self, path: Path, saved: "Saved") -> None:
        from daybreak import pictures

        if saved.record is None:
            raise RequestError(f"plot = {str(path)!r} is not allowed: run {saved.result.id} failed and has no curves.")
        end = saved.result.plateau
        plateaus = {} if end is None or end.censored else {"": end.length}
        pictures.save(pictures.learning_curves({saved.result.id: saved.record}, plateaus), path, [path.suffix])

    def _show(self, console: Console, data: dict[str, Any], saved: "Saved") -> None:
        run, result = data["run"], saved.result
        console.print(f"[bold]{result.id}[/]  {result.outcome}", highlight=False)
        for part in ("task", "model", "optimizer", "stop", "schedule"):
            if part in run:
                _fields(console, part, run[part])
        _fields(console, "run", {name: run[name] for name in ("seed", "batch", "evaluation")})
        if result.plateau is not None:
            low, high = result.plateau.bracket
            between = "" if result.plateau.censored else f", between evaluations at {low:g} and {high:g}"
            _fields(console, "plateau", {"": f"{result.plateau} steps{between}; trained for {result.last_step:,}"})
        _fields(console, "end", result.final)
        commit = data["provenance"]["commit"]
        _fields(console, "source", data["provenance"] | {"commit": commit and commit[:12]})
        if "traceback" in data:
            console.print(f"\n{plain(data['traceback']).rstrip()}", highlight=False)
        if saved.record is not None:
            end = result.plateau
            _charts(console, saved.record, None if end is None or end.censored else end.length)
        if self.plot is not None:
            console.print(f"\nPicture: {self.plot}", markup=False, highlight=False)
        if self.maps is not None:
            console.print(f"\nPicture: {self.maps}", markup=False, highlight=False)


def _draw_maps(path: Path, saved: "Saved") -> None:
    """Attention maps that a run has kept."""
    from daybreak import pictures

    maps, end = saved.maps(), saved.result.plateau
    if saved.record is None or not maps.steps.size:
        raise RequestError(f"maps = {str(path)!r} is not allowed: run {saved.result.id} has no attention maps.")
    plateau = None if end is None or end.censored else end.length
    pictures.save(pictures.attention_picture(saved.record, maps, plateau), path, [path.suffix])


def _fields(console: Console, title: str, fields: dict[str, Any]) -> None:
    """One part of a run on as few lines as it takes."""
    from daybreak.lab import listing

    text = listing.sentence({"" if name == "name" else name: x for name, x in fields.items()})
    for i, line in enumerate(textwrap.wrap(text, max(console.width, 40) - 13, break_on_hyphens=False)):
        console.print(f"  {'' if i else title:<11}{plain(line)}", highlight=False)


def _charts(console: Console, record: "Record", mark: float | None) -> None:
    """Clean loss or accuracy, and the head that attends most to the relevant positions at the end."""
    width = min(max(console.width, 40) - 14, 100)
    attention = record.curves["attention"]
    layer, head = (int(i) for i in divmod(int(attention[-1].argmax()), attention.shape[2]))
    scores = (name for name in ("clean_accuracy", "clean_loss") if name in record.curves)
    shown = {name.replace("_", " "): record.curves[name] for name in scores}
    shown[f"attention to relevant positions, layer {layer + 1} head {head + 1}"] = attention[:, layer, head]
    for name, values in shown.items():
        console.print(f"\n  [bold]{name}[/]", highlight=False)
        for line in chart(record.steps, values, log=name.endswith("loss"), width=width, mark=mark):
            console.print(f"  {line}", markup=False, highlight=False)
    if mark is not None:
        console.print("  ┴ the plateau ends", highlight=False)


@final
@dataclass(frozen=True)
class Export:
    """Write runs to a file: one row per run, or with --curves one row per run, evaluation and curve. Or their parameters.

    Example: daybreak runs export runs.parquet --where "task = 'recall'"
    """

    file: Annotated[
        Path | None,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="FILE", help="File to write; its name ends in .csv, .parquet or .json."),
    ] = None
    lab: LabFolder = Path("lab")
    where: Where = None
    curves: Annotated[
        bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Write the curves: columns id, step, curve, value.")
    ] = False
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
        if self.file is None:
            return self._parameters(self.parameters or Path())
        check_new_file("file", self.file, tuple(_export.WRITERS))
        lab = open_lab(self.lab)
        runs = lab.query(self.where)
        parts = _export.long_curves(lab, runs["id"].to_pylist()) if self.curves else iter([runs])
        rows = _export.write(self.file, parts)
        data = {"file": str(self.file), "runs": runs.num_rows, "rows": rows}
        message = f"{self.file}: {rows:,} rows of {runs.num_rows:,} runs."
        return Answer(data, lambda console: console.print(message, markup=False, highlight=False))

    def _parameters(self, folder: Path) -> Answer:
        check_new_folder("parameters", folder)
        lab = open_lab(self.lab)
        names = lab.query(self.where)["id"].to_pylist()
        written = _export.parameters(lab, names, folder)
        data = {"folder": str(folder), "runs": len(names), "written": written}
        message = f"{folder}: parameters of {len(written):,} runs, of {len(names):,}."
        return Answer(data, lambda console: console.print(message, markup=False, highlight=False))


@final
@dataclass(frozen=True)
class Runs:
    """The runs of a lab: list them, show one, export them.

    Example: daybreak runs list --lab lab
    """

    action: Annotated[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Show, tyro.conf.subcommand("show")]
        | Annotated[Export, tyro.conf.subcommand("export")],
        tyro.conf.arg(name=""),
    ] = List()

    @property
    def json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.action.json

    def answer(self) -> Answer:
        """List, show or export."""
        return self.action.answer()
