"""What a person sees while runs are trained: how many are done and how they ended, and what each worker is at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from daybreak.lab.conduct import Labour, State

_OUTCOMES = ("emerged", "censored", "diverged", "failed")


@contextmanager
def watching(title: str = "") -> Iterator[Callable[[Any], None]]:
    """A live view on stderr, to be given each new state; silent where that is no terminal.

    Args:
        title: of what is going on, shown from the start with a sign of life.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda state: None
        return
    head = (Spinner("dots", title),) if title else ()
    with Live(Group(*head), console=console, refresh_per_second=4, transient=True) as live:
        yield lambda state: live.update(Group(*head, view(state)))


def view(state: "State") -> Group:
    """The picture of a state."""
    counts = ", ".join(f"{state.outcomes[x]:,} {x}" for x in _OUTCOMES if state.outcomes[x])
    left = state.seconds_left if state.outcomes else None  # before that it is mostly compiling, and no guide
    parts = [f"{state.done:,} of {state.total:,} runs", counts, "" if left is None else f"about {clock(left)} left"]
    bar = Table.grid()
    bar.add_row(ProgressBar(state.total, state.done, width=60))
    workers = Table.grid(padding=(0, 2))
    for labour in filter(lambda labour: labour.fresh, state.under_way.values()):
        workers.add_row(*(Text(x, no_wrap=True, overflow="ellipsis") for x in _line(labour)))
    return Group(Text(" · ".join(x for x in parts if x), style="bold"), bar, workers)


def _line(labour: "Labour") -> tuple[str, str, str]:
    run = max(labour.fresh.values(), key=lambda run: run.stop.budget)
    count = f"{len(labour.fresh)} run{'s' * (len(labour.fresh) != 1)}"
    step = max(labour.steps.values(), default=0)
    how_far = f"{count} at step {step:,} of {run.stop.budget:,}" if step else f"{count}, starting"
    return labour.where or "waiting for a worker", how_far, " ".join(repr(run.task).split())


def clock(seconds: float) -> str:
    """A duration for people.

    Example:
        >>> clock(59), clock(3600), clock(200000)
        ('59 s', '60 min', '56 h')
    """
    for size, unit, least in ((3600, "h", 7200), (60, "min", 100)):
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
