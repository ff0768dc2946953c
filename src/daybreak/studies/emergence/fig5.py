"""Figure 5: repetition makes recall emerge earlier on clean data, and too much of it overfits.

Criteria, written on 2026-11-18 before any run of the grid below: N = 12, V = 64, B in {1, 2, 3, 4, 8}, p in {0.1, 0.3, 0.5, 0.9},
three seeds, exactly one copy of the answer at B = 1 and at least one at every B. A factor is the ratio of the steps until a
fifth of the way from the guess 1/N to 1, without repetition and with it, over pairs of equal seed, with its 95 % interval.
With a censored run it is a bound.
- A5 holds if for one B of 2 to 4 the interval lies above 1 and the factor is at least 2; it fails if all lie below 2.
- A5-p holds if for one p the interval lies above 1 and the best factor of p is below that of B; it fails if all lie below 1.
- A5-overfit holds if at the largest B accuracy on training data is more than 20 points above that on clean data at the end.
- A16 (figure 16, data like those of training) holds if every interval lies above 1; it fails if one lies below 1.
Runs with fewer than eight pairs, or with more than one copy at B = 1, do not decide any of them: the verdict is *outside*.
"""

from collections.abc import Iterable

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies import _pairs, _runs
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, Verdict, select, verdict
from daybreak.studies.emergence import _trained
from daybreak.studies.emergence.fig4 import above_guess

HOURS = 4  # of two cores for the laptop grid
SETTINGS = ("N", "V", "B", "p", "placement")

BASELINE = """
preset = "paper-a-recall"
seeds = 3
task.N = 12
task.V = 64
stop.every = 100
stop.level = 0.6
stop.budget = 12_000
"""
"""Recall without repetition at laptop scale; also the runs of figure 17."""

SWEEPS: _runs.Sweeps = {
    "smoke": f"""{_trained.TINY}{_trained.TINY_RECALL}
where = "B == 1 or p == 0"
task.N = 3
task.V = 24
task.B = [1, 2, 3]
task.p = [0.0, 0.5]
""",
    "laptop": f"""
{BASELINE}
where = "B == 1 or p == 0"
task.B = [1, 2, 3, 4, 8]
task.p = [0.0, 0.1, 0.3, 0.5, 0.9]
""",
    "paper": """
preset = "paper-a-recall"
seeds = 3
where = "B == 1 or p == 0"
task.B = [1, 2, 4, 8, 16, 32]
task.p = [0.0, 0.1, 0.2, 0.5, 0.9]
stop.level = 0.0
""",
}
"""The runs of figures 5 and 16."""


def _tables(saved: list[Saved]) -> Tables:
    return {
        "plateaus": _runs.plateaus(saved, SETTINGS)
        | _runs.plateau_columns_at(saved, "clean_accuracy", above_guess, "above"),
        "curves": _runs.curve_table(saved, SETTINGS, ("clean_accuracy", "train_accuracy")),
        "end": last(saved),
    }


def last(saved: list[Saved]) -> Table:
    """Accuracy on clean and on training-like data at the end of each run."""
    rows = _runs.plateaus(saved, SETTINGS)
    final = [x.result.final for x in saved if x.result.outcome != "diverged"]
    return {name: rows[name] for name in ("id", *SETTINGS, "seed")} | {
        name: np.array([x[name] for x in final]) for name in ("clean_accuracy", "train_accuracy")
    }


def factors(runs: Table, name: str) -> dict[float, _pairs.Factor]:
    """How many times faster runs emerge for each value of B or p above the smallest, the other one being absent."""
    alone = runs["p"] == 0 if name == "B" else runs["B"] == 1
    without = (runs["B"] == 1) & (runs["p"] == 0)
    values = np.unique(runs[name][alone])[1:]
    return {float(x): _pairs.paired_factor(runs, without, alone & (runs[name] == x)) for x in values}


def format_factors(factors: dict[float, _pairs.Factor], name: str) -> str:
    """Factors as claims state them."""
    return ", ".join(f"{name} {x:g}: {factor}" for x, factor in factors.items())


def _faster(factors: Iterable[_pairs.Factor], least: float) -> Verdict:
    """`holds` if one factor is at least so large and surely above 1, `fails` if all are surely smaller."""
    ranges = [(x.value, x.range) for x in factors]
    if any(interval.low > 1 and value >= least for value, interval in ranges):
        return "holds"
    return "fails" if all(interval.high < least for _, interval in ranges) else "undecided"


def _judge(tables: Tables) -> Findings:
    runs = _runs.with_plateaus_at(tables["plateaus"], "above")
    by_B, by_p = factors(runs, "B"), factors(runs, "p")
    best_B, best_p = (max(x.values(), key=lambda factor: factor.value) for x in (by_B, by_p))
    helps = _faster(by_p.values(), 1)
    end = tables["end"]
    most = select(end, (end["p"] == 0) & (end["B"] == end["B"].max()))
    clean, train = most["clean_accuracy"].mean(), most["train_accuracy"].mean()
    note = f"Grid: {_runs.grid_of(runs, 'N', 'V', 'B', 'p')}; B and p are not varied together. Level: a fifth of the way from 1/N to 1. "
    note += "Factors over pairs of equal seed, with 95 % intervals; < and > are bounds from censored runs."
    claims = _trained.unless_outside(
        (
            Claim(
                id="A5",
                sentence="A little in-context repetition (B = 2 to 4) makes recall emerge at least twice as fast on clean data.",
                paper="up to about 4 times (N = 32, V = 256)",
                ours=f"times faster: {format_factors(by_B, 'B')}",
                verdict=_faster((x for B, x in by_B.items() if 2 <= B <= 4), 2),
                note=f"{note} Holds if for one B of 2 to 4 the 95 % interval lies above 1 and the factor is at least 2, fails if all "
                "lie below 2.",
            ),
            Claim(
                id="A5-p",
                sentence="Cross-sample repetition helps too, but less.",
                paper="up to about 2 times",
                ours=f"times faster: {format_factors(by_p, 'p')}",
                verdict="fails" if helps == "holds" and best_p.value >= best_B.value else helps,
                note=f"{note} Holds if for one p the 95 % interval lies above 1 and the best factor of p is below that of B; fails if all "
                "lie below 1, or if p helps more.",
            ),
            Claim(
                id="A5-overfit",
                sentence="Too much repetition overfits: accuracy is much higher on training data than on clean data.",
                paper="seen in the plot; later it groks",
                ours=f"B = {end['B'].max():g}: accuracy at the end {train:.0%} on training data, {clean:.0%} on clean data",
                verdict=verdict(train - clean > 0.2),
                note=f"{note} Holds if the accuracies differ by more than 20 points at the end. The runs are too short to "
                "show whether it groks later.",
            ),
        ),
        runs,
        HOURS,
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    return draw(tables, "clean_accuracy")


def draw(tables: Tables, name: str):
    """An accuracy over the steps of training, by B and by p."""
    curves = tables["curves"]
    figure, axes = pictures.panels(["in-context repetition B", "cross-sample repetition p"], width=4.8, height=3.2)
    pictures.curve_panel(axes[0], select(curves, curves["p"] == 0), y=name, series="B")
    pictures.curve_panel(axes[1], select(curves, curves["B"] == 1), y=name, series="p")
    for ax in axes:
        ax.axhline(1 / curves["N"][0], color=pictures.NEUTRAL, lw=0.8, ls=":")
        ax.set(ylabel=name.replace("_", " "), ylim=(0, 1.03))
    grid = _runs.grid_of(tables["plateaus"], "N", "V", "B", "p")
    pictures.caption(figure, f"{grid}. A line for each run. Dotted: the guess 1/N.")
    return figure


STUDY = Study(
    name="fig5",
    paper="emergence",
    title="Recall with repetition, on clean data",
    minutes={"smoke": 0.4, "laptop": 60 * HOURS, "paper": 2.5e4},
    data=_runs.training(SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
