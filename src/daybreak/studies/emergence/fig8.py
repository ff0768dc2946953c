"""Figure 8: the equilibrium of w for a given attention, how w follows it, and the curvature of the loss along the flow."""

import numpy as np

from daybreak import pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Tables, stack, verdict

_T, _D = 512, 64


def _measure(scale: Scale) -> Tables:
    lengths = (64, 1024) if scale == "smoke" else (16, 64, 256, 1024, 4096)
    alpha = np.geomspace(1e-4, 1, 300)
    rests = [{"T": np.full(alpha.size, T), "alpha": alpha, "w": theory.w_equilibrium(alpha, T, _D)} for T in lengths]
    plateau = theory.plateau(_T, _D)
    line = theory.flow(_T, _D, times=np.linspace(0, 3 * plateau, 3000))
    smallest, largest = theory.sharpness(line)
    curve = {
        "time": line.t,
        "after": line.t / plateau,
        "w": line.w,
        "w_rest": theory.w_equilibrium(line.alpha, _T, _D),
        "smallest": smallest,
        "largest": largest,
    }
    return {"equilibrium": stack(*rests), "curve": curve}


def _judge(tables: Tables) -> Findings:
    curve, rests = tables["curve"], tables["equilibrium"]
    late = curve["after"] >= 1.1
    gap = np.abs(curve["w"][late] / curve["w_rest"][late] - 1).max()
    sharpest = curve["after"][np.argmax(curve["largest"])]
    over = {T: rests["w"][rests["T"] == T].max() / np.sqrt(_D) for T in np.unique(rests["T"])}
    peaks = list(over.values())
    claims = (
        Claim(
            id="A8-left",
            sentence="For little attention the equilibrium of w lies far above √d, and further for longer sequences.",
            paper="seen in the plot",
            ours="largest w∞/√d: " + ", ".join(f"{x:.1f} (T = {T:g})" for T, x in over.items()),
            verdict=verdict(peaks == sorted(peaks) and peaks[0] > 1),
        ),
        Claim(
            id="A8-middle",
            sentence="After the transition w follows its equilibrium w∞(α) (T = 512, d = 64).",
            paper="seen in the plot",
            ours=f"from 1.1 plateaus on, w is within {gap:.1%} of w∞",
            verdict=verdict(gap <= 0.02),
            note="Holds if it stays within 2 % from 1.1 plateaus on.",
        ),
        Claim(
            id="A8-right",
            sentence="The loss is sharpest at the transition.",
            paper="seen in the plot",
            ours=f"the largest Hessian eigenvalue peaks at {sharpest:.3f} of the plateau",
            verdict=verdict(abs(sharpest - 1) <= 0.05),
            note="Holds if the peak lies within 5 % of the end of the plateau. The Hessian is the corrected one (docs/guides/theory.md).",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    titles = [f"equilibrium w∞(α), d = {_D}", f"w along the flow, T = {_T}", "Hessian along the flow"]
    figure, (left, middle, right) = pictures.panels(titles)
    rests, curve = tables["equilibrium"], tables["curve"]
    values = np.unique(rests["T"])
    for T, colour in zip(values, pictures.shades(values.size), strict=True):
        rows = rests["T"] == T
        left.plot(rests["alpha"][rows], rests["w"][rows], color=colour, label=f"T = {T:g}")
    left.axhline(np.sqrt(_D), color=pictures.NEUTRAL, lw=0.8, ls=":", label="√d")
    left.set(xscale="log", yscale="log", xlabel="α", ylabel="w∞")
    left.legend()
    middle.plot(curve["time"], curve["w"], color=pictures.OURS, label="w")
    middle.plot(curve["time"], curve["w_rest"], "--", color=pictures.PAPER, label="w∞(α)")
    middle.set(xlabel="flow time", ylim=(0, 2.2 * np.sqrt(_D)))
    middle.legend()
    right.plot(curve["time"], curve["largest"], color=pictures.OURS, label="largest")
    right.plot(curve["time"], curve["smallest"], "--", color=pictures.PAPER, label="smallest")
    right.set_yscale("symlog", linthresh=1e-4)
    right.set(xlabel="flow time", ylabel="eigenvalue")
    right.legend()
    return figure


STUDY = Study(
    name="fig8",
    paper="emergence",
    title="Equilibrium of w, and curvature along the flow",
    minutes={"smoke": 0.1, "laptop": 0.1, "paper": 0.1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
