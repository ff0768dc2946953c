"""How long the induction head takes in text: against context length, batch, width and vocabulary.

Criteria, written on 2026-11-18 before any run of the grid below: preset text-induction with q = 1, one setting changed at a time:
T in {32, 64, 128} (with 2, 4, 8 copies of the passage, so that the same share of the tokens repeats), batch in {8, 16, 32}, width in
{64, 128, 256} with four heads, vocabulary in {250, 500, 1000}; seeds 1 to 3, at most 8 000 steps. One law,
steps = C T^a batch^b width^c V^e, by censored maximum likelihood, with 95 % intervals.
- L7 holds if the intervals of a and b lie within 0.2 of −0.5: tokens = steps × batch × T then grow as √(batch × T), as published for
  plain text; it fails if one of them lies entirely outside of that.
- L8 holds if the interval of a lies above 0, as in paper A, where a longer context is harder; it fails if below.
- L9 holds if the interval of c lies within 0.2 of 0: published is that the size of the model does not matter; fails if entirely outside.
- L10 holds if the interval of e lies above 0, as in paper A's recall; it fails if below.
Fewer than seven configurations with an emerged run decide nothing.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.measure import Law
from daybreak.studies import _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, Verdict, select
from daybreak.studies.language import _text

HOURS = 0.5  # of two cores for the laptop grid
_EXPONENTS = {"T": "a", "batch": "b", "width": "c", "vocabulary": "e"}
FORM = "C * T**a * batch**b * width**c * vocabulary**e"
_FEWEST = 7  # configurations with an emerged run
_NEAR = 0.2  # of a published exponent

_GRID = """
[[grid]]
preset = "text-induction"
seeds = [1, 2, 3]
"""
_CHANGES = (
    "batch = [8, 16, 32]",
    "task.T = 32\ntask.copies = 2",
    "task.T = 128\ntask.copies = 8",
    "model.width = 64\nmodel.head_width = 16",
    "model.width = 256\nmodel.head_width = 64",
    "task.vocabulary = [250, 500]",
)

SWEEPS: _runs.Sweeps = {
    "smoke": "\n".join(f"[[grid]]{_text.TINY}{change}" for change in ("", "task.vocabulary = 500", "model.mlp = 16")),
    "laptop": "\n".join(_GRID + change for change in _CHANGES),
    "paper": """
preset = "text-induction"
seeds = 5
task.T = [64, 128, 256, 512, 1024]
task.copies = 4
task.passage = 10
batch = [8, 16, 32, 64, 128]
stop.budget = 100_000
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {"plateaus": _runs.plateaus(saved, tuple(_EXPONENTS))}


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    law = _law(runs)
    note = f"Grid: {_runs.grid_of(runs, *_EXPONENTS)}; one setting changed at a time, q = 1. "
    if law is not None:
        note += f"Steps = {law.formula}, R² {law.r2:.2f}. "
    claims = (
        Claim(
            id="L7",
            sentence="Tokens until the induction head grow as the square root of batch × context.",
            paper="ours; 10^5.7 √(batch × context) tokens of plain text in Aoyama et al. (2025)",
            ours=f"steps: {_exponents(law, 'T', 'batch')}",
            verdict=_verdicts.all_of((_within(law, "T", -0.5), _within(law, "batch", -0.5))),
            note=f"{note}Holds if both intervals lie within {_NEAR} of −0.5, fails if one lies outside of that.",
        ),
        Claim(
            id="L8",
            sentence="A longer context takes more steps.",
            paper="ours; T^0.8 and N^2.25 in paper A, context² in Musat et al. (2025)",
            ours=_exponents(law, "T"),
            verdict="undecided" if law is None else _verdicts.verdict_above(law.intervals["a"]),
            note=f"{note}Longer contexts have more copies of the passage, so the same share of the tokens repeats.",
        ),
        Claim(
            id="L9",
            sentence="The width of the model does not matter.",
            paper="ours; independent of model size in Aoyama et al. (2025)",
            ours=_exponents(law, "width"),
            verdict=_within(law, "width", 0.0),
            note=f"{note}The learning rate is the same. Holds if the interval lies within {_NEAR} of 0.",
        ),
        Claim(
            id="L10",
            sentence="A larger vocabulary takes more steps.",
            paper="ours; V^0.79 in paper A's recall",
            ours=_exponents(law, "vocabulary"),
            verdict="undecided" if law is None else _verdicts.verdict_above(law.intervals["e"]),
            note=f"{note}The same text by fewer words, so a context of 64 tokens holds less text.",
        ),
    )
    return Findings(claims, {} if law is None else {"steps": law})


def _law(runs: Table) -> Law | None:
    emerged = np.unique(runs["configuration"][~runs["censored"]]).size
    return None if emerged < _FEWEST else _runs.law(FORM, runs)


def _within(law: Law | None, name: str, value: float) -> Verdict:
    return "undecided" if law is None else _verdicts.verdict_within(law.intervals[_EXPONENTS[name]], value, _NEAR)


def _exponents(law: Law | None, *names: str) -> str:
    if law is None:
        return f"fewer than {_FEWEST} configurations with an emerged run"
    found = ((name, _EXPONENTS[name]) for name in names)
    return ", ".join(
        f"{name}^{law.coefficients[x]:.2f} {_verdicts.format_interval(law.intervals[x])}" for name, x in found
    )


def _draw(tables: Tables, findings: Findings):
    runs, law = tables["plateaus"], findings.laws.get("steps")
    figure, axes = pictures.panels(["context", "batch", "width", "vocabulary"], width=2.9, height=2.9)
    usual = {name: _usual(runs[name]) for name in _EXPONENTS}
    for ax, name in zip(axes, _EXPONENTS, strict=True):
        alone = np.all([runs[x] == usual[x] for x in usual if x != name], axis=0)
        _text.draw_steps(ax, select(runs, alone), name, law)
        ax.sharey(axes[0])
    return figure


def _usual(column: np.ndarray) -> float:
    values, counts = np.unique(column, return_counts=True)
    return float(values[np.argmax(counts)])


STUDY = Study(
    name="text-laws",
    paper="language",
    title="How long induction heads take in text",
    minutes={"smoke": 0.4, "laptop": 60 * HOURS, "paper": 9e4},
    data=_runs.training(SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
