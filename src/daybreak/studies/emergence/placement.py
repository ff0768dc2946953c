"""How repetition is placed in recall: what single copies, extra copies and unanswerable sequences each do to the plateau.

A sequence of recall holds the query's pair in some of its N slots. `exactly` fills B of them; `one-plus` fills one and others by
chance, B on average; `at-least-one` fills each with probability B/N, given that one is filled; `bernoulli` fills each with
probability B/N, so that some sequences have no answer. At B = 1 both of the first two have exactly one copy: they differ
in random numbers only, and their factor shows how much chance alone does.

Criteria, written on 2026-11-18 before any run of the grid below: N = 12, V = 32, the two-layer attention-only network of the study
`schedules`, B in {1, 2, 4}, all four placements, seeds 21 to 25, which no other study has. The time of a run is the step at which
clean accuracy reaches 60 %. A factor is the ratio of two times over pairs of equal seed, with its 95 % interval; with a
censored run it is a bound. One probe of each of exactly 2 and exactly 4 copies with seed 102 set the budget.
- R7 holds if for B = 2 and 4 the interval of (exactly B) over (one-plus B) lies above 1; it fails if one lies below 1.
- R8 compares logarithms: speed-up of exactly B minus half of that of one-plus B, each against exactly one copy. It holds if
  the 95 % interval over seeds lies above zero at B = 2 and 4; it fails if one lies below. If one-plus itself does not
  speed up at some B (interval not above 1), there is nothing to divide there and that B does not count; if no B is left, it is
  undecided.
- R9 holds if the interval of (exactly one) over (at-least-one, B = 1) lies above 1.5; it fails if it lies below.
- R10 holds if for every B the interval of (bernoulli) over (at-least-one) lies above 1; it fails if one lies below 1.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.measure import Interval
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select
from daybreak.studies.emergence import _trained

_SETTINGS = ("N", "V", "B", "placement")
_PLACEMENTS = ("exactly", "one-plus", "at-least-one", "bernoulli")
_MARKERS = "osDv"  # of the placements; a hollow triangle that points upwards is a censored run
_BASELINE = ("exactly", 1.0)

_SWEEPS: _runs.Sweeps = {
    "smoke": f"""{_trained.TINY}{_trained.TINY_RECALL}
task.N = 3
task.V = 24
task.B = [1, 2]
task.placement = {list(_PLACEMENTS)}
""",
    "laptop": f"""{_trained.SMALL_RECALL}
seeds = [21, 22, 23, 24, 25]
task.N = 12
task.B = [1, 2, 4]
task.placement = {list(_PLACEMENTS)}
stop.budget = 12_000
stop.level = 0.6
""",
    "paper": f"""
preset = "paper-a-recall"
seeds = 5
task.B = [1, 2, 4]
task.placement = {list(_PLACEMENTS)}
stop.level = 0.6
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {
        "plateaus": _runs.plateaus(saved, (*_SETTINGS, *_trained.NETWORK)),
        "curves": _runs.curve_table(saved, _SETTINGS, ("clean_accuracy",)),
    }


def _rows(runs: Table, placement: str, B: float):
    return (runs["placement"] == placement) & (runs["B"] == B)


def _factor(runs: Table, slow: tuple[str, float], fast: tuple[str, float]) -> _pairs.Factor:
    return _pairs.paired_factor(runs, _rows(runs, *slow), _rows(runs, *fast))


def more_than_half(runs: Table, B: float) -> Interval:
    """Log speed-up of exactly B copies minus half of that of one-plus: 95 % of the mean over seeds; a bound if a run was censored."""
    conditions = [_BASELINE, ("exactly", B), ("one-plus", B)]
    groups = [select(runs, _rows(runs, *x)) for x in conditions]
    seeds = sorted(set.intersection(*({*x["seed"].tolist()} for x in groups)))
    logs = [
        np.log([float(x["plateau"][x["seed"] == seed][0]) for seed in seeds]) for x in groups
    ]  # of one copy, exactly B, one-plus
    contrast = 0.5 * logs[0] - logs[1] + 0.5 * logs[2]
    cut = [bool(x["censored"].any()) for x in groups]
    if any(cut) or contrast.size < 2:
        # A time that was cut is larger in truth: that of exactly B lowers the contrast, the others raise it.
        low = -np.inf if cut[1] or contrast.size < 2 else float(contrast.mean())
        high = np.inf if cut[0] or cut[2] or contrast.size < 2 else float(contrast.mean())
        return Interval(low, high)
    return _verdicts.interval_of_mean(contrast)


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    values = [float(B) for B in np.unique(runs["B"])]
    more = [B for B in values if B > 1]
    gains = {(x, B): _factor(runs, _BASELINE, (x, B)) for x in _PLACEMENTS for B in values if (x, B) != _BASELINE}
    table = "; ".join(f"{x} {B:g}: {gain}" for (x, B), gain in gains.items())
    note = (
        f"Grid: {_runs.grid_of(runs, 'N', 'V', 'B')}; {_trained.network_of(runs)}. Times to 60 % clean accuracy; "
        "factors over pairs of equal seed, 95 % intervals; < and > are bounds from censored runs. Times faster than exactly one "
        f"copy: {table}."
    )
    return Findings(
        (
            _single(runs, more, note),
            _repetition_alone(runs, more, gains, note),
            _old_baseline(gains["at-least-one", 1.0], note),
            _unanswerable(runs, values, note),
        )
    )


def _single(runs: Table, values: list[float], note: str) -> Claim:
    factors = {B: _factor(runs, ("exactly", B), ("one-plus", B)) for B in values}
    return Claim(
        id="R7",
        sentence="Of equally many copies on average, those among which single ones occur make clean recall emerge earlier.",
        paper="ours; the paper's account of grokking rests on single copies",
        ours="times faster with one-plus than with exactly: " + ", ".join(f"B {B:g}: {x}" for B, x in factors.items()),
        verdict=_verdicts.all_of(_verdicts.verdict_above(x.range, 1) for x in factors.values()),
        note=f"{note} With one-plus {_share_of_single(runs, values)} of the sequences have one copy. Holds if both intervals lie "
        "above 1, fails if one lies below.",
    )


def _share_of_single(runs: Table, values: list[float]) -> str:
    N = float(runs["N"][0])
    return " and ".join(f"{(1 - (B - 1) / (N - 1)) ** (N - 1):.0%} (B = {B:g})" for B in values)


def _repetition_alone(
    runs: Table, values: list[float], gains: dict[tuple[str, float], _pairs.Factor], note: str
) -> Claim:
    counted = [B for B in values if gains["one-plus", B].range.low > 1]
    contrasts = {B: more_than_half(runs, B) for B in counted}
    parts = ", ".join(
        f"B {B:g}: {np.log(gains['exactly', B].value) / np.log(gains['one-plus', B].value):.0%} "
        f"(minus a half, in logarithms: {_verdicts.format_interval(x)})"
        for B, x in contrasts.items()
    )
    return Claim(
        id="R8",
        sentence="Most of the speed-up by repetition does not need single copies: exactly B copies keep more than half of it.",
        paper="ours, not the paper's",
        ours=f"part of the logarithm of the speed-up that is left: {parts}"
        if counted
        else "one-plus does not speed up clean recall here, so there is nothing to divide",
        verdict=_verdicts.all_of(map(_verdicts.verdict_above, contrasts.values())) if counted else "undecided",
        note=f"{note} Only B at which one-plus is faster than one copy, with its interval, count. Holds if each interval lies above "
        "zero, fails if one lies below.",
    )


def _old_baseline(gain: _pairs.Factor, note: str) -> Claim:
    return Claim(
        id="R9",
        sentence="At-least-one at B = 1 is repetition already: it makes recall emerge more than 1.5 times as fast as exactly one copy.",
        paper="ours, not the paper's",
        ours=f"{gain} times faster",
        verdict=_verdicts.verdict_above(gain.range, 1.5),
        note=f"{note} It was the baseline of our earlier figures. Holds if the interval lies above 1.5, fails if below.",
    )


def _unanswerable(runs: Table, values: list[float], note: str) -> Claim:
    factors = {B: _factor(runs, ("bernoulli", B), ("at-least-one", B)) for B in values}
    N = float(runs["N"][0])
    lost = ", ".join(f"B {B:g}: {(1 - B / N) ** N:.0%}, {1 / (1 - (1 - B / N) ** N):.2f}" for B in values)
    return Claim(
        id="R10",
        sentence="Sequences that cannot be answered, which the paper's binomial placement has, delay recall.",
        paper="ours; the paper's text places the pair in each slot with probability B/N",
        ours="times faster without them: " + ", ".join(f"B {B:g}: {x}" for B, x in factors.items()),
        verdict=_verdicts.all_of(_verdicts.verdict_above(x.range, 1) for x in factors.values()),
        note=f"{note} Part of the sequences of bernoulli without an answer, and the factor if they did nothing: {lost}. Holds if every "
        "interval lies above 1, fails if one lies below.",
    )


def _draw(tables: Tables, findings: Findings):
    runs, curves = tables["plateaus"], tables["curves"]
    B = 2.0
    where = f"N = {runs['N'][0]:g}, V = {runs['V'][0]:g}"
    titles = [f"steps to 60 % clean accuracy, {where}", f"learning curves, B = {B:g}"]
    figure, axes = pictures.panels(titles, width=5.0, height=3.4)
    values = np.unique(runs["B"])
    for i, (placement, colour) in enumerate(zip(_PLACEMENTS, pictures.shades(len(_PLACEMENTS)), strict=True)):
        for j, value in enumerate(values):
            mine = select(runs, _rows(runs, placement, value))
            x = np.full(mine["plateau"].size, j + 0.18 * (i - 1.5))
            cut = mine["censored"]
            axes[0].plot(x[~cut], mine["plateau"][~cut], _MARKERS[i], color=colour, ms=4)
            axes[0].plot(x[cut], mine["plateau"][cut], "^", color=colour, ms=6, mfc="none")
            mean = _runs.geometric_mean(mine, np.ones(x.size, np.bool_))
            axes[0].plot(x[0] + np.array([-0.08, 0.08]), [mean, mean], color=colour, lw=1.5)
        axes[0].plot([], [], _MARKERS[i], color=colour, ms=4, label=placement)
        shown = select(curves, _rows(curves, placement, B))
        for seed in np.unique(shown["seed"]):
            one = select(shown, shown["seed"] == seed)
            axes[1].plot(one["step"], one["clean_accuracy"], color=colour, lw=1)
    axes[0].set(yscale="log", ylabel="steps", xticks=range(values.size), xticklabels=[f"B = {x:g}" for x in values])
    pictures.plain_numbers(axes[0].yaxis)
    axes[0].legend(title="placement", loc="center left", bbox_to_anchor=(1, 0.5))
    axes[1].axhline(1 / runs["N"][0], color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[1].set(xlabel="step   (dotted: guess)", ylabel="clean accuracy", ylim=(0, 1.03), xlim=(0, None))
    pictures.caption(figure, f"{_runs.grid_of(runs, 'N', 'V', 'B')}. Lines on the left: geometric means.")
    return figure


STUDY = Study(
    name="placement",
    paper="emergence",
    title="How copies are placed in recall: exactly, one and more, or by chance",
    minutes={"smoke": 0.6, "laptop": 12, "paper": 4e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
