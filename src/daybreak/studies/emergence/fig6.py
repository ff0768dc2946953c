"""Figure 6: the loss landscape over (w, Δa), and the flow line across it."""

import numpy as np

from daybreak import pictures, theory
from daybreak.pictures.portrait import landscape
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, verdict

_T, _D = 256, 64


def _measure(scale: Scale) -> Tables:
    line = theory.flow(_T, _D, times=np.linspace(0, 3 * theory.plateau(_T, _D), 900))
    return {"curve": {"time": line.t, "w": line.w, "delta_a": line.delta_a, "loss": line.loss}}


def _judge(tables: Tables) -> Findings:
    curve = tables["curve"]
    peak, end, rest = curve["w"].max(), curve["w"][-1], np.sqrt(_D)
    downhill = bool(np.all(np.diff(curve["loss"]) <= 1e-12))
    claim = Claim(
        id="A6",
        sentence="The flow crosses a flat region around the start, falls, and then w returns towards √d while Δa grows.",
        paper="seen in the plot (T = 256, d = 64)",
        ours=f"w peaks at {peak:.2f}, above √d = {rest:.0f}, and returns to {end:.2f} at the end; the loss only falls: {downhill}",
        verdict=verdict(downhill and peak > 1.01 * rest and rest < end < peak),
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    figure, (ax,) = pictures.panels([f"loss landscape, T = {_T}, d = {_D}"], width=4.4, height=3.4)
    setting = theory.flow(_T, _D, times=[0, 1]).setting
    landscape(ax, tables["curve"]["w"], tables["curve"]["delta_a"], setting)
    return figure


STUDY = Study(
    name="fig6",
    paper="emergence",
    title="Loss landscape with the flow line",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
