"""Figure 7: the early flow against its linearisation."""

import numpy as np

from daybreak import pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, stack, verdict

_D = 512


def _measure(scale: Scale) -> Tables:
    lengths = (64, 1024) if scale == "smoke" else (64, 256, 1024, 4096)
    return {"curves": stack(*(_curve(T) for T in lengths))}


def _curve(T: int) -> Table:
    plateau = theory.plateau(T, _D)
    times = np.linspace(0, plateau, 300)
    line, linear = theory.flow(T, _D, times=times), theory.linearised(times, T, _D)
    flow = {"w": line.w, "delta_a": line.delta_a, "loss": line.loss}
    straight = {"w_linear": linear.w, "delta_a_linear": linear.delta_a, "loss_linear": linear.loss}
    return {"T": np.full(times.size, T), "time": times, "share": times / plateau, **flow, **straight}


def _judge(tables: Tables) -> Findings:
    curves = tables["curves"]
    lasts = {}
    for T in np.unique(curves["T"]):
        rows = (curves["T"] == T) & (curves["time"] > 0)
        off = np.abs(curves["w_linear"][rows] / curves["w"][rows] - 1)
        lasts[T] = curves["share"][rows][np.argmax(off > 0.1)] if np.any(off > 0.1) else 1.0
    claim = Claim(
        id="A7",
        sentence="Early in learning the flow follows its linearisation, w = sinh λt and Δa = cosh λt − 1 (d = 512).",
        paper="seen in the plot",
        ours="w stays within 10 % of it for "
        + ", ".join(f"{x:.0%} (T = {T:g})" for T, x in lasts.items())
        + " of the plateau",
        verdict=verdict(min(lasts.values()) >= 0.5),
        note="Holds if that is at least half of the plateau at every T.",
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    names = {"w": "w", "delta_a": "Δa", "loss": "loss"}
    figure, axes = pictures.panels([f"{label}, d = {_D}" for label in names.values()])
    values = np.unique(curves["T"])
    for T, colour in zip(values, pictures.shades(values.size), strict=True):
        rows = curves["T"] == T
        for ax, name in zip(axes, names, strict=True):
            ax.plot(curves["share"][rows], curves[name][rows], color=colour, label=f"T = {T:g}")
            ax.plot(curves["share"][rows], curves[f"{name}_linear"][rows], "--", color=colour)
    for ax, limits in zip(axes, ((0, 4), (0, 4), (0.4, 0.51)), strict=True):
        ax.set(xlabel="flow time / plateau", ylim=limits)
    axes[0].plot([], [], "--", color=pictures.NEUTRAL, label="linearised")
    axes[0].legend()
    return figure


STUDY = Study(
    name="fig7",
    paper="emergence",
    title="Early flow against its linearisation",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
