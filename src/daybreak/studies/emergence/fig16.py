"""Figure 16: on training data, repetition always makes recall emerge earlier."""

from daybreak.lab import Saved
from daybreak.studies import _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Tables
from daybreak.studies.emergence import _trained, fig5
from daybreak.studies.emergence.fig4 import above_guess


def _tables(saved: list[Saved]) -> Tables:
    trained = _runs.plateau_columns_at(saved, "train_accuracy", above_guess, "train")
    return {
        "plateaus": _runs.plateaus(saved, fig5.SETTINGS) | trained,
        "curves": _runs.curve_table(saved, fig5.SETTINGS, ("train_accuracy",)),
    }


def _judge(tables: Tables) -> Findings:
    runs = _runs.with_plateaus_at(tables["plateaus"], "train")
    by_B, by_p = fig5.factors(runs, "B"), fig5.factors(runs, "p")
    claim = Claim(
        id="A16",
        sentence="On training data, every amount of repetition makes recall emerge earlier.",
        paper="seen in the plot (N = 32, V = 256)",
        ours=f"times faster: {fig5.format_factors(by_B, 'B')}; {fig5.format_factors(by_p, 'p')}",
        verdict=_verdicts.all_of(_verdicts.verdict_above(x.range, 1) for x in (*by_B.values(), *by_p.values())),
        note=f"Grid: {_runs.grid_of(runs, 'N', 'V', 'B', 'p')}; the runs of figure 5. Level of accuracy on data like those of training: "
        "a fifth of the way from 1/N to 1. With large B, answering the most frequent value reaches it too. Factors over pairs "
        "of equal seed. Holds if every 95 % "
        "interval lies above 1, fails if one lies below.",
    )
    return Findings(_trained.unless_outside([claim], runs, fig5.HOURS))


def _draw(tables: Tables, findings: Findings):
    return fig5.draw(tables, "train_accuracy")


STUDY = Study(
    name="fig16",
    paper="emergence",
    title="Recall with repetition, on training data",
    minutes={"smoke": 0.4, "laptop": 60 * fig5.HOURS, "paper": 2.5e4},
    data=_runs.training(fig5.SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
