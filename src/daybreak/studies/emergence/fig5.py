"""Figure 5: repetition makes recall emerge earlier on clean data, and too much of it overfits."""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select, verdict
from daybreak.studies.emergence import _trained
from daybreak.studies.emergence.fig4 import above_guess

SETTINGS = ("N", "V", "B", "p")

SWEEPS: _trained.Sweeps = {
    "smoke": f"""{_trained.TINY}{_trained.TINY_RECALL}
where = "B == 1 or p == 0"
task.N = 3
task.V = 24
task.B = [1, 2, 3]
task.p = [0.0, 0.5]
""",
    # Without repetition these are the runs of examples/forecast.toml.
    "laptop": """
preset = "paper-a-recall"
task.N = 6
task.V = 16
stop.level = 0.6
[[grid]]
seeds = 5
stop.every = 10
stop.budget = "8 * 0.55 * V**0.79 * N**2.25 + 1000"
[[grid]]
seeds = 3
where = "(B == 1) != (p == 0)"
task.B = [1, 2, 4, 6]
task.p = [0.0, 0.5, 0.9]
stop.every = 20
stop.budget = 500
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
        "plateaus": _trained.plateaus(saved, SETTINGS)
        | _trained.plateau_columns_at(saved, "clean_accuracy", above_guess, "above"),
        "curves": _trained.curve_table(saved, SETTINGS, ("clean_accuracy", "train_accuracy")),
        "end": last(saved),
    }


def last(saved: list[Saved]) -> Table:
    """Accuracy on clean and on training-like data at the end of each run."""
    rows = _trained.plateaus(saved, SETTINGS)
    final = [x.result.final for x in saved if x.result.outcome != "diverged"]
    return {name: rows[name] for name in (*SETTINGS, "seed")} | {
        name: np.array([x[name] for x in final]) for name in ("clean_accuracy", "train_accuracy")
    }


def gains(runs: Table, name: str) -> dict[float, float]:
    """How many times faster runs emerge for each value of B or p above the smallest; at most 1 if one was censored."""
    alone = runs["p"] == 0 if name == "B" else runs["B"] == 1
    start = _trained.geometric_mean(runs, (runs["B"] == 1) & (runs["p"] == 0))
    factors = {}
    for value in np.unique(runs[name][alone])[1:]:
        rows = alone & (runs[name] == value)
        factor = start / _trained.geometric_mean(runs, rows)
        factors[float(value)] = min(factor, 1.0) if runs["censored"][rows].any() else factor
    return factors


def format_factors(factors: dict[float, float], name: str) -> str:
    """Factors as claims state them."""
    return ", ".join(f"{name} {x:g}: {factor:.2f}" for x, factor in factors.items())


def _judge(tables: Tables) -> Findings:
    runs = _trained.with_plateaus_at(tables["plateaus"], "above")
    by_B, by_p = gains(runs, "B"), gains(runs, "p")
    some = {x: factor for x, factor in by_B.items() if 2 <= x <= 4}
    end = tables["end"]
    most = select(end, (end["p"] == 0) & (end["B"] == end["B"].max()))
    clean, train = most["clean_accuracy"].mean(), most["train_accuracy"].mean()
    note = f"Grid: {_trained.grid_of(runs, 'N', 'V', 'B', 'p')}; B and p are not varied together. Level: a fifth of the way from 1/N to 1. "
    note += "Also at B = 1 the answer has about 1.5 copies on average: the baseline repeats too."
    claims = (
        Claim(
            id="A5",
            sentence="A little in-context repetition (B = 2 to 4) makes recall emerge at least twice as fast on clean data.",
            paper="up to about 4 times (N = 32, V = 256)",
            ours=f"times faster: {format_factors(by_B, 'B')}",
            verdict=verdict(max(some.values()) >= 2),
            note=f"{note} Holds if the best of B = 2 to 4 is at least twice as fast. With a censored run the factor is "
            "an upper bound, and counts as at most 1.",
        ),
        Claim(
            id="A5-p",
            sentence="Cross-sample repetition helps too, but less.",
            paper="up to about 2 times",
            ours=f"times faster: {format_factors(by_p, 'p')}",
            verdict=verdict(1 < max(by_p.values()) < max(by_B.values())),
            note=f"{note} Holds if the best factor of p lies between 1 and the best factor of B.",
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
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    return draw(tables["curves"], "clean_accuracy")


def draw(curves: Table, name: str):
    """An accuracy over the steps of training, by B and by p."""
    where = f"N = {curves['N'][0]:g}, V = {curves['V'][0]:g}"
    figure, axes = pictures.panels(
        [f"in-context repetition, {where}", "cross-sample repetition"], width=4.8, height=3.2
    )
    pictures.curve_panel(axes[0], select(curves, curves["p"] == 0), y=name, series="B")
    pictures.curve_panel(axes[1], select(curves, curves["B"] == 1), y=name, series="p")
    for ax in axes:
        ax.axhline(1 / curves["N"][0], color=pictures.NEUTRAL, lw=0.8, ls=":")
        ax.set(ylabel=name.replace("_", " "), ylim=(0, 1.03))
    return figure


STUDY = Study(
    name="fig5",
    paper="emergence",
    title="Recall with repetition, on clean data",
    minutes={"smoke": 0.4, "laptop": 30, "paper": 9e4},
    data=_trained.training(SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
