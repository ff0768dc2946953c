"""Figure 3: the plateau of a Transformer against dimension, length, in-context and cross-sample repetition.

Criteria for the larger grid, written on 2026-11-18 before any of its runs: T in {32, 64, 128} × d in {16, 32, 64},
and T = 256 × d in {16, 32}; B in {2, 4, 8} at T = 128 with d in {16, 32}; three seeds; budget of twice the paper's
law plus 500 steps; loss 0.1 on clean data ends a plateau.
- A3 is judged on the runs with B = 1. It holds if the 95 % intervals (cluster bootstrap over configurations, censored
  runs counted as such) of both exponents lie within 0.2 of the paper's 1.29 and 0.80. It fails if one lies beyond.
  Otherwise it is undecided.
- A law with a start-up offset, C d^a T^b + s with s ≥ 0, and the exponents of neighbouring sizes are shown beside it.
  They do not decide.
- A3-B is judged twice, on clean data (as the paper tests) and on data like those of training. It holds if the 95 %
  interval of the sum of the exponents of T and B lies within 0.2 of zero, and fails if it lies beyond. Runs: T = 128,
  d in {16, 32}, B in {1, 2, 4, 8} and all B = 1.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, Verdict, select
from daybreak.studies.emergence import _trained

_FORM = "C * d**a * T**b * B**c"
_JOINT = "C * d**a * (T/B)**b"
_LEVEL = 0.4  # loss that ends the plateau with cross-sample repetition (paper A, D.1)

_SWEEPS: _trained.Sweeps = {
    "smoke": f"""
{_trained.TINY}{_trained.CORNER}
[[grid]]
preset = "paper-a-regression"
task.T = [4, 8]
task.d = 2
task.B = 2
[[grid]]
preset = "paper-a-regression"
task.T = 4
task.d = [2, 4]
task.p = 0.5
""",
    "laptop": f"""
seeds = 3
stop.every = 10
{_trained.SCORED}
[[grid]]
preset = "paper-a-regression"
where = "T == 8 or d == 8"
task.T = [8, 16]
task.d = [8, 16, 32]
stop.budget = "4 * 0.76 * d**1.29 * T**0.8 + 200"
[[grid]]
preset = "paper-a-regression"
task.T = 32
task.d = [8, 16]
task.B = [2, 4, 8]
stop.budget = "4 * 0.76 * d**1.29 * (T / B)**0.8 + 200"
[[grid]]
preset = "paper-a-regression"
task.T = 16
task.d = [8, 16, 32]
task.p = [0.2, 0.5]
stop.budget = "1.5 * 0.76 * d**1.29 * T**0.8 + 200"
""",
    "paper": """
seeds = 5
preset = "paper-a-regression"
[[grid]]
task.T = [32, 64, 128, 256, 512]
task.d = [16, 32, 64, 128, 256]
[[grid]]
task.d = [16, 32, 64, 128, 256]
task.B = [2, 4, 8, 16]
[[grid]]
task.d = [16, 32, 64, 128, 256]
task.p = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
optimizer.learning_rate = [1e-4, 3e-4]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    settings = ("T", "d", "B", "p", "learning_rate")
    high = _trained.plateau_columns_at(saved, "clean_loss", lambda _: _LEVEL, "high")
    return {
        "plateaus": _trained.plateaus(saved, settings) | high,
        "curves": _trained.curve_table(saved, settings, ("clean_loss", "train_loss")),
    }


def _plain(table: Table) -> Table:
    """The runs of the left and middle panels."""
    return select(table, (table["p"] == 0) & (table["learning_rate"] <= table["learning_rate"].min()))


def _cross_sample_runs(table: Table) -> Table:
    """The runs of the right panel: at the better learning rate, and until the loss of that panel.

    The height of the plateau depends on W*, and so on the seed: only seeds that have runs with repetition count.
    """
    runs = _trained.with_plateaus_at(table, "high")
    repeated = runs["p"] > 0
    same = (runs["T"] == runs["T"][repeated][0]) & (runs["B"] == 1) & np.isin(runs["seed"], runs["seed"][repeated])
    return _trained.at_best_learning_rate(select(runs, same), ("d", "p"))


def _judge(tables: Tables) -> Findings:
    plain, right = _plain(tables["plateaus"]), _cross_sample_runs(tables["plateaus"])
    law, joint = _trained.law(_FORM, plain), _trained.law(_JOINT, plain)
    opposite = _trained.interval_of_sum(law, {"b": 1, "c": 1})
    grid = _trained.grid_of(plain, "T", "d", "B")
    claims = (
        Claim(
            id="A3",
            sentence="The plateau of a two-layer Transformer is a power law with exponents 1.29 in d and 0.80 in T.",
            paper="0.76 d^1.29 T^0.80 B^−0.80 (R² 0.995)",
            ours=str(law),
            verdict=_trained.agrees(law, _trained.published(3)[0], {"a": "d", "b": "T"}),
            note=f"Grid: {grid}. Holds if both 95 % intervals lie within 0.2 of the paper's exponents, fails if one lies entirely outside.",
        ),
        Claim(
            id="A3-B",
            sentence="In-context repetition acts as a shorter sequence: its exponent is the opposite of that of T.",
            paper="one exponent for T/B, 0.80",
            ours=f"T^{law.coefficients['b']:.2f}, B^{law.coefficients['c']:.2f}; their sum has the interval "
            f"{_trained.format_interval(opposite)}; as one exponent: {joint}",
            verdict=_trained.verdict_within(opposite, 0.0, 0.2),
            note="Holds if the 95 % interval of the sum of both exponents lies within 0.2 of zero, fails if it lies entirely outside.",
        ),
        _cross_sample(right, np.unique(tables["plateaus"]["learning_rate"])),
    )
    return Findings(claims, {"plateau": law, "T/B": joint})


def _cross_sample(runs: Table, rates: np.ndarray) -> Claim:
    means = _means(runs)
    gains = {p: [without / x for without, x in zip(means[0.0], row, strict=True)] for p, row in means.items() if p > 0}
    faster = [x > 1 for row in gains.values() for x in row]
    growing = [row[-1] > row[0] for row in gains.values()]
    text = "; ".join(f"p {p:g}: " + ", ".join(f"{x:.2f}" for x in row) for p, row in gains.items())
    decided: Verdict = (
        "holds" if all(faster) and all(growing) else "fails" if not any(faster) or not any(growing) else "undecided"
    )
    return Claim(
        id="A3-p",
        sentence="Cross-sample repetition shortens the clean plateau (to loss 0.4), and more at larger d.",
        paper="seen in the plot; no clean law",
        ours=f"times shorter for d = {', '.join(f'{d:g}' for d in np.unique(runs['d']))}: {text}",
        verdict=decided,
        note=f"Grid: {_trained.grid_of(runs, 'T', 'd', 'p')}; learning rate {' or '.join(f'{x:g}' for x in rates)}, the best for each d "
        "and p. Holds if every factor is above 1 and grows from the smallest to the largest d for every p; fails if no "
        "factor is above 1, or if none grows.",
    )


def _means(runs: Table) -> dict[float, list[float]]:
    """For each p, the geometric mean of the plateaus at each d."""
    return {
        float(p): [_trained.geometric_mean(runs, (runs["d"] == d) & (runs["p"] == p)) for d in np.unique(runs["d"])]
        for p in np.unique(runs["p"])
    }


def _draw(tables: Tables, findings: Findings):
    plain, right = _plain(tables["plateaus"]), _cross_sample_runs(tables["plateaus"])
    lines = {"law": findings.laws["plateau"].predict, "paper": _trained.published(3)[0].predict}
    T = plain["T"][plain["B"] > 1][0]
    titles = [
        "sequence length T",
        f"in-context repetition B, T = {T:g}",
        f"cross-sample repetition p, T = {right['T'][0]:g}",
    ]
    figure, axes = pictures.panels(titles, width=4.4, height=3.2)
    pictures.plateau_panel(axes[0], select(plain, plain["B"] == 1), x="d", series="T", **lines)
    pictures.plateau_panel(axes[1], select(plain, plain["T"] == T), x="d", series="B", **lines)
    pictures.plateau_panel(axes[2], right, x="d", series="p")
    means = _means(right)
    for row, colour in zip(means.values(), pictures.shades(len(means)), strict=True):
        axes[2].plot(np.unique(right["d"]), row, ":", color=colour, lw=1)
    axes[2].set(ylabel="steps until loss 0.4")
    return figure


STUDY = Study(
    name="fig3",
    paper="emergence",
    title="Plateau of a Transformer against d, T, B and p",
    minutes={"smoke": 0.5, "laptop": 35, "paper": 6e5},
    data=_trained.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
