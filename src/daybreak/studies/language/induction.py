"""Does repetition bring induction heads forward in natural text, how much, and what does it cost?

Criteria, written on 2026-11-18 before any run of the grid below: two layers of attention on Shakespeare and the King James Bible
(preset text-induction), in a share q of the sequences a passage of 10 tokens occurs four times, q in {0, 0.05, 0.1, 0.2, 0.5}, seeds
1 to 5, 8 000 steps each. The network was chosen on seed 0, which is not among them; there, q = 0.5 emerged at step 3 939 and q = 0 not
within 8 000. q = 0.7 and 1 were added on the same day when no run with q up to 0.2 had emerged, and with q = 1 seeds 101 and 102, which
are not among them either, had at steps 1 670 and 1 922; the criteria did not change. A run has emerged when the induction score of one
head, on random tokens that repeat, is 0.3. All losses are on plain text that is held out, as means over the last tenth of the steps.
Pairs have equal seeds, intervals are 95 %.
- L1 holds if for one q all seeds emerged, and earlier than plain text by the interval of the paired factor, or by its bound where plain
  text is censored; it fails if for each such q the interval lies below 1, or if only plain text emerged.
- L2 holds if the exponent of q in steps = C q^a has an interval below 0; it fails if above. It needs three values of q with emerged runs.
- L3 holds if the median of rise / plateau is below 0.25, the rise being from a score of 0.05 to 0.3; it fails if it is above.
- L4 holds if the interval of the mean of (previous − induction) / induction lies below 0.05, previous being the step at which the
  first layer's attention to the previous token is half of its largest value; it fails if it lies above.
- L5 holds if for every q up to 0.1 the interval of the paired difference in loss to q = 0 lies below 0.02 nats; it fails if one lies above.
- L6 holds if at the largest q the interval of the paired difference in the in-context score to q = 0 lies below 0; it fails if above.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.measure import Law
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._pairs import Difference, difference
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, Verdict, select
from daybreak.studies.language import _text

HOURS = 1  # of two cores for the laptop grid
_SHARP = 0.25  # of the plateau that the rise may take
_WITH = 0.05  # of the plateau by which the previous-token head may come later
_CHEAP = 0.02  # nats on plain text that do not count
_LITTLE = 0.1  # share of the sequences that is a little repetition

SWEEPS: _runs.Sweeps = {
    "smoke": f"{_text.TINY}\ntask.q = [0.0, 0.5]",
    "laptop": f"{_text.WHOLE}\ntask.q = [0.0, 0.05, 0.1, 0.2, 0.5, 0.7, 1.0]",
    "paper": """
preset = "text-induction"
seeds = 10
evaluation = 128
task.T = 512
model.width = 512
model.head_width = 64
model.heads = 8
task.passage = 64
batch = 64
stop.budget = 50_000
stop.margin = 1000
task.q = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {"runs": _text.runs_table(saved, ("q",)), "curves": _text.curves_table(saved, ("q",))}


def _judge(tables: Tables) -> Findings:
    runs = tables["runs"]
    law = _law(runs)
    grid = _runs.grid_of(runs, "q")
    note = f"Grid: {grid}, {runs['steps'].max():,.0f} steps. Level: induction score 0.3 on random tokens that repeat."
    claims = (_earlier(runs, note), _how_much(law, note), _sharp(runs, note), _previous(runs, note))
    return Findings((*claims, *_price(runs, note)), {} if law is None else {"q": law})


def _with(runs: Table) -> list[float]:
    return [float(q) for q in np.unique(runs["q"]) if q]


def _earlier(runs: Table, note: str) -> Claim:
    plain = runs["q"] == 0
    factors = {q: _pairs.paired_factor(runs, plain, runs["q"] == q) for q in _with(runs)}
    emerged = {q: int((~runs["censored"][runs["q"] == q]).sum()) for q in np.unique(runs["q"]).tolist()}
    seeds = int(plain.sum())
    whole = [factors[q].range for q in factors if emerged[q] == seeds]
    verdict: Verdict = "undecided"
    if any(x.low > 1 for x in whole):
        verdict = "holds"
    elif emerged[0.0] and (not any(emerged[q] for q in factors) or (whole and all(x.high < 1 for x in whole))):
        verdict = "fails"
    found = ", ".join(f"q {q:g}: {factor}" for q, factor in factors.items() if emerged[q] == seeds)
    counts = ", ".join(f"q {q:g}: {n} of {seeds}" for q, n in emerged.items())
    return Claim(
        id="L1",
        sentence="A passage that repeats in some of the sequences brings the induction head forward.",
        paper="ours: paper A's lever, on text",
        ours=f"times earlier than plain text: {found or 'none emerged'}; emerged: {counts}",
        verdict=verdict,
        note=f"{note} Factors over pairs of equal seed, with 95 % intervals; > is a bound, as plain text did not emerge.",
    )


def _law(runs: Table) -> Law | None:
    rows = select(runs, runs["q"] > 0)
    if np.unique(rows["q"][~rows["censored"]]).size < 3:
        return None
    return _runs.law("C * q**a", rows)


def _how_much(law: Law | None, note: str) -> Claim:
    if law is None:
        ours, verdict = "fewer than three values of q with emerged runs", "undecided"
    else:
        exponent = f"{law.coefficients['a']:.2f} {_verdicts.format_interval(law.intervals['a'])}"
        ours = f"steps = {law.formula}; exponent {exponent}, R² {law.r2:.2f}"
        verdict = _verdicts.verdict_below(law.intervals["a"])
    return Claim(
        id="L2",
        sentence="The more sequences repeat, the earlier it emerges: a power law of their share q.",
        paper="ours",
        ours=ours,
        verdict=verdict,
        note=f"{note} Holds if the 95 % interval of the exponent lies below 0.",
    )


def _sharp(runs: Table, note: str) -> Claim:
    done = ~runs["censored"]
    shares = runs["rise"][done] / runs["plateau"][done]
    middle = float(np.median(shares)) if shares.size else np.nan
    return Claim(
        id="L3",
        sentence="It emerges sharply: the score rises from 0.05 to 0.3 in less than a quarter of the plateau.",
        paper="ours; sudden in Olsson et al. (2022)",
        ours=f"median {middle:.2f} of {shares.size} runs, from {shares.min():.2f} to {shares.max():.2f}"
        if shares.size
        else "none emerged",
        verdict="undecided" if not shares.size else "holds" if middle < _SHARP else "fails",
        note=f"{note} Holds if the median is below {_SHARP}.",
    )


def _previous(runs: Table, note: str) -> Claim:
    done = ~runs["censored"]
    shift = runs["previous"][done] / runs["plateau"][done] - 1
    if shift.size < 2:
        ours, verdict = "fewer than two runs emerged", "undecided"
    else:
        found = Difference(float(shift.mean()), _verdicts.interval_of_mean(shift))
        ours = f"mean of (previous − induction) / induction {found}; earlier in {int((shift < 0).sum())} of {shift.size} runs"
        verdict = _verdicts.verdict_below(found.interval, _WITH)
    return Claim(
        id="L4",
        sentence="A head of the first layer turns to the previous token before the induction head forms, or with it.",
        paper="ours; an induction head needs one (Olsson et al. 2022)",
        ours=ours,
        verdict=verdict,
        note=f"{note} It has turned when its attention is half of its largest value. Holds if the interval lies below {_WITH}.",
    )


def _price(runs: Table, note: str) -> tuple[Claim, Claim]:
    plain = runs["q"] == 0
    loss, score = (
        {q: difference(runs, runs["q"] == q, plain, name) for q in _with(runs)}
        for name in ("clean_loss", "in_context_score")
    )
    little = [x.interval for q, x in loss.items() if q <= _LITTLE]
    best = score[max(score)]
    base = {name: float(runs[name][plain].mean()) for name in ("clean_loss", "in_context_score")}
    cheap: Verdict = (
        "holds"
        if little and all(x.high < _CHEAP for x in little)
        else "fails"
        if any(x.low > _CHEAP for x in little)
        else "undecided"
    )
    return (
        Claim(
            id="L5",
            sentence="Repetition in up to a tenth of the sequences costs nothing on plain text.",
            paper="ours",
            ours=f"loss without repetition {base['clean_loss']:.3f}; with it, {_listed(loss)}",
            verdict=cheap,
            note=f"{note} Nats per token of held-out text after equal steps, paired. Holds if every interval up to q = {_LITTLE:g} "
            f"lies below {_CHEAP}.",
        ),
        Claim(
            id="L6",
            sentence="The induction head is of use on plain text: with it, a longer context lowers the loss more.",
            paper="ours; the score falls in Olsson et al. (2022)",
            ours=f"in-context score without repetition {base['in_context_score']:.3f}; with it, {_listed(score)}",
            verdict=_verdicts.verdict_below(best.interval),
            note=f"{note} Loss at late positions minus loss at early ones, on held-out text, paired. Holds if the interval at the "
            "largest q lies below 0.",
        ),
    )


def _listed(differences: dict[float, Difference]) -> str:
    return ", ".join(f"q {q:g}: {x}" for q, x in differences.items())


def _draw(tables: Tables, findings: Findings):
    runs, curves = tables["runs"], tables["curves"]
    titles = ["induction score of the best head", "steps until it emerges", "loss on plain text, against none"]
    figure, axes = pictures.panels(titles, width=4.4, height=3.1)
    pictures.curve_panel(axes[0], curves, y="induction score", series="q")
    axes[0].axhline(0.3, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[0].set(ylim=(0, None))
    law = findings.laws.get("q")
    known = law if law is not None and law.intervals["a"].high < 0 else None  # one that is open would fill the panel
    _text.draw_steps(axes[1], select(runs, runs["q"] > 0), "q", known)
    _differences(axes[2], runs)
    return figure


def _differences(ax, runs: Table) -> None:
    for i, q in enumerate(_with(runs)):
        found = difference(runs, runs["q"] == q, runs["q"] == 0, "clean_loss")
        ax.plot([i, i], found.interval, color=pictures.OURS, lw=2)
        ax.plot(i, found.mean, "o", color=pictures.OURS, ms=5)
    ax.axhline(0, color=pictures.NEUTRAL, lw=0.8, ls=":")
    ax.set(xticks=range(len(_with(runs))), xticklabels=[f"{q:g}" for q in _with(runs)])
    ax.set(xlabel="share q of sequences that repeat", ylabel="nats per token, paired, 95 %")


STUDY = Study(
    name="text-induction",
    paper="language",
    title="Induction heads in text, with repetition",
    minutes={"smoke": 0.4, "laptop": 60 * HOURS, "paper": 3e5},
    data=_runs.training(SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
