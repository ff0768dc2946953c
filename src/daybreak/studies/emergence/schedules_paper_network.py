"""Schedules of repetition on the paper's own networks: does what small networks gain by repetition that is removed carry over?

The study `schedules` compares many schedules on networks of width 64 at a learning rate of 1e-3. Figures 3 and 5 have the paper's
networks, but constant repetition only. Here the same few forms are compared with each other on the paper's networks.

Criteria, written on 2026-11-19 before any of the runs: regression at T = 64, d = 32 with no repetition, B in {2, 4, 8} and adaptive B in
{4, 8}, four seeds; recall at N = 12, V = 64 with no repetition, B = 3, adaptive B = 3 and adaptive p = 0.9, three seeds. Products in
bfloat16 (claim R11: that moves no plateau). A plateau ends at clean loss 0.1 in regression, and in recall at a fifth of the way
from the guess 1/N to 1, as in figures 3 to 5. Factors are over pairs of equal seed, with 95 % intervals; with a censored run they are bounds.
- R12 (one for each task) holds if the better adaptive form is at least twice as fast as none: its interval lies above 2. It fails if it
  lies below.
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
from daybreak.studies.emergence.fig4 import above_guess
from daybreak.tasks import Recall

_TWICE, _LATER = 2.0, 1 / 1.15
SETTINGS = {"regression": ("T", "d"), "recall": ("N", "V")}
"""What sizes each task has, which is also the name of its table of plateaus."""
_LEVER = ("B", "p", "schedule")

_SWEEPS: _runs.Sweeps = {
    "smoke": f"""{_trained.TINY}
[[grid]]
preset = "paper-a-regression"
task.T = 8
task.d = 4
task.B = [1, 2]
[[grid]]
preset = "paper-a-regression"
task.T = 8
task.d = 4
task.B = 2
schedule.name = "adaptive"
{_trained.TINY_RECALL}
task.N = 3
task.V = 8
task.B = [1, 2]
{_trained.TINY_RECALL}
task.N = 3
task.V = 8
task.B = 2
schedule.name = "adaptive"
""",
    "laptop": "".join(
        f"""
[[grid]]
preset = "paper-a-{task}"
precision = "bfloat16"
{size}
{repetition}
"""
        for task, size, forms in (
            (
                "regression",
                'seeds = 4\ntask.T = 64\ntask.d = 32\nstop.budget = "2 * 0.76 * d**1.29 * T**0.8 + 500"',
                ("task.B = [1, 2, 4, 8]", 'task.B = [4, 8]\nschedule.name = "adaptive"'),
            ),
            (
                "recall",
                "seeds = 3\ntask.N = 12\ntask.V = 64\nstop.every = 50\nstop.level = 0.6\nstop.budget = 12_000",
                (
                    "task.B = [1, 3]",
                    'task.B = 3\nschedule.name = "adaptive"',
                    'task.p = 0.9\nschedule.name = "adaptive"',
                ),
            ),
        )
        for repetition in forms
    ),
    "paper": """
[[grid]]
preset = "paper-a-regression"
seeds = 5
task.B = [1, 4, 16]
[[grid]]
preset = "paper-a-regression"
seeds = 5
task.B = [4, 16]
schedule.name = "adaptive"
[[grid]]
preset = "paper-a-recall"
seeds = 3
task.B = [1, 3]
stop.level = 0.6
[[grid]]
preset = "paper-a-recall"
seeds = 3
task.B = 3
schedule.name = "adaptive"
stop.level = 0.6
""",
}


def _tables(saved: list[Saved]) -> Tables:
    recall = [x for x in saved if isinstance(x.run.task, Recall)]
    regression = [x for x in saved if not isinstance(x.run.task, Recall)]
    above = _runs.plateau_columns_at(recall, "clean_accuracy", above_guess, "above")
    plateaus = _runs.plateaus(recall, (*SETTINGS["recall"], *_LEVER, "placement"))
    return {
        "regression": _runs.plateaus(regression, (*SETTINGS["regression"], *_LEVER)),
        "recall": _runs.with_plateaus_at(plateaus | above, "above"),
        "curves_regression": _runs.curve_table(regression, _LEVER, ("clean_loss",)),
        "curves_recall": _runs.curve_table(recall, _LEVER, ("clean_accuracy",)),
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
    return Findings(tuple(claim for task in SETTINGS for claim in _claims(tables[task], task)))


def _claims(runs: Table, task: str) -> tuple[Claim, Claim]:
    adaptive, constant = _fastest(runs, "adaptive"), _fastest(runs, "constant")
    over_none, over_constant = factor(runs, adaptive), factor(runs, adaptive, constant)
    every = "; ".join(f"{_name(x)}: {factor(runs, x)}" for x in forms(runs))
    note = (
        f"{_runs.grid_of(runs, *SETTINGS[task])}. Times faster than none over pairs of equal seed, 95 % intervals: {every}. < and > are "
        "bounds from censored runs."
    )
    return (
        Claim(
            id=f"R12-{task}",
            sentence=f"On the paper's network {task} emerges at least twice as fast with repetition that is removed at the transition.",
            paper="proposed, not done (Discussion)",
            ours=f"{_name(adaptive)}: {over_none} times faster than none",
            verdict=_verdicts.verdict_above(over_none.range, _TWICE),
            note=f"{note} Holds if the interval lies above 2, fails if below.",
        ),
        Claim(
            id=f"R13-{task}",
            sentence=f"On the paper's network {task} emerges with it at most 15 % later than with the best constant repetition.",
            paper="ours, not the paper's",
            ours=f"{_name(adaptive)}: {over_constant} times as fast as {_name(constant)}",
            verdict=_verdicts.verdict_above(over_constant.range, _LATER),
            note=f"{note} The best constant one is chosen with hindsight. Holds if the interval lies above 1/1.15, fails if below.",
        ),
    )


def _draw(tables: Tables, findings: Findings):
    titles = [f"{task}{what}" for task in SETTINGS for what in ("", ": times faster than none")]
    figure, axes = pictures.panels(titles, width=4.6, height=3.2, columns=2)
    for (left, right), task in zip((axes[:2], axes[2:]), SETTINGS, strict=True):
        runs = tables[task]
        _curves(left, tables[f"curves_{task}"], runs, "clean_accuracy" if task == "recall" else "clean_loss")
        _factors(right, runs)
    pictures.caption(figure, "Lines: seeds. Points: over pairs of equal seed, with 95 % intervals; open: a bound.")
    return figure


def _curves(ax, curves: Table, runs: Table, name: str) -> None:
    """Every seed without repetition, with the best constant and with the best adaptive one."""
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
            ax.plot(one["step"], one[name], color=colour, lw=1.2, alpha=0.8, label=label)
    ax.set(xlabel="step", ylabel=name.replace("_", " "), ylim=(0, None))
    ax.legend()


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
    title="Schedules of repetition on the paper's networks",
    minutes={"smoke": 0.8, "laptop": 25, "paper": 5e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
