"""Figure 1b: the weights move before attention does."""

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, verdict

_T, _D = 512, 64
_FRACTION = 0.1  # of the final value: when a variable counts as moving


def _measure(scale: Scale) -> Tables:
    line = theory.flow(_T, _D)
    return {"curve": {"time": line.t, "w": line.w, "alpha": line.alpha, "loss": line.loss}}


def _judge(tables: Tables) -> Findings:
    curve = tables["curve"]
    w = measure.plateau(curve["time"], curve["w"], level=_FRACTION * np.sqrt(_D), direction="up").length
    alpha = measure.plateau(curve["time"], curve["alpha"], level=_FRACTION, direction="up").length
    claim = Claim(
        id="A1b",
        sentence="The weights w begin to learn before attention α to the relevant token does (T = 512, d = 64).",
        paper="seen in the plot",
        ours=f"w reaches a tenth of its final value at time {w:.0f}, α at {alpha:.0f}",
        verdict=verdict(w < alpha),
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    figure, (ax,) = pictures.panels([f"weights before attention, T = {_T}, d = {_D}"], width=4.2)
    curve = tables["curve"]
    ax.plot(curve["time"], curve["w"] / np.sqrt(_D), color=pictures.PAPER, label="w / √d")
    ax.plot(curve["time"], curve["alpha"], color=pictures.OURS, label="α")
    ax.axhline(1, color=pictures.NEUTRAL, lw=0.8, ls="--", label="optimum")
    ax.set(xlabel="flow time", ylim=(0, None))
    ax.legend()
    return figure


STUDY = Study(
    name="fig1b",
    paper="emergence",
    title="Weights learn before attention",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
