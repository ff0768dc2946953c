"""Schedules of repetition on the paper's own network: does what small networks gain by repetition that is removed carry over?

The study `schedules` compares many schedules on networks of width 64 at a learning rate of 1e-3. Figure 3 has the paper's network,
but constant repetition only. Here a few forms are compared with each other on the paper's network, in regression.

Criteria, written on 2026-11-19 before any of the runs: T = 64, d = 32 with no repetition, B in {2, 4, 8} and adaptive B in {4, 8}, four
seeds, products in bfloat16 (claim R11: that moves no plateau). A plateau ends at clean loss 0.1. Factors are over pairs of equal
seed, with 95 % intervals; with a censored run they are bounds.
- R12 holds if the better adaptive form is at least twice as fast as none: its interval lies above 2. It fails if it lies below.
- R13 holds if that form is at most 15 % slower than the best constant one, chosen with hindsight: the interval of its factor over that
  lies above 1/1.15. It fails if it lies below.
"""

import numpy as np

from daybreak import pictures
from daybreak._types import Bools
from daybreak.lab import Saved
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select
from daybreak.studies.emergence import _trained

_TWICE, _LATER = 2.0, 1 / 1.15
_SETTINGS = ("T", "d", "B", "p", "schedule")

_SWEEPS: _runs.Sweeps = {
    "smoke": f"""{_trained.TINY}
preset = "paper-a-regression"
task.T = 8
task.d = 4
[[grid]]
task.B = [1, 2]
[[grid]]
task.B = 2
schedule.name = "adaptive"
""",
    "laptop": f"""
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 4
task.T = 64
task.d = 32
stop.budget = "{_trained.PAPER_LAW.replace("(T / B)", "T")}"
[[grid]]
task.B = [1, 2, 4, 8]
[[grid]]
task.B = [4, 8]
schedule.name = "adaptive"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
[[grid]]
task.B = [1, 4, 16]
[[grid]]
task.B = [4, 16]
schedule.name = "adaptive"
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {
        "plateaus": _runs.plateaus(saved, _SETTINGS),
        "curves": _runs.curve_table(saved, _SETTINGS, ("clean_loss",)),
    }


def forms(runs: Table) -> list[tuple[str, str, float]]:
    """The forms of repetition that were trained: schedule, lever, and its value; constant ones first."""
    rows = zip(runs["schedule"].tolist(), runs["B"].tolist(), runs["p"].tolist(), strict=True)
    found = {(schedule, "B" if B > 1 else "p", float(B if B > 1 else p)) for schedule, B, p in rows if B > 1 or p > 0}
    return sorted(found, key=lambda form: (form[0] != "constant", *form))


def rows_of(runs: Table, form: tuple[str, str, float] | None) -> Bools:
    """The runs with a form of repetition, or without any."""
    if form is None:
        return (runs["B"] == 1) & (runs["p"] == 0)
    schedule, lever, value = form
    return (runs["schedule"] == schedule) & (runs[lever] == value)


def factor(runs: Table, form: tuple[str, str, float], over: tuple[str, str, float] | None = None) -> _pairs.Factor:
    """How many times faster a form is than another, or than none."""
    return _pairs.paired_factor(runs, rows_of(runs, over), rows_of(runs, form))


def _name(form: tuple[str, str, float]) -> str:
    schedule, lever, value = form
    return f"{schedule} {lever} = {value:g}"


def _fastest(runs: Table, schedule: str) -> tuple[str, str, float]:
    return min((x for x in forms(runs) if x[0] == schedule), key=lambda x: _runs.geometric_mean(runs, rows_of(runs, x)))


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    adaptive, constant = _fastest(runs, "adaptive"), _fastest(runs, "constant")
    over_none, over_constant = factor(runs, adaptive), factor(runs, adaptive, constant)
    every = "; ".join(f"{_name(x)}: {factor(runs, x)}" for x in forms(runs))
    note = (
        f"Regression, {_runs.grid_of(runs, 'T', 'd')}. Times faster than none over pairs of equal seed, 95 % intervals: {every}. < and > "
        "are bounds from censored runs."
    )
    claims = (
        Claim(
            id="R12",
            sentence="On the paper's network regression emerges at least twice as fast with repetition that is removed at the transition.",
            paper="proposed, not done (Discussion)",
            ours=f"{_name(adaptive)}: {over_none} times faster than none",
            verdict=_verdicts.verdict_above(over_none.range, _TWICE),
            note=f"{note} Holds if the interval lies above 2, fails if below.",
        ),
        Claim(
            id="R13",
            sentence="There it emerges at most 15 % later than with the best constant repetition.",
            paper="ours, not the paper's",
            ours=f"{_name(adaptive)}: {over_constant} times as fast as {_name(constant)}",
            verdict=_verdicts.verdict_above(over_constant.range, _LATER),
            note=f"{note} The best constant one is chosen with hindsight. Holds if the interval lies above 1/1.15, fails if below.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    figure, (left, right) = pictures.panels(["clean loss", "times faster than none"], width=4.6, height=3.2)
    runs, curves = tables["plateaus"], tables["curves"]
    shown = {
        None: pictures.NEUTRAL,
        _fastest(runs, "constant"): pictures.PAPER,
        _fastest(runs, "adaptive"): pictures.OURS,
    }
    for form, colour in shown.items():
        mine = select(curves, rows_of(curves, form))
        for seed in np.unique(mine["seed"]):
            one = select(mine, mine["seed"] == seed)
            label = ("none" if form is None else _name(form)) if seed == mine["seed"].min() else None
            left.plot(one["step"], one["clean_loss"], color=colour, lw=1.2, alpha=0.8, label=label)
    left.set(
        xlabel="step",
        ylabel="clean loss",
        ylim=(0, 1.6 * float(np.median(curves["clean_loss"][rows_of(curves, None)]))),
    )
    left.legend()
    _factors(right, runs)
    pictures.caption(figure, "Lines: seeds. Points: over pairs of equal seed, with 95 % intervals; open: a bound.")
    return figure


def _factors(ax, runs: Table) -> None:
    every = forms(runs)
    for i, form in enumerate(every):
        found = factor(runs, form)
        colour = pictures.OURS if form[0] == "adaptive" else pictures.NEUTRAL
        if found.interval is not None:
            ax.plot(found.interval, [i, i], color=colour, lw=2)
        ax.plot(found.value, i, "o", color=colour, mfc="white" if found.sign else colour)
    ax.axvline(1, color=pictures.NEUTRAL, lw=0.8, ls=":")
    ax.set(yticks=range(len(every)), yticklabels=[_name(x) for x in every], xlabel="factor, 95 %")
    ax.invert_yaxis()


STUDY = Study(
    name="schedules-paper-network",
    paper="emergence",
    title="Schedules of repetition on the paper's network",
    minutes={"smoke": 0.5, "laptop": 10, "paper": 1e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
