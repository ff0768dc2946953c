"""How much what the paper does not state moves the plateau of a regression: one choice at a time, at two sizes.

The paper gives neither the initial scale of the read-out (our initial loss is 3.6, its own 0.5), nor the norm of W*, the
activation, biases, initial weights, nor whether attention is causal. Layer norm it does state: none, "which makes
solving the task more challenging". Each is changed alone in the preset `paper-a-regression`.

Criteria, written on 2026-11-18 before any run of the changed settings: (T, d) = (32, 16) and (64, 32), seeds 0 to 2; the
unchanged runs are those of figure 3, and like them all have products in bfloat16 (claim R11). Plateaus end at clean loss 0.1;
budget of twice the paper's law plus 500 steps. A factor is the plateau with the choice over that without, over pairs of equal
seed, with its 95 % interval; with a censored run it is a bound.
Known before: in the calibration of the preset a read-out of a tenth made the plateau a fifth shorter (docs/log.md).
- A3-open holds if for every choice that the paper leaves open, at both sizes, the interval lies between 1/1.5 and 1.5. It fails if
  one lies entirely outside. Otherwise it is undecided.
- A3-open-exponents: both T and d double between the sizes, so the logarithm to base 2 of the ratio of plateaus is the sum of their
  exponents (2.09 in the paper). It holds if no open choice shifts that sum by more than 0.3: every 95 % interval over
  seeds lies within 0.3 of zero. It fails if one lies entirely outside. Two sizes do not tell the exponent of T from that of d.
- A3-norm holds if layer norm before each part shortens the plateau: both intervals of the factor below 1; it fails if one lies above 1.
"""

from typing import Any, NamedTuple

import numpy as np

from daybreak import pictures
from daybreak._types import Bools
from daybreak.lab import Saved
from daybreak.measure import Interval
from daybreak.studies import _pairs, _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables
from daybreak.studies.emergence import _trained

_FACTOR = 1.5
_SHIFT = 0.3


class _Choice(NamedTuple):
    """A setting that is changed alone: its name in a sweep, in tables, its value, and whether the paper leaves it open."""

    setting: str
    column: str
    value: Any
    left_open: bool = True


_CHOICES = {
    "read-out × 0.01": _Choice("model.readout_scale", "readout_scale", 0.01),
    "W* with unit columns": _Choice("task.unit_columns", "unit_columns", True),
    "causal attention": _Choice("model.causal", "causal", True),
    "GELU": _Choice("model.activation", "activation", "gelu"),
    "no biases": _Choice("model.bias", "bias", False),
    "Xavier weights": _Choice("model.weights", "model_weights", "xavier"),
    "layer norm before": _Choice("model.norm", "norm", "pre", left_open=False),
    "layer norm after": _Choice("model.norm", "norm", "post", left_open=False),
}
_COLUMNS = tuple(dict.fromkeys(x.column for x in _CHOICES.values()))


def _sweep(head: str, sizes: str, names: tuple[str, ...]) -> str:
    """The runs without and with each choice."""
    changes = ["", *(f"{_CHOICES[name].setting} = {_toml(_CHOICES[name].value)}\n" for name in names)]
    return head + "".join(f'[[grid]]\npreset = "paper-a-regression"\n{sizes}{change}' for change in changes)


def _toml(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


_SWEEPS: _runs.Sweeps = {
    "smoke": _sweep(
        _trained.TINY,
        'where = "T == 2 * d"\ntask.T = [4, 8]\ntask.d = [2, 4]\n',
        ("read-out × 0.01", "W* with unit columns", "layer norm before"),
    ),
    "laptop": _sweep(
        'seeds = 3\nprecision = "bfloat16"\n',
        f'where = "T == 2 * d"\ntask.T = [32, 64]\ntask.d = [16, 32]\nstop.budget = "{_trained.PAPER_LAW}"\n',
        tuple(_CHOICES),
    ),
    "paper": _sweep("seeds = 5\n", 'where = "T == 2 * d"\ntask.T = [128, 256]\ntask.d = [64, 128]\n', tuple(_CHOICES)),
}


def _tables(saved: list[Saved]) -> Tables:
    rows = _runs.plateaus(saved, ("T", "d", *_COLUMNS))
    starts = [
        x.record.curves["clean_loss"][0] for x in saved if x.record is not None and x.record.outcome != "diverged"
    ]
    return {"plateaus": rows | {"initial_loss": np.array(starts)}}


def _with(runs: Table, name: str | None) -> Bools:
    """The rows with a choice; without any, if None."""
    if name is None:
        return ~np.any([_with(runs, x) for x in _CHOICES], axis=0)
    return runs[_CHOICES[name].column] == _CHOICES[name].value


def _made(runs: Table) -> list[str]:
    """The choices that were trained."""
    return [name for name in _CHOICES if _with(runs, name).any()]


def _sizes(runs: Table) -> list[float]:
    return [float(T) for T in np.unique(runs["T"])]


def factor(runs: Table, name: str, T: float) -> _pairs.Factor:
    """How many times longer the plateau is with a choice, at one length."""
    there = runs["T"] == T
    return _pairs.paired_factor(runs, there & _with(runs, name), there & _with(runs, None))


def shift(runs: Table, name: str) -> Interval:
    """By how much a choice changes the sum of the exponents of T and d: 95 % over seeds; unbounded if a run was censored."""
    small, large = _sizes(runs)[0], _sizes(runs)[-1]
    groups = [(runs["T"] == T) & _with(runs, x) for T in (small, large) for x in (None, name)]
    seeds = sorted(set.intersection(*({*runs["seed"][x].tolist()} for x in groups)))
    if any(runs["censored"][x].any() for x in groups) or len(seeds) < 2:
        return Interval(-np.inf, np.inf)
    logs = [np.array([np.log(runs["plateau"][x & (runs["seed"] == seed)][0]) for seed in seeds]) for x in groups]
    return _verdicts.interval_of_mean(((logs[3] - logs[2]) - (logs[1] - logs[0])) / np.log(large / small))


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    factors = {(name, T): factor(runs, name, T) for name in _made(runs) for T in _sizes(runs)}
    shifts = {name: shift(runs, name) for name in _made(runs)}
    open_ = [name for name in _made(runs) if _CHOICES[name].left_open]
    sizes = " and ".join(f"({T:g}, {runs['d'][runs['T'] == T][0]:g})" for T in _sizes(runs))
    loss = {name: float(np.mean(runs["initial_loss"][_with(runs, name)])) for name in (None, *_made(runs))}
    losses = ", ".join(f"{name or 'unchanged'} {x:.2g}" for name, x in loss.items())
    note = (
        f"(T, d) = {sizes}; {_runs.grid_of(runs, 'T', 'd')}. Plateau with a choice over that without, over pairs of equal seed, "
        f"95 % intervals; < and > are bounds from censored runs. Initial loss: {losses}."
    )
    within = (1 / _FACTOR, _FACTOR)
    claims = (
        Claim(
            id="A3-open",
            sentence="No choice that the paper leaves open changes the plateau of a regression by more than a factor 1.5.",
            paper="ours; the paper does not state these choices",
            ours=f"at T = {_and(_sizes(runs))}: {_table(factors, open_)}",
            verdict=_verdicts.all_of(_between(factors[name, T].range, within) for name in open_ for T in _sizes(runs)),
            note=f"{note} Holds if every interval lies between 1/1.5 and 1.5, fails if one lies entirely outside.",
        ),
        Claim(
            id="A3-open-exponents",
            sentence="None of them shifts the sum of the exponents of T and d by more than 0.3.",
            paper="ours; the sum is 2.09 in the paper",
            ours=f"unchanged {_sum_of_exponents(runs):.2f}; shifted by "
            + ", ".join(f"{name}: {_verdicts.format_interval(shifts[name])}" for name in open_),
            verdict=_verdicts.all_of(_verdicts.verdict_within(shifts[name], 0.0, _SHIFT) for name in open_),
            note=f"{note} Both T and d double, so two sizes give the sum only. Holds if every 95 % interval lies within 0.3 of zero, fails "
            "if one lies entirely outside.",
        ),
        *_norm(runs, factors, note),
    )
    return Findings(claims)


def _norm(runs: Table, factors: dict[tuple[str, float], _pairs.Factor], note: str) -> list[Claim]:
    named = [name for name in _made(runs) if _CHOICES[name].column == "norm"]
    before = [factors["layer norm before", T].range for T in _sizes(runs)] if "layer norm before" in named else []
    if not before:
        return []
    return [
        Claim(
            id="A3-norm",
            sentence="Without layer norm the task is more challenging: with it, the plateau is shorter.",
            paper="stated in §2.4: removing layer norm makes solving the task more challenging",
            ours=f"plateau with layer norm over that without, at T = {_and(_sizes(runs))}: {_table(factors, named)}",
            verdict=_verdicts.all_of(_verdicts.verdict_above(Interval(-x.high, -x.low), -1) for x in before),
            note=f"{note} Judged by layer norm before each part. Holds if both intervals lie below 1, fails if one lies above.",
        )
    ]


def _between(interval: Interval, ends: tuple[float, float]):
    """`holds` if an interval lies between two ends, `fails` if it lies entirely outside, otherwise `undecided`."""
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    return _verdicts.verdict_within(interval, middle, half)


def _sum_of_exponents(runs: Table) -> float:
    """The sum of the exponents of T and d without any choice."""
    small, large = _sizes(runs)[0], _sizes(runs)[-1]
    means = [_runs.geometric_mean(runs, _with(runs, None) & (runs["T"] == T)) for T in (small, large)]
    return float(np.log(means[1] / means[0]) / np.log(large / small))


def _and(sizes: list[float]) -> str:
    return " and ".join(f"{T:g}" for T in sizes)


def _table(factors: dict[tuple[str, float], _pairs.Factor], names: list[str]) -> str:
    return "; ".join(f"{name}: {', '.join(str(x) for (key, _), x in factors.items() if key == name)}" for name in names)


def _draw(tables: Tables, findings: Findings):
    runs = tables["plateaus"]
    names, sizes = _made(runs), _sizes(runs)
    figure, axes = pictures.panels(
        ["plateau, times that of the unchanged run", "shift of the sum of exponents"], width=5.0
    )
    for j, (T, colour) in enumerate(zip(sizes, (pictures.OURS, pictures.PAPER), strict=False)):
        for i, name in enumerate(names):
            made = factor(runs, name, T)
            low, high = made.interval or (made.value, made.value)
            y = i + 0.16 * (2 * j - 1)
            axes[0].plot([low, high], [y, y], color=colour, lw=2)
            axes[0].plot(made.value, y, "o", color=colour, ms=5, mfc="white" if made.sign else colour)
        axes[0].plot([], [], "o", color=colour, ms=5, label=f"T = {T:g}, d = {runs['d'][runs['T'] == T][0]:g}")
    axes[0].axvspan(1 / _FACTOR, _FACTOR, color=pictures.NEUTRAL, alpha=0.12, lw=0)
    axes[0].axvline(1, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[0].set(xscale="log", xlabel="factor, 95 %   (open: a bound)", yticks=range(len(names)), yticklabels=names)
    pictures.plain_numbers(axes[0].xaxis)
    axes[0].legend(loc="upper left", bbox_to_anchor=(1, 1))
    for i, name in enumerate(names):
        interval = shift(runs, name)
        if np.isfinite(interval.low):
            axes[1].plot(interval, [i, i], color=pictures.OURS, lw=2)
            axes[1].plot(sum(interval) / 2, i, "o", color=pictures.OURS, ms=5)
    axes[1].axvspan(-_SHIFT, _SHIFT, color=pictures.NEUTRAL, alpha=0.12, lw=0)
    axes[1].axvline(0, color=pictures.NEUTRAL, lw=0.8, ls=":")
    axes[1].set(xlabel="a + b in d^a T^b, 95 %", yticks=range(len(names)), yticklabels=[])
    for ax in axes:
        ax.set_ylim(len(names) - 0.5, -0.5)
    pictures.caption(figure, f"{_runs.grid_of(runs, 'T', 'd')}. Shaded: what the claims allow.")
    return figure


STUDY = Study(
    name="sensitivity",
    paper="emergence",
    title="What the paper does not state, one choice at a time",
    minutes={"smoke": 0.8, "laptop": 35, "paper": 1.3e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
