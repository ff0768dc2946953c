"""`daybreak train --log`: what is measured goes to a tracker while runs train, and the rest when they are done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daybreak.cli._answer import check_new_folder

if TYPE_CHECKING:
    from daybreak.lab import Lab
    from daybreak.lab.compute.state import State
    from daybreak.training import Run
    from daybreak.watch.trackers import Tracker

LogOption = Annotated[
    tuple[str, ...],
    tyro.conf.arg(
        metavar="TRACKER",
        help="Also log clean loss, clean accuracy and attention of each run: tensorboard:DIR, or wandb:PROJECT, trackio:PROJECT, "
        "mlflow:EXPERIMENT where these are installed. Nothing but the tracker that you name sends anything anywhere.",
    ),
]


def trackers(log: Sequence[str]) -> "list[Tracker]":
    """The trackers that were asked for; refuses one that is not there."""
    from daybreak.watch.trackers import Tracker

    opened = [Tracker(text) for text in log]
    for one in opened:
        if one.folder is not None:
            check_new_folder("log", one.folder)
    return opened


@contextmanager
def logging(
    opened: "list[Tracker]", runs: "Sequence[Run]", lab: "Lab", on_change: Callable[[Any], None]
) -> Iterator[Callable[[Any], None]]:
    """What to call with each new state: `on_change`, and the trackers. In the end they get what they have not seen, and are closed."""
    from daybreak.lab import index
    from daybreak.training import to_json

    settings = {run.id: {k: v for k, v in index.settings(to_json(run)).items() if v is not None} for run in runs}

    def change(state: "State") -> None:
        on_change(state)
        for assignment in state.under_way.values():
            for name, status in assignment.statuses.items():
                values = {"clean_loss": status.loss, "clean_accuracy": status.accuracy, "attention": status.attention}
                there = {key: x for key, x in values.items() if x is not None}
                for one in opened:
                    one.log(name, settings[name], there, status.step)

    try:
        for one in opened:
            for run in runs:
                if one.folder is None:
                    one.open(run.id, settings[run.id])
        yield change if opened else on_change
        for one in opened:
            for run in runs:
                for step, values in _rows(lab, run.id):
                    one.log(run.id, settings[run.id], values, step)
    finally:
        for one in opened:
            one.close()


def _rows(lab: "Lab", name: str) -> Iterator[tuple[int, dict[str, float]]]:
    """The same numbers of every evaluation of a run that is done."""
    record = lab.load(name).record
    if record is None:
        return
    heads = record.curves["attention"].reshape(len(record.steps), -1)
    curves = {name: record.curves[name] for name in ("clean_loss", "clean_accuracy") if name in record.curves}
    if heads.shape[1]:
        curves["attention"] = heads.max(axis=1)
    for i, step in enumerate(record.steps.tolist()):
        yield step, {key: float(x[i]) for key, x in curves.items()}
