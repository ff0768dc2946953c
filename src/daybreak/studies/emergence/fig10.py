"""Figure 10: with cross-sample repetition the repeated direction is learned first, then attention, then the rest."""

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, stack, verdict

_T, _D = 512, 64
_HALF = 0.5


def _measure(scale: Scale) -> Tables:
    probabilities = (0.0, 0.2) if scale == "smoke" else (0.0, 0.1, 0.2, 0.5)
    times = np.linspace(0, 1.2 * theory.plateau(_T, _D), 1500)
    return {"curves": stack(*(_curve(p, times) for p in probabilities))}


def _curve(p: float, times: np.ndarray) -> Table:
    line = theory.flow(_T, _D, p=p, times=times)
    return {
        "p": np.full(times.size, p),
        "time": times,
        "clean_loss": line.clean_loss,
        "w_tilde": line.w_tilde,
        "w_rest": line.w_rest / np.sqrt(_D - 1),
        "alpha": line.alpha,
    }


def _judge(tables: Tables) -> Findings:
    curves = tables["curves"]
    rises, lengths = {}, []
    for p in np.unique(curves["p"]):
        rows = curves["p"] == p
        time = curves["time"][rows]
        lengths.append(measure.plateau(time, curves["clean_loss"][rows], level=0.1).length)
        if p > 0:
            at = [
                measure.plateau(time, curves[x][rows], level=_HALF, direction="up").length
                for x in ("w_tilde", "alpha", "w_rest")
            ]
            rises[p] = at
    ordered = all(a < b < c for a, b, c in rises.values())
    text = "; ".join(f"p = {p:g}: w̃ {a:.0f}, α {b:.0f}, w {c:.0f}" for p, (a, b, c) in rises.items())
    claims = (
        Claim(
            id="A10",
            sentence="The repeated direction w̃ is learned first, then attention α, then the other directions w (T = 512, d = 64).",
            paper="seen in the plot",
            ours=f"time at which each reaches half of its final value: {text}",
            verdict=verdict(ordered),
        ),
        Claim(
            id="A10-faster",
            sentence="Learning is faster overall, also on clean data.",
            paper="seen in the plot",
            ours="clean plateaus: "
            + ", ".join(f"{n:.0f} (p = {p:g})" for p, n in zip(np.unique(curves["p"]), lengths, strict=True)),
            verdict=verdict(lengths == sorted(lengths, reverse=True)),
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    figure, (loss, weights, attention) = pictures.panels(["clean loss", "weights", "attention α"])
    values = np.unique(curves["p"])
    for p, colour in zip(values, pictures.shades(values.size), strict=True):
        rows = curves["p"] == p
        time = curves["time"][rows]
        loss.plot(time, curves["clean_loss"][rows], color=colour)
        weights.plot(time, curves["w_rest"][rows], color=colour)
        weights.plot(time, curves["w_tilde"][rows], "--", color=colour)
        attention.plot(time, curves["alpha"][rows], color=colour, label=f"p = {p:g}")
    weights.plot([], [], "--", color=pictures.NEUTRAL, label="w̃, repeated")
    weights.plot([], [], color=pictures.NEUTRAL, label="w / √(d−1), others")
    for ax in (loss, weights, attention):
        ax.set(xlabel="flow time", ylim=(0, None))
    attention.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    weights.legend()
    return figure


STUDY = Study(
    name="fig10",
    paper="emergence",
    title="Cross-sample repetition: what is learned first",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
