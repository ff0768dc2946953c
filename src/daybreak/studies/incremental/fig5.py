"""Figure 5: the fewer training sequences, the fewer stages before the model overfits.

Criteria by the one rule for stages, 2026-11-18, before the campaign: the stage of the best model is the one that began last before the
step of least validation loss. B5 holds if the median over seeds is the paper's at each size; B5-fewer, if the medians never fall with
more data and the last is above the first.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, TrainedData, select, verdict
from daybreak.studies.incremental._picture import plot_all
from daybreak.studies.incremental._trained import (
    MINIMAL,
    changed,
    curves,
    median_and_range,
    records,
    seeded,
    stages,
    to_be_confirmed,
    without_heads,
)
from daybreak.training import Run

_SIZES = (200, 600, 2000, 9000, 0)  # 0: fresh sequences
_STAGES = {600: 1, 2000: 2, 9000: 3, 0: 3}  # of the best model, read off the paper's figure


def sized(size: int) -> Run:
    """The published run on a training set of some size; the batch is the whole set if it is smaller than a batch."""
    return changed(MINIMAL, task={"train": size}, batch=min(MINIMAL.batch, size or MINIMAL.batch))


def name(size: float) -> str:
    """The label of a training-set size."""
    return f"{size:g}" if size else "online"


def _runs(scale: Scale) -> list[Run]:
    sizes = (20, 0) if scale == "smoke" else _SIZES
    return [run for size in sizes for run in seeded(sized(size), scale)]


def _tables(saved: list[Saved]) -> Tables:
    sizes = [task.train for _, _, task in records(saved)]
    return {"curves": without_heads(curves(saved, train=sizes))}


def _judge(tables: Tables) -> Findings:
    lines = tables["curves"]
    rows = stages(lines, "train")
    sizes = sorted(set(rows["train"].tolist()), key=lambda size: size or np.inf)
    best = {size: rows["best_stage"][rows["train"] == size] for size in sizes}
    middles = [float(np.median(best[size])) for size in sizes]
    small = sizes[0]
    ends = [lines["excess"][(lines["train"] == small) & (lines["seed"] == s)][-1] for s in np.unique(lines["seed"])]
    least = rows["best_excess"][rows["train"] == small]
    overfit = np.array(ends) / least
    claims = (
        Claim(
            id="B5",
            sentence="The fewer training sequences, the fewer stages: the best model is at stage 1 with about 600, 2 with 2 000, 3 "
            "with 9 000 and online.",
            paper="600: 1, 2000: 2, 9000: 3, online: 3",
            ours="; ".join(f"{name(size)}: {', '.join(map(str, best[size]))}" for size in sizes),
            verdict=verdict(all(np.median(best[size]) == stage for size, stage in _STAGES.items() if size in best)),
            note=f"Minimal model, {len(ends)} seeds, one number each: the stage at the step of least validation loss. Holds if the median "
            f"is the paper's at each of the four.{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B5-fewer",
            sentence="The stage that the best model reaches does not fall with more data.",
            paper="seen in the plot",
            ours=", ".join(f"{name(size)}: {middle:g}" for size, middle in zip(sizes, middles, strict=True)),
            verdict=verdict(bool(np.all(np.diff(middles) >= 0)) and middles[0] < middles[-1]),
            note=f"Medians over seeds. Holds if they never fall and the last is above the first.{to_be_confirmed(rows)}",
        ),
        Claim(
            id="B5-overfits",
            sentence="After its best step a model trained on little data overfits.",
            paper="seen in the plot",
            ours=f"{name(small)} sequences: the excess loss at the end is {median_and_range(overfit, '{:.1f}')} times "
            "that at the best step",
            verdict=verdict(float(np.median(overfit)) > 1.1),
            note="Holds if the median is above 1.1.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    lines = tables["curves"]
    rows = stages(lines, "train")
    sizes = sorted(set(lines["train"].tolist()), key=lambda size: size or np.inf)
    best = {size: select(rows, rows["train"] == size) for size in sizes}
    titles = [f"{_sequences(size)}: best at stage {np.median(best[size]['best_stage']):g}" for size in sizes]
    figure, axes = pictures.panels([*titles, *map(_sequences, sizes)], columns=len(sizes), width=3.0, height=2.8)
    colours = pictures.shades(3)
    for i, size in enumerate(sizes):
        some = select(lines, lines["train"] == size)
        above, below = axes[i], axes[len(sizes) + i]
        plot_all(above, some, "excess", pictures.NEUTRAL, "median of seeds")
        middle = float(np.median(best[size]["best_step"]))
        above.axvline(middle, color=pictures.NEUTRAL, lw=0.8, ls=":", label="median best step")
        for stage, colour in enumerate(colours, 1):
            at = best[size]["best_stage"] == stage
            points = (best[size]["best_step"][at], best[size]["best_excess"][at])
            above.plot(*points, "o", color=colour, ms=6, mec="white", zorder=3, label=f"best step, stage {stage}")
        for n, colour in enumerate(colours):
            plot_all(below, some, f"kl_{n + 1}", colour, f"n = {n + 1}")
        below.axvline(middle, color=pictures.NEUTRAL, lw=0.8, ls=":")
        for ax in (above, below):
            ax.set(ylim=(0, 1.5 * lines["excess"][0]))
    axes[0].set(ylabel="excess loss (nats)")
    axes[len(sizes)].set(ylabel="divergence from p⁽ⁿ⁾ (nats)")
    axes[-1 - len(sizes)].legend()
    axes[-1].legend()
    return figure


def _sequences(size: float) -> str:
    return f"{size:g} sequences" if size else "fresh sequences"


STUDY = Study(
    name="b-fig5",
    paper="incremental",
    title="Minimal model: how much data",
    minutes={"smoke": 0.2, "laptop": 20, "paper": 20},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
