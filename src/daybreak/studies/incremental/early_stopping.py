"""Beyond the paper: the whole context with early stopping against a short context from the start, on the same data.

A short context is the right bias where data are few. The paper suggests that early stopping chooses it by itself. In this study both are
trained on the same sequences, and each is given its best step.
"""

from typing import Any

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.models import MinimalAttention
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, TrainedData, select, verdict
from daybreak.studies.incremental._trained import changed, median_and_range, records, seeded
from daybreak.studies.incremental.fig5 import sized
from daybreak.tasks import MarkovChain
from daybreak.training import Record, Run

_SIZES, _WINDOWS = (200, 600, 2000), (2, 4, 0)  # lags of block 1, of blocks 1 and 2, all


def _runs(scale: Scale) -> list[Run]:
    sizes = (20, 40) if scale == "smoke" else _SIZES
    settings = [changed(sized(size), model={"window": window}) for size in sizes for window in _WINDOWS]
    return [run for setting in settings for run in seeded(setting, scale)]


def _tables(saved: list[Saved]) -> Tables:
    rows = [_row(*one) for one in records(saved)]
    best = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"best": best, "table": _mean(best)}


def _row(run: Run, record: Record, task: MarkovChain) -> dict[str, Any]:
    """A run at its end and at the step of least validation loss."""
    assert isinstance(run.model, MinimalAttention)  # noqa: S101
    excess = record.curves["kl"][:, -1]
    best = int(np.argmin(record.curves["clean_loss"]))
    return {
        "train": task.train,
        "window": run.model.window,
        "final_excess": excess[-1],
        "parted": _parted(record),
        "seed": run.seed,
        "budget": run.stop.budget,
        "best_step": record.steps[best],
        "best_excess": excess[best],
    }


def _parted(record: Record) -> float:
    """The step from which heads no longer attend to the same lags; the last step if they always do."""
    return measure.plateau(record.steps, measure.overlap(record.curves["lag_mass"][:, -1]), 0.9).length


def _mean(rows: Table) -> Table:
    """Excess loss at the best step and at the end, mean over seeds, for each size and context."""
    means = []
    for size in np.unique(rows["train"]):
        for window in _WINDOWS:
            chosen = select(rows, (rows["train"] == size) & (rows["window"] == window))
            means.append(
                (size, window, chosen["best_excess"].mean(), chosen["final_excess"].mean(), chosen["best_step"].mean())
            )
    names = ("train", "window", "best_excess", "final_excess", "best_step")
    return {name: np.array(column) for name, column in zip(names, zip(*means, strict=True), strict=True)}


def _judge(tables: Tables) -> Findings:
    rows = tables["best"]
    sizes = np.unique(rows["train"])
    losses = {
        size: {w: rows["best_excess"][(rows["train"] == size) & (rows["window"] == w)] for w in _WINDOWS}
        for size in sizes
    }
    costs = {size: loss[0] / np.minimum(loss[2], loss[4]) for size, loss in losses.items()}
    claims = (
        Claim(
            id="B-early-stopping",
            sentence="A model of the whole context, stopped at its best step, is as good as one with the best short context on "
            "the same data.",
            paper="suggested in §2.5, not measured",
            ours="; ".join(f"{size}: {median_and_range(x, '{:.2f}')}" for size, x in costs.items())
            + " times the excess loss",
            verdict=verdict(all(np.median(x) <= 1.05 for x in costs.values())),
            note="Minimal model, median (range) over seeds; both at the step of least validation loss, the short context the better "
            "of 2 and 4 lags. Holds if the median is at most 1.05 at every size. The table gives the means, and the "
            "loss without early stopping.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    figure, axes = pictures.panels(["at the best step", "at the end"])
    table, best = tables["table"], tables["best"]
    names = {2: "2 lags", 4: "4 lags", 0: "all"}
    for ax, column in zip(axes, ("best_excess", "final_excess"), strict=True):
        for window, colour, marker in zip(_WINDOWS, pictures.shades(3), pictures.MARKERS, strict=False):
            rows = select(table, table["window"] == window)
            seeds = [best[column][(best["train"] == size) & (best["window"] == window)] for size in rows["train"]]
            ranges = np.abs([[x.min() - mean, x.max() - mean] for x, mean in zip(seeds, rows[column], strict=True)]).T
            ax.errorbar(
                rows["train"],
                rows[column],
                ranges,
                fmt=f"{marker}-",
                color=colour,
                ms=4.5,
                capsize=3,
                label=names[window],
            )
        pictures.logarithmic(ax, table["train"], label="training sequences")
        ax.set(ylabel="excess loss (nats)", ylim=(0, None))
    axes[0].legend(title="context; mean and\nrange of seeds", title_fontsize=8)
    return figure


STUDY = Study(
    name="early-stopping",
    paper="incremental",
    title="Early stopping against a short context",
    minutes={"smoke": 0.2, "laptop": 30, "paper": 30},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
