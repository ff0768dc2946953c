"""Figure 11: the loss of a Transformer stays on a plateau and then drops sharply.

Criterion, written before the runs at T = 128 (2026-11-18): A11 keeps its rule, which was written for T = 32.
"""

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.studies import _runs
from daybreak.studies._study import Claim, Findings, Study, Tables, verdict
from daybreak.studies.emergence import _trained

_HIGH = 0.9  # fraction of the height of a plateau below which it is over

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_trained.TINY}\n"
    """
[[grid]]
preset = "paper-a-regression"
task.T = 4
task.d = [2, 4]
""",
    # Runs of figure 3.
    "laptop": f"""
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 3
task.T = 128
task.d = [16, 32]
stop.budget = "{_trained.PAPER_LAW}"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
task.T = 128
task.d = [16, 32, 64, 128, 256]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    runs = _runs.plateaus(saved, ("T", "d"))
    return {
        "plateaus": runs | {"begun": np.array([_begun(x) for x in saved if x.result.outcome != "diverged"])},
        "curves": _runs.curve_table(saved, ("T", "d"), ("clean_loss",)),
    }


def _begun(saved: Saved) -> float:
    """The step at which the loss leaves its plateau."""
    record, end = saved.record, saved.result.plateau
    assert record is not None  # noqa: S101
    assert end is not None  # noqa: S101
    later = record.steps >= end.length / 10
    level = _HIGH * _runs.plateau_height(saved)
    return measure.plateau(record.steps[later], record.curves["clean_loss"][later], level).length


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    fraction = runs["begun"] / runs["plateau"]
    by_d = {d: fraction[runs["d"] == d] for d in np.unique(runs["d"])}
    text = "; ".join(f"d {d:g}: {x.min():.0%} to {x.max():.0%}" for d, x in by_d.items())
    claim = Claim(
        id="A11",
        sentence="The loss of a Transformer stays on a plateau and then drops sharply.",
        paper="seen in the plot (T = 128)",
        ours=f"fraction of the steps to loss 0.1 that were spent on the plateau: {text}",
        verdict="undecided" if runs["censored"].any() else verdict(min(x.mean() for x in by_d.values()) >= 0.7),
        note=f"Grid: {_runs.grid_of(runs, 'T', 'd')}. Holds if the plateau takes at least 70 % of the time on average for every d. "
        "It is over when the loss falls to nine tenths of its height, which depends on W* and so on the seed; a first version took 0.45 "
        "for all, below which some plateaus lie from the start.",
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    figure, (ax,) = pictures.panels([f"learning curves, T = {curves['T'][0]:g}"], width=5.2, height=3.2)
    pictures.curve_panel(ax, curves, y="clean_loss", series="d")
    ax.axhline(0.1, color=pictures.NEUTRAL, lw=0.8, ls=":")
    ax.axhline(0.5, color=pictures.NEUTRAL, lw=0.8, ls=":")
    ax.set(ylabel="clean loss", ylim=(0, 0.8))
    grid = _runs.grid_of(tables["plateaus"], "T", "d")
    pictures.caption(figure, f"{grid}. A line for each run. Dotted: 0.5, and 0.1, which ends the plateau.")
    return figure


STUDY = Study(
    name="fig11",
    paper="emergence",
    title="Learning curves of a Transformer",
    minutes={"smoke": 0.3, "laptop": 20, "paper": 1.5e3},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
