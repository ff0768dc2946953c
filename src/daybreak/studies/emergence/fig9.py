"""Figure 9: stochastic gradient descent of the whole toy model follows the reduced flow."""

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, verdict

_LEVEL = 0.1
_NAMES = ("loss", "alpha", "w")


def _measure(scale: Scale) -> Tables:
    T = d = 32 if scale == "smoke" else 256
    every = 5 if scale == "smoke" else 25
    steps = every * int(1.8 * theory.plateau(T, d) / every)
    descent = theory.sgd(T, d, seeds=5, steps=steps, every=every, batch=32, learning_rate=1.0)
    line = theory.flow(T, d, times=descent.steps)
    mean = theory.sgd_limit(T, d, times=descent.steps, w_start=descent.w[:, 0].mean())
    own = theory.sgd_limit(T, d, times=descent.steps, w_start=descent.w[:, 0])
    runs: Table = {"seed": np.repeat(np.arange(5), descent.steps.size), "step": np.tile(descent.steps, 5)}
    for name in _NAMES:
        runs |= {name: getattr(descent, name).ravel(), f"{name}_flow": getattr(own, name).ravel()}
    size = {"T": np.full(line.t.size, T), "d": np.full(line.t.size, d)}
    flow: Table = {"step": descent.steps, **size}
    for name in _NAMES:
        flow |= {name: getattr(line, name), f"{name}_mean_start": getattr(mean, name)[0]}
    return {"sgd": runs, "flow": flow}


def _judge(tables: Tables) -> Findings:
    runs, flow = tables["sgd"], tables["flow"]
    steps = flow["step"]
    seeds, own = (runs[name].reshape(-1, steps.size) for name in ("loss", "loss_flow"))
    lengths, predicted = ([measure.plateau(steps, x, level=_LEVEL) for x in y] for y in (seeds, own))
    censored = sum(x.censored for x in lengths)
    low, high = min(x.length for x in lengths), max(x.length for x in lengths)
    expected = measure.plateau(steps, flow["loss"], level=_LEVEL).length
    inside = [_share_inside(runs, flow, name, name) for name in _NAMES]
    within = [_share_inside(runs, flow, name, f"{name}_mean_start") for name in _NAMES]
    strictly = [_share_inside(runs, flow, name, f"{name}_mean_start", widening=0.0) for name in _NAMES]
    errors = [abs(a.length / b.length - 1) for a, b in zip(predicted, lengths, strict=True)]
    where = f"T = d = {flow['T'][0]}, 5 seeds, {censored} censored"
    claims = (
        Claim(
            id="A9",
            sentence="SGD on the original objective (batch 32, learning rate 1, random W and W*) follows the reduced flow.",
            paper="seen in the plot (T = d = 256, 5 seeds)",
            ours=f"plateaus of the seeds {low:.0f} to {high:.0f} steps, of the flow {expected:.0f}; the flow is between the lowest and "
            f"the highest seed for {inside[0]:.0%} (loss), {inside[1]:.0%} (α) and {inside[2]:.0%} (w) of the steps",
            verdict=verdict(not censored and low <= expected <= high and min(inside) >= 0.9),
            note=f"{where}. Holds if the flow's plateau lies among the seeds' and each curve is in their band for 90 % of the "
            "steps; the band is widened by 1 % of the largest value. The flow starts at W = 0, the seeds do not: see A9-start.",
        ),
        Claim(
            id="A9-start",
            sentence="Started where a seed starts, with the random part of W kept, the reduced flow predicts each seed.",
            paper="ours, not the paper's",
            ours=f"plateaus off by {max(errors):.1%} at most, {np.median(errors):.1%} in the median; from the seeds' mean start it is in "
            f"their band for {within[0]:.0%} (loss), {within[1]:.0%} (α) and {within[2]:.0%} (w) of the steps",
            verdict=verdict(not censored and max(errors) <= 0.05 and min(within) >= 0.9),
            note=f"{where}. Holds if every plateau is predicted within 5 % and the mean flow is in the widened band for 90 % of the "
            f"steps; it is in the band without widening for {strictly[0]:.0%}, {strictly[1]:.0%} and {strictly[2]:.0%}.",
        ),
    )
    return Findings(claims)


def _share_inside(runs: Table, flow: Table, name: str, line: str, widening: float = 0.01) -> float:
    curves = runs[name].reshape(-1, flow["step"].size)
    slack = widening * curves.max()  # after the transition the seeds coincide, and a band of no width says nothing
    inside = (curves.min(axis=0) - slack <= flow[line]) & (flow[line] <= curves.max(axis=0) + slack)
    return float(inside.mean())


def _draw(tables: Tables, findings: Findings):
    runs, flow = tables["sgd"], tables["flow"]
    labels = {"loss": "loss", "alpha": "attention α", "w": "projection w"}
    figure, axes = pictures.panels(list(labels.values()))
    for ax, name in zip(axes, labels, strict=True):
        for seed in np.unique(runs["seed"]):
            rows = runs["seed"] == seed
            first = seed == 0
            ax.plot(
                runs["step"][rows],
                runs[name][rows],
                color=pictures.OURS,
                lw=1.2,
                label="SGD, 5 seeds" if first else None,
            )
            own = runs[f"{name}_flow"][rows]
            ax.plot(
                runs["step"][rows], own, ":", color=pictures.PAPER, lw=1.4, label="flow from its W" if first else None
            )
        ax.plot(flow["step"], flow[name], "--", color="black", lw=1.4, label="flow from W = 0")
        ax.set(xlabel="step", ylim=(min(0, runs[name].min()), None))
    axes[0].legend(loc="lower left")
    return figure


STUDY = Study(
    name="fig9",
    paper="emergence",
    title="SGD of the toy model against the reduced flow",
    minutes={"smoke": 0.2, "laptop": 1, "paper": 1},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
