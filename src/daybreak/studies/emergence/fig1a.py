"""Figure 1a: the loss of the reduced dynamics stays on a plateau and then drops sharply."""

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, stack, verdict

_T = 512
_HIGH, _LOW = 0.9, 0.2  # of the starting loss: where the drop begins and where the plateau counts as over


def _measure(scale: Scale) -> Tables:
    dimensions = (16, 64) if scale == "smoke" else (16, 64, 256)
    times = np.linspace(0, 1.3 * theory.plateau(_T, dimensions[-1]), 600)
    return {"curves": stack(*(_curve(d, times) for d in dimensions))}


def _curve(d: int, times: np.ndarray) -> Table:
    return {"d": np.full(times.size, d), "time": times, "loss": theory.flow(_T, d, times=times).loss}


def _judge(tables: Tables) -> Findings:
    curves = tables["curves"]
    fractions = []
    for d in np.unique(curves["d"]):
        rows = curves["d"] == d
        time, loss = curves["time"][rows], curves["loss"][rows]
        begin, end = (measure.plateau(time, loss, level=x / 2).length for x in (_HIGH, _LOW))
        fractions.append(begin / end)
    claim = Claim(
        id="A1a",
        sentence="The reduced dynamics show an initial plateau, then a sharp drop of the loss (T = 512, several d).",
        paper="seen in the plot",
        ours=f"the loss stays above 90 % of its start for at least {min(fractions):.0%} of the time it takes to fall to 20 %",
        verdict=verdict(min(fractions) >= 0.8),
        note="Holds if that fraction is at least 80 % for every d.",
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    figure, (ax,) = pictures.panels([f"reduced flow, T = {_T}"], width=4.2)
    curves = tables["curves"]
    values = np.unique(curves["d"])
    for d, colour in zip(values, pictures.shades(values.size), strict=True):
        rows = curves["d"] == d
        ax.plot(curves["time"][rows], curves["loss"][rows], color=colour, label=f"d = {d:g}")
    ax.axhline(_LOW / 2, color=pictures.NEUTRAL, lw=0.8, ls=":", label="plateau over")
    ax.set(xlabel="flow time", ylabel="loss", ylim=(0, None))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


STUDY = Study(
    name="fig1a",
    paper="emergence",
    title="Plateau and sharp drop of the reduced flow",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
