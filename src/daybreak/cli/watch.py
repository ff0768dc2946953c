"""`daybreak watch`: training that is not ours, in the terminal, while it goes on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, bare, check_number
from daybreak.cli._lab import LabFolder, open_lab
from daybreak.cli._outlook import (
    Direction,
    Level,
    Probe,
    Seen,
    StepColumn,
    Value,
    Wanted,
    forecast_data,
    is_file,
    law_of_others,
    of_file,
    of_run,
    sentence,
)
from daybreak.cli.forecast import Forecast
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab import Lab

_WIDEST = 100  # characters of the drawing


@final
@dataclass(frozen=True)
class Watch:
    """Watch training that is not ours: the forecast of a file of curves or of an observed run, while it grows.

    With --follow it reads again whenever something was written, until it has emerged, an observed run is finished, or Ctrl-C.
    All three are an ordinary end: the last answer is printed, and the exit code is 0. In a pipe it prints one line per change.

    Example: daybreak watch metrics.csv --follow --value loss --level 0.1 --probe induction
    """

    source: Annotated[
        str,
        tyro.conf.Positional,
        tyro.conf.arg(
            metavar="FILE|RUN",
            help="A CSV, JSONL, JSON or Parquet file, a folder of TensorBoard, or the id of a run in the lab.",
        ),
    ]
    follow: Annotated[
        bool, tyro.conf.FlagCreatePairsOff, tyro.conf.arg(help="Go on reading while it grows. Without it: one answer.")
    ] = False
    every: Annotated[float, tyro.conf.arg(metavar="SECONDS", help="How often to look for something new.")] = 2.0
    lab: LabFolder = Path("lab")
    value: Value = None
    level: Level = None
    direction: Direction = None
    probe: Probe = None
    step: StepColumn = None
    json: Json = False

    def answer(self) -> Answer:
        """One answer, or the last of many."""
        check_number("every", self.every, 0.1)
        once = Forecast(
            self.source, None, self.lab, self.value, self.level, self.direction, self.probe, self.step, json=self.json
        )
        if not self.follow:
            return once.answer()
        file = is_file(self.source)
        reader = _FileReader(Path(self.source), self._wanted) if file else self._run_reader(open_lab(self.lab))
        self._follow(reader)
        try:
            return once.answer()
        except RequestError:  # nothing was written yet, or it was replaced or removed a moment ago
            return _nothing(self.source)

    @property
    def _wanted(self) -> Wanted:
        return Wanted(self.value, self.level, self.direction, self.probe, self.step)

    def _run_reader(self, lab: "Lab") -> "_RunReader":
        if self.step is not None:
            raise RequestError(f"--step is not allowed with a run: {self.source!r} is not a file.")
        return _RunReader(lab, lab.find(self.source), self._wanted)

    def _follow(self, reader: "_FileReader | _RunReader") -> None:
        """Show each change until the end."""
        before, first = "", True
        with _view(silent=self.json) as show:
            try:
                while True:
                    if (now := reader.stamp()) != before:
                        before = now
                        seen = self._read(reader, first, show)
                        first = first and seen is None
                        if seen is not None and (seen.done or seen.outlook.truth is not None):
                            return
                    time.sleep(self.every)
            except KeyboardInterrupt:  # the usual way to end it
                return

    def _read(self, reader: "_FileReader | _RunReader", first: bool, show: Callable[[Seen | str], None]) -> Seen | None:
        """What is there now. What is wrong with the request is raised while nothing was seen; later, the file is being written."""
        from daybreak.watch.curves import NoRowsError

        try:
            seen = reader.read()
        except NoRowsError as error:
            show(str(error))
        except RequestError as error:
            if first:
                raise
            show(str(error))
        else:
            show(seen)
            return seen
        return None


@final
@dataclass(frozen=True)
class _FileReader:
    """A growing file or folder."""

    path: Path
    wanted: Wanted

    def stamp(self) -> str:
        """A text that changes when something was written."""
        from daybreak.lab.index import stamp
        from daybreak.watch import tensorboard

        if not self.path.is_dir():
            return stamp(str(self.path))
        return " ".join(stamp(str(x)) for inside in tensorboard.files(self.path).values() for x in inside)

    def read(self) -> Seen:
        """What it contains now."""
        return of_file(self.path, self.wanted, growing=True)


@final
@dataclass(frozen=True)
class _RunReader:
    """A run of a lab that may still train."""

    lab: "Lab"
    name: str
    wanted: Wanted

    def stamp(self) -> str:
        """A text that changes when something was written."""
        from daybreak.lab._folder import CHECKPOINT, RESULT, RUN
        from daybreak.lab.index import stamp
        from daybreak.lab.rows import ROWS

        folder = self.lab.path / "runs" / self.name
        return " ".join(stamp(str(folder / file)) or "-" for file in (RUN, ROWS, CHECKPOINT, RESULT))

    def read(self) -> Seen:
        """What it has measured until now."""
        from daybreak.lab.reading.progress import run_curves
        from daybreak.watch.curves import NoRowsError

        try:
            curves = run_curves(self.lab, self.name)
        except RequestError as error:
            raise NoRowsError(str(error)) from None
        law, _ = law_of_others(self.lab, curves, self.wanted)
        return of_run(curves, self.wanted, law and (law.median, law.spread))


def _nothing(source: str) -> Answer:
    data: dict[str, Any] = {"source": source, "outcome": "nothing seen"}
    return Answer(data, lambda console: console.print(f"Nothing was written to {bare(source)}.", markup=False))


def _line(seen: Seen) -> str:
    """The present state in one line."""
    view = seen.outlook
    at = int(view.steps[-1])
    return f"step {at:,}: {view.name} {view.values[-1]:.4g}. {sentence(forecast_data(view.at(at)))}"


@contextmanager
def _view(*, silent: bool) -> Iterator[Callable[[Seen | str], None]]:
    """Shows what is seen: in a terminal in place, with the curve; elsewhere a line whenever it changes."""
    console = Console()
    if silent:
        yield lambda seen: None
    elif console.is_terminal:
        from rich.live import Live

        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda seen: live.update(_picture(seen, console.width), refresh=True)
    else:
        yield _printer()


def _printer() -> Callable[[Seen | str], None]:
    before = ""

    def show(seen: Seen | str) -> None:
        nonlocal before
        line = bare(seen if isinstance(seen, str) else _line(seen))
        if line != before:
            before = line
            print(line, flush=True)  # noqa: T201  (each line as it happens)

    return show


def _picture(seen: Seen | str, width: int) -> Any:
    from rich.text import Text

    from daybreak.cli._chart import chart

    if isinstance(seen, str):
        return Text(bare(seen))
    view = seen.outlook
    lines = chart(view.steps, view.values, log=not view.rising, width=min(max(width, 40) - 14, _WIDEST))
    about = f"{seen.source[1]}: it emerges when {view.name} reaches {view.level:g}. Ctrl-C ends this view."
    return Text("\n".join(bare(x) for x in (about, *lines, _line(seen))))
