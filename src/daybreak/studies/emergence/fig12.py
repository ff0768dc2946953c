"""Figure 12: cross-sample repetition, seen on repeated and on clean data."""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, verdict
from daybreak.studies.emergence import _trained

_LEVELS = {"half": 0.4, "low": 0.2}  # where the plateau ends with cross-sample repetition, and well after it

_SWEEPS: _trained.Sweeps = {
    "smoke": f"{_trained.TINY}\n"
    """
[[grid]]
preset = "paper-a-regression"
task.T = 4
task.d = 4
task.p = [0.0, 0.5]
""",
    # The runs of figure 3 right at its largest d.
    "laptop": """
preset = "paper-a-regression"
seeds = 3
task.T = 16
task.d = 32
stop.every = 10
[[grid]]
task.p = [0.2, 0.5]
stop.budget = "1.5 * 0.76 * d**1.29 * T**0.8 + 200"
[[grid]]
stop.budget = "4 * 0.76 * d**1.29 * T**0.8 + 200"
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
    rows = _trained.plateaus(saved, ("T", "d", "p"))
    for name, level in _LEVELS.items():
        rows |= _trained.plateau_columns_at(saved, "clean_loss", lambda _, level=level: level, name)
    rows |= _trained.plateau_columns_at(saved, "train_loss", lambda _: _LEVELS["half"], "repeated")
    return {"plateaus": rows, "curves": _trained.curve_table(saved, ("T", "d", "p"), ("clean_loss", "train_loss"))}


def _means(runs: Table, suffix: str) -> dict[float, float]:
    """Mean length for each p."""
    return {float(p): float(runs[f"plateau_{suffix}"][runs["p"] == p].mean()) for p in np.unique(runs["p"])}


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    clean, repeated, low = (_means(runs, x) for x in ("half", "repeated", "low"))
    some = [p for p in clean if p > 0]
    late = {p: low[p] - clean[p] for p in clean}
    cut = ", ".join(f"{int(runs[f'censored_{x}'].sum())} {name}" for x, name in (("half", "at 0.4"), ("low", "at 0.2")))
    note = f"Grid: {_trained.grid_of(runs, 'T', 'd', 'p')} at loss 0.1, {cut}; means over seeds, censored runs count as if they ended."
    claims = (
        Claim(
            id="A12",
            sentence="With cross-sample repetition the loss falls first on repeated data, then on clean data, and "
            "there earlier than without.",
            paper="seen in the plot (T = 256)",
            ours="steps until loss 0.4, repeated and clean: "
            + "; ".join(f"p {p:g}: {repeated[p]:.0f} and {clean[p]:.0f}" for p in clean),
            verdict=verdict(all(repeated[p] < clean[p] < clean[0.0] for p in some)),
            note=f"{note} Holds if for every p the loss falls first on repeated data, and on clean data earlier than at p = 0.",
        ),
        Claim(
            id="A12-temporary",
            sentence="The advantage is temporary: after the plateau, learning is slower with repetition.",
            paper="stated for the theory in §2.3",
            ours="steps from clean loss 0.4 to 0.2: " + "; ".join(f"p {p:g}: {x:.0f}" for p, x in late.items()),
            verdict=verdict(all(late[p] > late[0.0] for p in some)),
            note=f"{note} Holds if for every p the way from 0.4 to 0.2 takes longer than at p = 0.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    where = f"T = {curves['T'][0]:g}, d = {curves['d'].max():g}"
    shown = {name: column[curves["d"] == curves["d"].max()] for name, column in curves.items()}
    figure, axes = pictures.panels([f"on data with repetition, {where}", "on clean data"], width=4.8, height=3.2)
    for ax, name in zip(axes, ("train_loss", "clean_loss"), strict=True):
        pictures.curve_panel(ax, shown, y=name, series="p")
        ax.axhline(_LEVELS["half"], color=pictures.NEUTRAL, lw=0.8, ls=":")
        ax.set(ylabel="loss", ylim=(0, 0.8))
    return figure


STUDY = Study(
    name="fig12",
    paper="emergence",
    title="Learning curves with cross-sample repetition",
    minutes={"smoke": 0.2, "laptop": 5, "paper": 9e4},
    data=_trained.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
