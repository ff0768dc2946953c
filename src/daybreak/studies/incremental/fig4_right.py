"""Figure 4 right: the less the blocks differ in importance, the fewer and the more blurred the stages."""

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies._study import Findings, Scale, Study, Tables, Training, select
from daybreak.studies.incremental._picture import over_seeds as draw_seeds
from daybreak.studies.incremental._trained import (
    MINIMAL,
    changed,
    curves,
    records,
    seeded,
    stages,
    without_heads,
)
from daybreak.training import Run

_RATIOS = (1.0, 1.3, 1.5, 1.7)


def _runs(scale: Scale) -> list[Run]:
    return [run for m in _RATIOS for run in seeded(changed(MINIMAL, task={"m": m}), scale)]


def _tables(saved: list[Saved]) -> Tables:
    ratios = [task.m for _, _, task in records(saved)]
    return {"curves": without_heads(curves(saved, m=ratios)), "stages": stages(saved, m=ratios)}


def _judge(tables: Tables) -> Findings:
    rows = tables["stages"]
    found = {m: rows["plateaus"][rows["m"] == m] for m in _RATIOS}
    ordered = {m: rows["in_order"][rows["m"] == m] for m in _RATIOS}
    return Findings(())


def _draw(tables: Tables, findings: Findings):
    figure, axes = pictures.panels([f"m = {m:g}" for m in _RATIOS], width=3.0, height=2.6)
    for ax, m in zip(axes, _RATIOS, strict=True):
        draw_seeds(ax, select(tables["curves"], tables["curves"]["m"] == m), "excess")
    axes[0].set(ylabel="excess loss")
    return figure


STUDY = Study(
    name="b-fig4-right",
    paper="incremental",
    title="Minimal model: ratio of importance",
    minutes={"smoke": 0.2, "laptop": 20, "paper": 20},
    measure=Training(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
