"""Which runs are shown and how: the state of the runs view, and what its buttons do to it."""

from dataclasses import dataclass, replace
from typing import Literal, final

from daybreak.errors import RequestError
from daybreak.explorer import figures
from daybreak.explorer.controls import Slider

SLIDERS = {
    "smooth": Slider("Average over evaluations", 1, 21, 2),
    "share": Slider("Attention of each head at this fraction of the run", 0, 100, 1, form="{:g} %"),
}


@final
@dataclass(frozen=True)
class RunsState:
    """What the view shows: which runs, in which order, which of them as curves, and how these are drawn."""

    where: str = ""
    sort: str = ""
    page: int = 1
    runs: tuple[str, ...] = ()
    curve: Literal["clean_loss", "train_loss", "clean_accuracy", "train_accuracy"] = "clean_loss"
    scale: Literal["log", "linear"] = "log"
    smooth: int = 1
    share: int = 100

    def __post_init__(self) -> None:
        for name, slider in SLIDERS.items():
            slider.check(name, getattr(self, name))
        if len(self.runs) > figures.SERIES:
            raise RequestError(f"{len(self.runs)} runs are not allowed: at most {figures.SERIES} can be picked.")


def pressed(now: RunsState, what: str, which: str) -> RunsState:
    """The state after a button: sort by a column or reverse the order, pick a run or remove it, turn a page."""
    match what:
        case "sort":
            return replace(now, sort=f"-{which}" if now.sort == which else which, page=1)
        case "pick" if which in now.runs:
            return replace(now, runs=tuple(x for x in now.runs if x != which))
        case "pick":
            return replace(now, runs=(*now.runs, which)[-figures.SERIES :])
        case "turn":
            return replace(now, page=now.page + (1 if which == "on" else -1))
    return now
