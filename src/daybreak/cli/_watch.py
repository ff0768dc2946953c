"""What is shown while runs are trained: how many are done, how they ended, and what each worker trains."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from daybreak.lab import Lab
    from daybreak.lab.compute.messages import RunStatus
    from daybreak.lab.compute.rates import Rates
    from daybreak.lab.compute.state import Assignment, State
    from daybreak.training import Run

_MEMBERS = 12  # runs under way that are shown one by one


@contextmanager
def watching(title: str = "", source: str = "", every: float = 60.0) -> Iterator[Callable[[Any], None]]:
    """A live view on stderr, which is called with each new state; a line now and then where stderr is no terminal.

    Args:
        title: shown from the start, with a spinner.
        source: of the expected steps, in words.
        every: seconds before the first line, and between two lines, where stderr is no terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _log(console, title, source, every)
        return
    head = (Spinner("dots", title),) if title else ()
    with Live(Group(*head), console=console, refresh_per_second=4, transient=True) as live:
        yield lambda state: live.update(Group(*head, view(state, source)))


def measured_rates(lab: "Lab", runs: "Sequence[Run]") -> "Rates":
    """The rates of a core of this machine, measured where that is needed; says so meanwhile."""
    from daybreak.lab.compute.calibration import calibrate
    from daybreak.lab.compute.local import LocalExecutor
    from daybreak.lab.compute.rates import Rates

    rates = Rates(lab, runs)
    with watching("timing a few programs on this machine"):
        calibrate(rates, runs, LocalExecutor())
    return rates


def _log(console: Console, title: str, source: str, every: float) -> Callable[[Any], None]:
    """Writes a state in one line, if the last was written at least `every` seconds ago."""
    last = time.monotonic()

    def write(state: "State") -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            last = time.monotonic()
            line = " · ".join(x for x in (title, _headline(state, source)) if x)
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    return write


def _headline(state: "State", source: str) -> str:
    from daybreak.lab.result import OUTCOMES  # a package that the help of a verb must not load

    counts = ", ".join(f"{state.outcomes[x]:,} {x}" for x in OUTCOMES if state.outcomes[x])
    speed = sum(assignment.steps_per_second for assignment in state.under_way.values())
    parts = [
        f"{state.done:,} of {state.total:,} runs",
        counts,
        f"{speed:,.{1 if speed < 10 else 0}f} steps a second" if speed else "",
        ""
        if state.time_left is None
        else f"{how_long(state.time_left.expected, state.time_left.at_most, source)} left",
    ]
    return " · ".join(x for x in parts if x)


def how_long(expected: float | None, at_most: float, source: str) -> str:
    """A duration in words: what is expected and by what, and what it is at most.

    Example:
        >>> how_long(40.0, 3600.0, "paper A, figure 3"), how_long(None, 90.0, "")
        ('about 40 s (by paper A, figure 3), at most 60 min', 'at most about 90 s')
    """
    if expected is None:
        return f"at most about {clock(at_most)}"
    limit = f", at most {clock(at_most)}" if clock(at_most) != clock(expected) else ""
    return f"about {clock(expected)} (by {source}){limit}"


def view(state: "State", source: str = "") -> Group:
    """A state as text and a bar."""
    bar = Table.grid()
    bar.add_row(ProgressBar(state.total, state.done, width=60))
    busy = [assignment for assignment in state.under_way.values() if assignment.unfinished]
    lines = [_line(assignment) for assignment in busy]
    statuses = [(assignment.unfinished[x], assignment.statuses[x]) for assignment in busy for x in assignment.statuses]
    members = [_member(*x) for x in statuses] if len(statuses) <= _MEMBERS else []
    return Group(Text(_headline(state, source), style="bold"), bar, _rows(lines), _rows(members))


def _rows(rows: list[tuple[str, ...]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for row in rows:
        grid.add_row(*(Text(x, no_wrap=True, overflow="ellipsis") for x in row))
    return grid


def _line(assignment: "Assignment") -> tuple[str, str, str]:
    run = max(assignment.unfinished.values(), key=lambda run: run.stop.budget)
    count = f"{len(assignment.unfinished)} run{'s' * (len(assignment.unfinished) != 1)}"
    step = max((x.step for x in assignment.statuses.values()), default=0)
    how_far = f"{count} at step {step:,} of {run.stop.budget:,}" if step else f"{count}, starting"
    return assignment.worker or "waiting for a worker", how_far, " ".join(repr(run.task).split())


def _member(run: "Run", status: "RunStatus") -> tuple[str, ...]:
    accuracy = "" if status.accuracy is None else f"accuracy {100 * status.accuracy:.1f} %"
    emerged = "not emerged" if status.emerged is None else f"emerged at step {status.emerged:,}"
    return (
        f"  {run.id[:8]} seed {run.seed}",
        f"step {status.step:,}",
        f"loss {status.loss:.3g}",
        accuracy,
        f"attention {status.attention:.2f}",
        emerged if run.stop.level else "",
    )


def clock(seconds: float) -> str:
    """A duration in seconds, minutes or hours.

    Example:
        >>> clock(59), clock(3600), clock(200000)
        ('59 s', '60 min', '56 h')
    """
    for size, unit, least in ((3600, "h", 7200), (60, "min", 100)):
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
