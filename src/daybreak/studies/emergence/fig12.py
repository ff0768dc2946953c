"""Figure 12: cross-sample repetition, seen on repeated and on clean data.

Criteria for the larger grid, written on 2026-11-18 before any of its runs: the runs of figure 3 right at T = 32, d = 128 and
learning rate 1e-4, three seeds, products in bfloat16 as there. The level is 0.8 of the height of the run's own clean plateau, for
both kinds of data; the plateau is over at half of that level. Factors are over pairs of equal seed, with their 95 % intervals.
- A12 holds if for every p both intervals lie above 1: steps on clean data over steps on repeated data, and steps on clean data
  without repetition over those with it. It fails if one lies below 1.
- A12-temporary holds if for every p the way from the level to half of it is longer than at p = 0, by an interval above 1. It
  fails if one lies below 1.
Runs that do not reach d = 128 do not decide them: the verdict is *outside*.
"""

from itertools import product

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select, stack
from daybreak.studies.emergence import _trained, fig3_right

_HOURS = 1.5  # of two cores for the laptop grid
_LEVEL = 0.8  # of the height of the plateau: there it ends
_LATER = 0.4  # of the height: well after it

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_trained.TINY}\n"
    """
[[grid]]
preset = "paper-a-regression"
task.T = 4
task.d = 4
task.p = [0.0, 0.5]
""",
    "laptop": """
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 3
task.T = 32
task.d = 128
task.p = [0.0, 0.05, 0.2, 0.5]
task.unit_columns = true
stop.budget = "1.5 * 0.76 * d**1.29 * T**0.8 + 500"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
task.d = [64, 128, 256]
task.p = [0.0, 0.05, 0.1, 0.2, 0.5]
stop.level = 0.0
""",
}


def _tables(saved: list[Saved]) -> Tables:
    rows = _runs.plateaus(saved, ("T", "d", "p"))
    for name, curve, fraction in (
        ("own", "clean_loss", _LEVEL),
        ("later", "clean_loss", _LATER),
        ("repeated", "train_loss", _LEVEL),
    ):
        rows |= _runs.plateau_columns_at(saved, curve, _runs.own_level(fraction), name)
    return {"plateaus": rows, "curves": _runs.curve_table(saved, ("T", "d", "p"), ("clean_loss", "train_loss"))}


def _against_repeated(runs: Table, p: float) -> _pairs.Factor:
    """Steps on clean data over steps on repeated data, of the same runs."""
    both = [select(_runs.with_plateaus_at(runs, x), runs["p"] == p) for x in ("own", "repeated")]
    first = np.arange(2 * both[0]["seed"].size) < both[0]["seed"].size
    return _pairs.paired_factor(stack(*both), first, ~first)


def _against_none(runs: Table, p: float) -> _pairs.Factor:
    """Steps on clean data without repetition over those with it."""
    clean = _runs.with_plateaus_at(runs, "own")
    return _pairs.paired_factor(clean, clean["p"] == 0, clean["p"] == p)


def _slower_later(runs: Table, p: float) -> _pairs.Factor:
    """How many times longer the way from the level to half of it is than without repetition."""
    way = runs["plateau_later"] - runs["plateau_own"]
    cut = runs["censored_later"] | runs["censored_own"]
    return _pairs.paired_factor(runs | {"plateau": way, "censored": cut}, runs["p"] == p, runs["p"] == 0)


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    some = [float(p) for p in np.unique(runs["p"]) if p > 0]
    repeated, none, later = (
        {p: factor(runs, p) for p in some} for factor in (_against_repeated, _against_none, _slower_later)
    )
    note = f"Grid: {_runs.grid_of(runs, 'T', 'd', 'p')}. Level: {_LEVEL:g} of the height of the run's own clean plateau. Factors over "
    note += "pairs of equal seed, with 95 % intervals; < and > are bounds from censored runs."
    claims = (
        Claim(
            id="A12",
            sentence="With cross-sample repetition the loss falls first on repeated data, then on clean data, and "
            "there earlier than without.",
            paper="seen in the plot (T = 256)",
            ours="; ".join(
                f"p {p:g}: {repeated[p]} times earlier on repeated than on clean data, there {none[p]} times earlier than without"
                for p in some
            ),
            verdict=_verdicts.all_of(_verdicts.verdict_above(x[p].range, 1) for x in (repeated, none) for p in some),
            note=f"{note} Holds if for every p both intervals lie above 1, fails if one lies below.",
        ),
        Claim(
            id="A12-temporary",
            sentence="The advantage is temporary: after the plateau, learning is slower with repetition.",
            paper="stated for the theory in §2.3",
            ours="; ".join(f"p {p:g}: {x} times longer from the level to half of it" for p, x in later.items()),
            verdict=_verdicts.all_of(_verdicts.verdict_above(x.range, 1) for x in later.values()),
            note=f"{note} Holds if for every p the interval lies above 1, fails if one lies below.",
        ),
    )
    return Findings(_trained.unless_small(claims, runs, fig3_right.REGIME, _HOURS))


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    sizes = np.unique(curves["d"])
    lines = {"train_loss": "on data with repetition", "clean_loss": "on clean data"}  # top and bottom, as in the paper
    titles = [f"{text}, d = {d:g}" for text in lines.values() for d in sizes]
    figure, axes = pictures.panels(titles, width=5.2, height=2.8, columns=sizes.size)
    for ax, (name, d) in zip(axes, product(lines, sizes), strict=True):
        pictures.curve_panel(ax, select(curves, curves["d"] == d), y=name, series="p")
        ax.set(ylabel="loss", ylim=(0, 0.8))
    pictures.caption(figure, f"{_runs.grid_of(tables['plateaus'], 'T', 'd', 'p')}. A line for each run.")
    return figure


STUDY = Study(
    name="fig12",
    paper="emergence",
    title="Learning curves with cross-sample repetition",
    minutes={"smoke": 0.2, "laptop": 60 * _HOURS, "paper": 2.5e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
