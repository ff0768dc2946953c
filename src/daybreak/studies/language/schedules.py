"""Repetition in text that is taken away when the induction head has formed: is it as early as the best constant, with the loss of none?

Criteria, written on 2026-11-18 before any run of the adaptive arm: the runs of text-induction at q = 0 and at constant q, and
adaptive ones that begin with q = 1 and train on plain text as soon as the induction score has been 0.3 for two evaluations;
seeds 1 to 5, 8 000 steps. Losses are on plain text that is held out, means over the last tenth of the steps. Pairs have equal seeds,
intervals are 95 %.
- L11 holds if the adaptive runs emerge at most 15 % later than the best constant q, by the interval of the paired factor; it fails if
  the interval lies entirely above.
- L12 holds if the interval of the paired difference in loss to plain text lies below 0.02 nats; it fails if above.
- L13 holds if the induction score at the end is still above 0.15, half of its level, in every run; it fails otherwise.
An adaptive run that did not emerge leaves all three undecided.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._pairs import difference
from daybreak.studies._study import Claim, Findings, Study, Tables, Verdict, verdict
from daybreak.studies.language import _text

HOURS = 0.2  # of two cores for the adaptive arm; the others are those of text-induction
SHARE = 1.0  # q of the adaptive runs, and of text-laws
_LATER = 1.15
_CHEAP = 0.02  # nats on plain text that do not count
_KEPT = 0.15  # induction score at the end
_SETTINGS = ("q", "schedule")

SWEEPS: _runs.Sweeps = {
    "smoke": f"""[[grid]]{_text.TINY}
task.q = [0.0, 0.5]
[[grid]]{_text.TINY}
task.q = 0.5
schedule.name = "adaptive"
""",
    "laptop": f"""[[grid]]{_text.WHOLE}
task.q = [0.0, 0.05, 0.1, 0.2, 0.5, 0.7, 1.0]
[[grid]]{_text.WHOLE}
task.q = 1.0
schedule.name = "adaptive"
""",
    "paper": """
[[grid]]
preset = "text-induction"
seeds = 10
stop.budget = 50_000
stop.margin = 1000
task.q = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0]
[[grid]]
preset = "text-induction"
seeds = 10
stop.budget = 50_000
stop.margin = 1000
task.q = [0.5, 1.0]
schedule.name = "adaptive"
""",
}


def _tables(saved: list[Saved]) -> Tables:
    runs, curves = _text.runs_table(saved, _SETTINGS), _text.curves_table(saved, _SETTINGS)
    return {
        name: table | {"arm": _arm(table["q"], table["schedule"])}
        for name, table in (("runs", runs), ("curves", curves))
    }


def _arm(q: np.ndarray, schedule: np.ndarray) -> np.ndarray:
    """A short name of the repetition that a run was trained with."""
    names = [
        f"{'adaptive, ' if s == 'adaptive' else ''}q = {x:g}" if x else "none" for x, s in zip(q, schedule, strict=True)
    ]
    return np.array(names)


def _judge(tables: Tables) -> Findings:
    runs = tables["runs"]
    arms = np.unique(runs["arm"]).tolist()
    adaptive = runs["arm"] == next(x for x in arms if x.startswith("adaptive"))
    constants = {x: float(np.log(runs["plateau"][runs["arm"] == x]).mean()) for x in arms if x.startswith("q")}
    best = min(constants, key=lambda x: constants[x])
    none = runs["arm"] == "none"
    factor = _pairs.paired_factor(runs, adaptive, runs["arm"] == best)
    losses = {"adaptive": difference(runs, adaptive, none, "clean_loss")} | {
        x: difference(runs, runs["arm"] == x, none, "clean_loss") for x in constants
    }
    scores = runs["score"][adaptive]
    emerged = not runs["censored"][adaptive].any()

    def if_emerged(found: Verdict) -> Verdict:
        return found if emerged else "undecided"

    note = f"Grid: {_runs.grid_of(runs, 'q')}, {runs['steps'].max():,.0f} steps; pairs of equal seed, 95 % intervals."
    claims = (
        Claim(
            id="L11",
            sentence="Repetition that is taken away brings the induction head at most 15 % later than the best constant one.",
            paper="ours: what paper A proposes, on text",
            ours=f"steps of the adaptive runs over those of constant {best}: {factor}",
            verdict=if_emerged(_verdicts.verdict_below(factor.range, _LATER)),
            note=f"{note} Until the switch an adaptive run is the constant run of its q and seed, step by step.",
        ),
        Claim(
            id="L12",
            sentence="It ends with the loss of plain text.",
            paper="ours",
            ours=f"loss on plain text against none: {', '.join(f'{name}: {x}' for name, x in losses.items())}",
            verdict=if_emerged(_verdicts.verdict_below(losses["adaptive"].interval, _CHEAP)),
            note=f"{note} Nats per token of held-out text after equal steps. Holds if the interval lies below {_CHEAP}.",
        ),
        Claim(
            id="L13",
            sentence="The induction head stays when repetition is taken away.",
            paper="ours",
            ours=f"induction score at the end from {scores.min():.2f} to {scores.max():.2f}",
            verdict=if_emerged(verdict(bool(scores.min() > _KEPT))),
            note=f"{note} Holds if it is above {_KEPT} in every run. On plain text it falls, and below half of its level repetition "
            "returns for some evaluations: it is kept up, not left alone.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    runs, curves = tables["runs"], tables["curves"]
    figure, axes = pictures.panels(
        ["induction score of the best head", "loss on plain text, against none"], width=4.6, height=3.2
    )
    most = f"q = {runs['q'].max():g}"
    names = [x for x in np.unique(runs["arm"]).tolist() if x in ("none", most, f"adaptive, {most}")]
    for name, colour in zip(names, (pictures.OURS, pictures.NEUTRAL, pictures.PAPER), strict=False):
        for i, seed in enumerate(np.unique(runs["seed"])):
            rows = (curves["arm"] == name) & (curves["seed"] == seed)
            axes[0].plot(
                curves["step"][rows], curves["induction score"][rows], color=colour, lw=1, label=None if i else name
            )
    axes[0].axhline(0.3, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[0].set(xlabel="step", xlim=(0, None), ylim=(0, None))
    axes[0].legend()
    others = [x for x in np.unique(runs["arm"]).tolist() if x != "none"]
    for i, name in enumerate(others):
        found = difference(runs, runs["arm"] == name, runs["arm"] == "none", "clean_loss")
        colour = pictures.OURS if name.startswith("adaptive") else pictures.PAPER
        axes[1].plot(found.interval, [i, i], color=colour, lw=2)
        axes[1].plot(found.mean, i, "o", color=colour, ms=5)
    axes[1].axvline(0, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[1].set(yticks=range(len(others)), yticklabels=others, xlabel="nats per token, paired, 95 %")
    axes[1].invert_yaxis()
    return figure


STUDY = Study(
    name="text-schedules",
    paper="language",
    title="Repetition in text that is taken away",
    minutes={"smoke": 0.4, "laptop": 60 * HOURS, "paper": 900},
    data=_runs.training(SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
