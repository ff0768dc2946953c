"""`daybreak runs`: the runs of a lab."""

import textwrap
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli import _export, _listing
from daybreak.cli._answer import Answer, Json, bare, check_new_file, check_new_folder, check_picture, plain
from daybreak.cli._chart import chart
from daybreak.cli._confirm import confirmed
from daybreak.cli._lab import LabFolder, Where, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from daybreak.lab import Lab, Saved
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Plateau

_NAMED = 10  # runs that are named before they are deleted
_OTHERS = 3  # curves that are drawn of a run that has none of ours


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
        message += "." if runs.num_rows else f" in {self.lab}."
        console.print(message, markup=False, highlight=False)
        for x in data["damaged"]:
            label = "Damaged and set aside" if (Path(x["folder"]) / "why.txt").exists() else "Left out"
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
class Show:
    """Show one run, finished or not: its settings, how it ended or how far it is, and its curves, as text or as a picture.

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
        name = lab.find(self.run)
        shown = _finished(lab, name) if lab.is_done(name) else _unfinished(lab, name)
        if self.plot is not None:
            self._draw(self.plot, shown)
        if self.maps is not None:
            _draw_maps(self.maps, lab.load(name))
        pictures = {"plot": self.plot and str(self.plot), "maps": self.maps and str(self.maps)}
        data = {**shown.data, "curves": shown.columns(), **pictures}
        return Answer(data, lambda console: self._show(console, shown))

    def _draw(self, path: Path, shown: "_Shown") -> None:
        from daybreak import pictures
        from daybreak.training import Record

        if shown.curves is None:
            raise RequestError(f"plot = {str(path)!r} is not allowed: {shown.why_no_curves}")
        record = Record(shown.curves.steps, shown.curves.curves, "completed")  # a picture does not show the outcome
        end = shown.plateau
        plateaus = {} if end is None or end.censored else {"": end.bracket}
        pictures.save(pictures.learning_curves({shown.data["id"]: record}, plateaus), path, [path.suffix])

    def _show(self, console: Console, shown: "_Shown") -> None:
        data = shown.data
        run = data["run"]
        console.print(f"[bold]{data['id']}[/]  {data['outcome']}", highlight=False)
        if data["note"]:
            console.print(f"  {plain(data['note'])}", highlight=False)
        for part, value in run.items():
            if isinstance(value, dict):
                _fields(console, part, value)
        _fields(console, "run", {name: x for name, x in run.items() if not isinstance(x, dict) and name != "schema"})
        if shown.plateau is not None:
            low, high = shown.plateau.bracket
            between = "" if shown.plateau.censored else f", between evaluations at {low:g} and {high:g}"
            _fields(console, "plateau", {"": f"{shown.plateau} steps{between}"})
        if data["last_step"] is not None:
            _fields(console, "trained", {"": f"for {data['last_step']:,} steps"})
        _fields(console, "end", {name: x for name, x in data.get("final", {}).items() if isinstance(x, float)})
        if provenance := data.get("provenance"):
            commit = provenance.get("commit")
            _fields(console, "source", provenance | {"commit": commit and commit[:12]})
        if "traceback" in data:
            console.print(f"\n{plain(data['traceback']).rstrip()}", highlight=False)
        elif shown.curves is None:
            console.print(f"  {plain(shown.why_no_curves)}", highlight=False)
        if shown.curves is not None:
            _charts(console, shown.curves, shown.mark)
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


@final
@dataclass(frozen=True)
class _Shown:
    """A run to show.

    Args:
        data: all but its curves.
        curves: as far as it got; None if there are none.
        plateau: None if it has none.
        why_no_curves: a sentence, if there are none.
    """

    data: dict[str, Any]
    curves: "RunCurves | None"
    plateau: "Plateau | None" = None
    why_no_curves: str = ""

    @property
    def mark(self) -> float | None:
        """Where the plateau ended."""
        return None if self.plateau is None or self.plateau.censored else self.plateau.length

    def columns(self) -> dict[str, Any]:
        """The curves as JSON has them."""
        from daybreak.lab import curves

        if self.curves is None:
            return {}
        columns = curves.columns(self.curves.steps, self.curves.curves)
        return _export.finite({name: x.tolist() for name, x in columns.items()})


def _finished(lab: "Lab", name: str) -> _Shown:
    from daybreak.lab.reading.progress import RunCurves, note

    saved = lab.load(name)
    data = {"run": _ordered(saved.settings), **saved.document, "note": note(saved.settings)}
    if saved.record is None:
        return _Shown(data, None, why_no_curves=f"run {name} failed and has no curves.")
    curves = RunCurves(name, saved.settings, saved.record.steps, saved.record.curves, True)
    return _Shown(data, curves, saved.result.plateau)


def _unfinished(lab: "Lab", name: str) -> _Shown:
    """A run that still trains or was interrupted, as of its last checkpoint."""
    from daybreak.lab.reading.progress import note, run_curves, settings_of_unfinished
    from daybreak.lab.result import UNFINISHED

    settings = settings_of_unfinished(lab, name)
    data = {"run": _ordered(settings), "id": name, "outcome": UNFINISHED, "last_step": None, "note": note(settings)}
    try:
        curves = run_curves(lab, name)
    except RequestError as error:
        return _Shown(data, None, why_no_curves=str(error))
    last = int(curves.steps[-1]) if curves.steps.size else None
    return _Shown(data | {"last_step": last}, curves if curves.steps.size else None)


def _ordered(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings in the order in which a person reads them, which is that of their definition where they are known."""
    from daybreak.training import from_json, to_json

    try:
        like = to_json(from_json(settings))
    except (RequestError, TypeError, AttributeError):
        like = {part: {"name": ""} for part in ("task", "model", "optimizer", "stop", "schedule")}
    return {name: _like(x, like.get(name)) for name, x in _like(settings, like).items()}


def _like(given: Any, other: Any) -> Any:
    if not (isinstance(given, dict) and isinstance(other, dict)):
        return given
    return {name: given[name] for name in (*(x for x in other if x in given), *(x for x in given if x not in other))}


def _fields(console: Console, title: str, fields: dict[str, Any]) -> None:
    """One part of a run on as few lines as it takes."""
    from daybreak.lab import listing

    text = listing.sentence({"" if name == "name" else name: x for name, x in fields.items()})
    for i, line in enumerate(textwrap.wrap(text, max(console.width, 40) - 13, break_on_hyphens=False)):
        console.print(f"  {'' if i else title:<11}{plain(line)}", highlight=False)


def _charts(console: Console, run: "RunCurves", mark: float | None) -> None:
    """Clean loss or accuracy, and the head that attends most to relevant positions at the end; else what there is."""
    width = min(max(console.width, 40) - 14, 100)
    scores = [name for name in ("clean_accuracy", "clean_loss") if name in run.curves]
    shown = {name.replace("_", " "): run.curves[name] for name in scores}
    if run.heads[0].size:
        layer, head = (int(i) for i in divmod(int(run.heads[-1].argmax()), run.heads.shape[2]))
        shown[f"attention to relevant positions, layer {layer + 1} head {head + 1}"] = run.heads[:, layer, head]
    if not shown:
        shown = dict([(name, x) for name, x in run.curves.items() if x.ndim == 1][:_OTHERS])
    for name, values in shown.items():
        console.print(f"\n  [bold]{plain(name)}[/]", highlight=False)
        for line in chart(run.steps, values, log=name.endswith("loss"), width=width, mark=mark):
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
class Delete:
    """Delete runs, finished or not. On a terminal it names them and asks first. What is deleted cannot be brought back.

    Example: daybreak runs delete 3f2a 81c0
    """

    runs: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ID", help="Ids, or the first characters of them.")
    ] = ()
    lab: LabFolder = Path("lab")
    where: Where = None
    yes: Annotated[bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Do not ask.")] = False
    json: Json = False

    def answer(self) -> Answer:
        """Find all of them, ask, take the lock of the lab, delete."""
        from daybreak.lab.lock import locked

        lab = open_lab(self.lab)
        names = self._names(lab)
        if not (self.yes or self._confirmed(lab, names)):
            return Answer(
                {"lab": str(self.lab), "deleted": [], "left": []}, lambda console: console.print("Nothing was deleted.")
            )
        with locked(lab.path), closing(lab.open()):
            left = [str(file) for name in names for file in lab.delete(name)]
        data = {"lab": str(self.lab), "deleted": names, "left": left}
        return Answer(data, lambda console: self._show(console, data))

    def _names(self, lab: "Lab") -> list[str]:
        """The ids of the runs to delete, each checked."""
        if not self.runs and self.where is None:
            raise RequestError("no run was named: give ids, as 'daybreak runs list' shows them, or --where.")
        chosen = [lab.find(prefix) for prefix in self.runs]
        if self.where is not None:
            chosen += lab.query(self.where, unfinished=True)["id"].to_pylist()
        if not chosen:
            raise RequestError(f"no run in lab {str(lab.path)!r} fulfils the condition {self.where!r}.")
        return list(dict.fromkeys(chosen))

    def _confirmed(self, lab: "Lab", names: list[str]) -> bool:
        from daybreak.lab import listing

        rows = {row["id"]: row for row in lab.query(unfinished=True).to_pylist()}
        lines = []
        for name in names[:_NAMED]:
            shown = {x: rows.get(name, {}).get(x) for x in ("outcome", "task", "T", "d", "N", "V", "seed")}
            lines.append(f"  {name}  {bare(listing.sentence(shown)) or 'cannot be read'}")
        if len(names) > _NAMED:
            lines.append(f"  and {len(names) - _NAMED:,} more")
        which = "this run" if len(names) == 1 else f"these {len(names):,} runs"
        return confirmed("\n".join(lines), f"Delete {which} from lab {str(lab.path)!r} for good?", "--yes")

    def _show(self, console: Console, data: dict[str, Any]) -> None:
        count = len(data["deleted"])
        console.print(f"{count:,} run{'s' * (count != 1)} deleted.", highlight=False)
        for file in data["left"]:
            console.print(f"Left in place, because no lab writes it: {file}", markup=False, highlight=False)


@final
@dataclass(frozen=True)
class Runs:
    """The runs of a lab: list them, show one, export them, delete some.

    Example: daybreak runs list --lab lab
    """

    action: Annotated[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Show, tyro.conf.subcommand("show")]
        | Annotated[Export, tyro.conf.subcommand("export")]
        | Annotated[Delete, tyro.conf.subcommand("delete")],
        tyro.conf.arg(name=""),
    ] = List()

    @property
    def json(self) -> bool:
        """Whether the answer is printed as JSON."""
        return self.action.json

    def answer(self) -> Answer:
        """List, show, export or delete."""
        return self.action.answer()
