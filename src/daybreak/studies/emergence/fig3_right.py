"""Figure 3, right: cross-sample repetition shortens the plateau of a Transformer, and more so at larger dimension.

Criteria for the larger grid, written on 2026-11-18 before any of its runs: T = 32, d in {32, 64, 128}, p in {0, 0.01, 0.05, 0.2,
0.5}, learning rates 1e-4 and 3e-4, three seeds, W* with unit columns. Changed on 2026-11-19, still before any of the runs:
products in bfloat16 (claim R11: that moves no plateau), as in figure 3. A plateau ends when the clean loss is at 0.8 of its own
height (0.4 of 0.5 in the paper): the median from a tenth to half of the steps to loss 0.1. For each d and p the learning rate
with the shorter plateaus counts. A factor is over pairs of equal seed, with its 95 % interval.
- A3-p holds if at the largest d the factor of one p lies above 1 with its interval, and the logarithm of the factor, averaged
  over p, grows from the smallest to the largest d (95 % interval over seeds above zero). It fails if at the largest d all
  intervals lie below 1, or if the growth lies below zero. Otherwise it is undecided.
Runs that do not reach d = 128, or with T below 32, do not decide it: the verdict is *outside*.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.measure import Interval
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables
from daybreak.studies.emergence import _trained

_HOURS = 5  # of two cores for the laptop grid
REGIME = {"T": (32.0, 32.0), "d": (16.0, 128.0)}
_FRACTION = 0.8  # of the height of a plateau

_SWEEPS: _runs.Sweeps = {
    "smoke": f"""
{_trained.TINY}
[[grid]]
preset = "paper-a-regression"
task.T = 4
task.d = [2, 4]
task.p = [0.0, 0.5]
""",
    "laptop": """
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 3
task.T = 32
task.d = [32, 64, 128]
task.p = [0.0, 0.01, 0.05, 0.2, 0.5]
task.unit_columns = true
optimizer.learning_rate = [1e-4, 3e-4]
stop.budget = "1.5 * 0.76 * d**1.29 * T**0.8 + 500"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
task.d = [16, 32, 64, 128, 256]
task.p = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
optimizer.learning_rate = [1e-4, 3e-4]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    settings = ("T", "d", "p", "learning_rate")
    own = _runs.plateau_columns_at(saved, "clean_loss", _runs.own_level(_FRACTION), "own")
    return {"plateaus": _runs.plateaus(saved, settings) | own}


def _tuned(tables: Tables) -> Table:
    runs = _runs.with_plateaus_at(tables["plateaus"], "own")
    return _runs.at_best_learning_rate(runs, ("d", "p"))


def _factors(runs: Table) -> dict[tuple[float, float], _pairs.Factor]:
    """How many times shorter the plateau is, by d and p."""
    pairs = sorted({(float(d), float(p)) for d, p in zip(runs["d"], runs["p"], strict=True) if p > 0})
    return {
        (d, p): _pairs.paired_factor(runs, (runs["d"] == d) & (runs["p"] == 0), (runs["d"] == d) & (runs["p"] == p))
        for d, p in pairs
    }


def _growth(runs: Table) -> Interval:
    """By how much the logarithm of the factor, averaged over p, is larger at the largest d than at the smallest; 95 % over seeds."""
    values = [_mean_log_factor(runs, d) for d in (float(runs["d"].max()), float(runs["d"].min()))]
    seeds = sorted(values[0].keys() & values[1].keys())
    return _verdicts.interval_of_mean([values[0][seed] - values[1][seed] for seed in seeds])


def _mean_log_factor(runs: Table, d: float) -> dict[int, float]:
    """For each seed, the logarithm of the factor at d, averaged over p."""
    lengths = {
        (int(seed), float(p)): np.log(length)
        for seed, p, length, here in zip(runs["seed"], runs["p"], runs["plateau"], runs["d"] == d, strict=True)
        if here
    }
    seeds = {seed for seed, p in lengths if p == 0}
    gains = {seed: [lengths[seed, 0.0] - x for (s, p), x in lengths.items() if s == seed and p > 0] for seed in seeds}
    return {seed: float(np.mean(x)) for seed, x in gains.items() if x}


def _judge(tables: Tables) -> Findings:
    runs = _tuned(tables)
    factors, growth = _factors(runs), _growth(runs)
    largest = [factor.range for (d, _), factor in factors.items() if d == runs["d"].max()]
    faster = (
        "holds" if any(x.low > 1 for x in largest) else "fails" if all(x.high < 1 for x in largest) else "undecided"
    )
    text = "; ".join(f"d {d:g}, p {p:g}: {factor}" for (d, p), factor in factors.items())
    rates = " or ".join(f"{x:g}" for x in np.unique(tables["plateaus"]["learning_rate"]))
    claim = Claim(
        id="A3-p",
        sentence="Cross-sample repetition shortens the clean plateau, and more at larger d.",
        paper="seen in the plot; no clean law",
        ours=f"times shorter: {text}; log of the factor grows by {_verdicts.format_interval(growth)}",
        verdict=_verdicts.all_of([faster, _verdicts.verdict_above(growth)]),
        note=f"Grid: {_runs.grid_of(runs, 'T', 'd', 'p')}; learning rate {rates}, the best for each d and p. Level: {_FRACTION:g} of "
        "the height of the run's own plateau. Factors over pairs of equal seed, 95 % intervals; < and > are bounds from censored runs. "
        "Holds if at the largest d one interval lies above 1 and the growth lies above zero; fails if all lie below 1, or the "
        "growth below zero.",
    )
    return Findings(_trained.unless_small([claim], runs, REGIME, _HOURS))


def _draw(tables: Tables, findings: Findings):
    runs = _tuned(tables)
    figure, (ax,) = pictures.panels([f"cross-sample repetition p, T = {runs['T'][0]:g}"], width=4.8, height=3.2)
    pictures.plateau_panel(ax, runs, x="d", series="p")
    values, sizes = np.unique(runs["p"]), np.unique(runs["d"])
    for p, colour in zip(values, pictures.shades(values.size), strict=True):
        means = [_runs.geometric_mean(runs, (runs["d"] == d) & (runs["p"] == p)) for d in sizes]
        ax.plot(sizes, means, ":", color=colour, lw=1)
    ax.set(ylabel=f"steps until {_FRACTION:g} of the plateau's height")
    pictures.caption(figure, f"{_runs.grid_of(runs, 'T', 'd', 'p')}. Dotted lines: means over seeds.")
    return figure


STUDY = Study(
    name="fig3-right",
    paper="emergence",
    title="Plateau of a Transformer against d and p",
    minutes={"smoke": 0.3, "laptop": 60 * _HOURS, "paper": 1e5},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
