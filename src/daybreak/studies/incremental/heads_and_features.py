"""Beyond the paper: fewer or more heads than patterns, and correlated features."""

import numpy as np

from daybreak import pictures, theory
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, select, stack, verdict

_STRENGTHS = 1.7 ** np.arange(2.0, -1.0, -1.0)
_T, _EPS = 8, 1e-6
_PAIR, _PAIR_T, _PAIR_HEADS = [2.0, 1.0], 6, 2
_NEGATIVE = -0.2


def _measure(scale: Scale) -> Tables:
    small = scale == "smoke"
    counts = (1, 2, 3, 4) if small else (1, 2, 3, 4, 6, 8)
    correlations = (-0.2, 0.0, 0.3) if small else (-0.4, -0.2, -0.1, 0.0, 0.1, 0.2, 0.4, 0.6)
    noise = np.array([1e-6, 1e-9] if small else [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
    return {
        "heads": stack(*(_with_heads(H) for H in counts)),
        "correlated": stack(*(_plateau(g) for g in correlations)),
        "noise": {
            "eps": noise,
            "orthogonal": np.array([_second(0.0, eps) for eps in noise]),
            "negative": np.array([_second(_NEGATIVE, eps) for eps in noise]),
        },
    }


def _with_heads(H: int) -> Table:
    """Loss over time for a number of heads."""
    task = theory.patterns(_STRENGTHS, T=_T)
    start = np.pad(np.random.default_rng(0).uniform(-_EPS, _EPS, (H, task.K)), [(0, 0), (0, _T - task.K)])
    times = np.append(0.0, np.geomspace(0.1, 3e4, 400))
    line = theory.head_flow(task, H, start=start, times=times)
    return {"heads": np.full(times.size, H), "time": times, "loss": line.loss}


def _pair(g: float) -> theory.Patterns:
    return theory.patterns(_PAIR, T=_PAIR_T, gram=[[1, g], [g, 1]])


def _plateau(g: float) -> Table:
    """The loss at which equal heads stay, and what they then attend to."""
    line = theory.head_flow(_pair(g), _PAIR_HEADS, eps=0, times=[0, 1e6])
    levels = theory.plateau_levels(_pair(g))
    mass = {f"block{k + 1}": line.mass[-1:, 0, k] for k in (0, 1)}
    return {"correlation": np.array([g]), "plateau": line.loss[-1:], "closed": levels[1:2]} | mass


def _second(g: float, eps: float) -> float:
    """Second transition of two heads on two correlated patterns."""
    noise = np.random.default_rng(0).uniform(-eps, eps, (_PAIR_HEADS, 2))
    start = np.pad(noise, [(0, 0), (0, _PAIR_T - 2)])
    times = np.append(0.0, np.geomspace(1, 1e7, 4000))
    return float(theory.head_flow(_pair(g), _PAIR_HEADS, start=start, times=times).transitions[1])


def _judge(tables: Tables) -> Findings:
    heads, correlated, noise = tables["heads"], tables["correlated"], tables["noise"]
    levels = theory.plateau_levels(theory.patterns(_STRENGTHS, T=_T))
    counts = np.unique(heads["heads"]).tolist()
    ends = {H: heads["loss"][heads["heads"] == H][-1] for H in counts}
    goals = {H: levels[min(H, _STRENGTHS.size)] for H in counts}
    seconds = {H: _crossing(select(heads, heads["heads"] == H), levels[1:3].mean()) for H in counts if H > 1}
    off = correlated["plateau"] / correlated["closed"] - 1
    local = {
        x: np.log(noise[x][-1] / noise[x][-2]) / np.log(noise["eps"][-2] / noise["eps"][-1])
        for x in ("orthogonal", "negative")
    }
    predicted = _exponent(_NEGATIVE)
    claims = (
        Claim(
            id="B-heads",
            sentence="H heads learn the H most important patterns and stop: the flow ends on plateau L_H, at zero from H = K on.",
            paper="ours, not the paper's",
            ours="end of the flow: " + ", ".join(f"{ends[H]:.3f} for {goals[H]:.3f} (H = {H})" for H in counts),
            verdict=verdict(all(abs(ends[H] - goals[H]) <= 0.005 * levels[0] for H in counts)),
            note=f"K = 3, m = 2.89, 1.7, 1, T = {_T}, ε = {_EPS:g}, flow time 3e4. Holds if the loss at the end is "
            "within 0.5 % of the initial loss from that plateau.",
        ),
        Claim(
            id="B-heads-more",
            sentence="More heads than patterns still help: the second transition is earlier with every further head.",
            paper="ours, not the paper's",
            ours="second transition: " + ", ".join(f"{t:.0f} (H = {H})" for H, t in seconds.items()),
            verdict=verdict(bool(np.all(np.diff(list(seconds.values())) < 0))),
            note="The closed form falls as 1/H.",
        ),
        Claim(
            id="B-correlated",
            sentence="Positively correlated features lower the first plateau, to the largest singular value; "
            "negatively correlated ones do not change it.",
            paper="ours, not the paper's",
            ours=f"equal heads stay within {np.abs(off).max():.0e} of the closed form for correlations "
            f"{correlated['correlation'].min():g} to {correlated['correlation'].max():g}",
            verdict=verdict(np.abs(off).max() <= 0.01),
            note=f"K = 2, m = 2, 1, T = {_PAIR_T}, flow time 1e6. Holds within 1 %. With a positive correlation each head "
            "attends to both blocks.",
        ),
        Claim(
            id="B-correlated-negative",
            sentence="Negatively correlated features make the plateau a power of 1/ε, so that small noise acts like none.",
            paper="ours, not the paper's",
            ours=f"d ln t / d ln 1/ε at the least noise: {local['negative']:.2f} for correlation {_NEGATIVE:g} "
            f"(closed form {predicted:.2f}), {local['orthogonal']:.2f} for none",
            verdict=verdict(local["negative"] >= 0.9 * predicted and local["negative"] >= 2 * local["orthogonal"]),
            note=f"K = H = 2, m = 2, 1, T = {_PAIR_T}. Holds if it is at least nine tenths of the closed form, which it "
            "approaches from above, "
            "and twice that of orthogonal features, which goes to zero.",
        ),
    )
    return Findings(claims)


def _exponent(g: float) -> float:
    """Power of 1/ε with which the first plateau of negatively correlated unit blocks lasts (docs/guides/incremental.md)."""
    return float(2 / (np.sqrt(1 + 2 * _PAIR_HEADS**2 / (_PAIR[0] * g) ** 2) - 1))


def _crossing(curve: Table, level: float) -> float:
    return float(np.interp(-level, -curve["loss"], curve["time"]))


def _draw(tables: Tables, findings: Findings):
    titles = ["heads for three patterns", "correlated features: first plateau", "and how long it lasts"]
    figure, (left, middle, right) = pictures.panels(titles)
    heads, correlated, noise = tables["heads"], tables["correlated"], tables["noise"]
    counts = np.unique(heads["heads"])
    for H, colour in zip(counts, pictures.shades(counts.size), strict=True):
        rows = select(heads, (heads["heads"] == H) & (heads["time"] > 0))
        left.plot(rows["time"], rows["loss"], color=colour, label=f"H = {H}")
    for n, level in enumerate(theory.plateau_levels(theory.patterns(_STRENGTHS, T=_T))):
        left.axhline(level, color=pictures.NEUTRAL, lw=0.7, ls=":")
        left.annotate(f"$L_{n}$", (0.1, level), color=pictures.NEUTRAL, fontsize=8, va="bottom")
    left.set(xscale="log", xlabel="flow time", ylabel="loss")
    left.legend(loc="upper right")
    middle.plot(correlated["correlation"], correlated["closed"], color=pictures.NEUTRAL, lw=1, label="closed form")
    middle.plot(correlated["correlation"], correlated["plateau"], "o", color=pictures.OURS, ms=4.5, label="equal heads")
    middle.plot(
        correlated["correlation"], correlated["block2"], "s", color=pictures.PAPER, ms=4.5, label="attention on block 2"
    )
    middle.set(xlabel="correlation of the two features", ylim=(0, None))
    middle.legend()
    for name, colour, marker in (("orthogonal", pictures.OURS, "o"), ("negative", pictures.PAPER, "s")):
        label = "orthogonal" if name == "orthogonal" else f"correlation {_NEGATIVE:g}"
        right.plot(1 / noise["eps"], noise[name], f"{marker}-", color=colour, ms=4.5, lw=1, label=label)
    right.set(xscale="log", yscale="log", xlabel="1/ε", ylabel="second transition")
    right.legend()
    return figure


STUDY = Study(
    name="heads-and-features",
    paper="incremental",
    title="More or fewer heads than patterns, correlated features",
    minutes={"smoke": 0.2, "laptop": 0.4, "paper": 0.4},
    data=_measure,
    judge=_judge,
    draw=_draw,
)
