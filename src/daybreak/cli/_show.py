"""`daybreak runs show`: one run, in the terminal or as a picture."""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli import _export
from daybreak.cli._answer import Answer, Json, check_picture, plain
from daybreak.cli._chart import chart
from daybreak.cli._lab import LabFolder, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from daybreak.lab import Lab, Saved
    from daybreak.lab.criterion import Criterion
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.measure import Plateau

_OTHERS = 3  # curves that are drawn of a run that has none of ours


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
        attention = _attention_name(shown.data["run"])
        pictures.save(pictures.learning_curves({shown.data["id"]: record}, plateaus, attention), path, [path.suffix])

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
            _fields(
                console,
                "source",
                provenance | {"commit": commit and commit[:12] + "-dirty" * commit.endswith("-dirty")},
            )
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
        like = {
            part: {"name": ""} for part in ("task", "model", "optimizer", "stop", "schedule", "observed", "settings")
        }
    return {name: _like(x, like.get(name)) for name, x in _like(settings, like).items()}


def _attention_name(settings: dict[str, Any]) -> str:
    """What attention is called in pictures; of a task that is not known here, what it is called by default."""
    from daybreak.tasks import Task
    from daybreak.training import from_json

    try:
        return from_json(settings).task.attention_name
    except (RequestError, TypeError, AttributeError):
        return Task.ATTENTION


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


def _drawn(run: "RunCurves") -> "dict[str, tuple[NDArray, NDArray]]":
    """Steps and values of the curves to draw, by what they are called."""
    from daybreak.lab.criterion import criterion

    if (rule := criterion(run.settings)) is not None:
        return _drawn_observed(run, rule)
    attention = _attention_name(run.settings)
    scores = [name for name in ("clean_accuracy", "clean_loss") if name in run.curves]
    shown = {name.replace("_", " "): run.curves[name] for name in scores}
    if run.heads[0].size:
        layer, head = (int(i) for i in divmod(int(run.heads[-1].argmax()), run.heads.shape[2]))
        shown[f"{attention}, layer {layer + 1} head {head + 1}"] = run.heads[:, layer, head]
    if not shown:
        shown = dict([(name, x) for name, x in run.curves.items() if x.ndim == 1][:_OTHERS])
    return {name: (run.steps, values) for name, values in shown.items()}


def _drawn_observed(run: "RunCurves", rule: "Criterion") -> "dict[str, tuple[NDArray, NDArray]]":
    """The curve that an observed run names, then others; of one with heads, the largest at each step."""
    first = rule.curve if rule.curve in run.curves else None
    names = [*([first] if first else []), *(name for name in run.curves if name != first)][:_OTHERS]
    shown = {}
    for name in names:
        several = run.curves[name].ndim > 1
        one = rule._replace(curve=name) if name == first else rule._replace(curve=name, direction="up")
        label = name.replace("_", " ") + (
            f", {'largest' if one.direction == 'up' else 'smallest'} of all heads" * several
        )
        shown[label] = one.series(run.steps, run.curves)
    return {name: (steps, values) for name, (steps, values) in shown.items() if steps.size}


def _charts(console: Console, run: "RunCurves", mark: float | None) -> None:
    """Clean loss or accuracy, and the head that attends most to relevant positions at the end; else what there is."""
    width = min(max(console.width, 40) - 14, 100)
    for name, (steps, values) in _drawn(run).items():
        console.print(f"\n  [bold]{plain(name)}[/]", highlight=False)
        for line in chart(steps, values, log=name.endswith("loss"), width=width, mark=mark):
            console.print(f"  {line}", markup=False, highlight=False)
    if mark is not None:
        console.print("  ┴ the plateau ends", highlight=False)
