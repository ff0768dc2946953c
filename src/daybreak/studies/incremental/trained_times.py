"""Beyond the paper: does the time for which heads of the trained model compete scale with T, H, m and ε as the flow says?

A chain of two blocks of one lag, read once, uncorrelated as the theory assumes, and weak, as in `one_block`: cross-entropy is quadratic
around the start, with Hessian 1/d, and tokens have covariance 1/d. So L = ½‖R‖²/d² with strengths √(d − 1) β m and √(d − 1) β (the
constant vector is not seen). A logit is (W_pos,pos + W_pos,token)/√D, D = d + T, which moves at (1 + 1/d)/D of the rate of its slope. So
this is the flow of `theory.patterns` with strengths m β c and β c, c² = (d − 1)(1 + 1/d)/D, in the time learning rate × steps / d², from
the run's own first logits, and nothing is left to fit. SGD without momentum, because the flow is that of the gradient.

The closed form is t = T (m² − 1)(ln 1/ε)² / 4H to leading order; an unknown constant adds to ln 1/ε. It drops out of the slope of √t over
ln 1/ε, whose square the closed form gives as T (m² − 1) / 4H for every ε. The slope is taken between two noises for each seed.
The second transition is where the excess loss falls past the middle between its first plateau and zero, 1/2(m² + 1) of its start, as in
the flow. The rule for stages is not used: the levels are known, and all truths of so weak a chain are nearer to each other than it tells
apart.

Criteria (2026-11-18, before the runs of the grid; sizes, learning rate and budgets were chosen on seeds 100 and 101):
- T, H, m: the law of the squared slope holds if its exponent is within 0.25 of 1, −1, 1 and R² is at least 0.8; it fails if the whole 95 %
  interval is farther away; otherwise it is undecided.
- ε: the squared slope between neighbouring noises, as a power of ln 1/ε at their middle, must be constant: power 0 within 0.25. A constant
  rate of growth would give −1. R² says nothing of a constant.
- The flow itself: four fifths of the runs have their second transition within 25 % of it; fails if fewer than half do.
Pairs of which a run does not reach its second transition are left out, and counted.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from daybreak import measure, pictures, theory
from daybreak.lab import Saved
from daybreak.measure import Law
from daybreak.models import MinimalAttention
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, TrainedData, Verdict, select
from daybreak.studies.incremental._trained import median_and_range, records, verdict_over_seeds
from daybreak.tasks import MarkovChain
from daybreak.training import Optimizer, Run, Stop, cohort

_BETA = 0.9
_EVALUATIONS = 120
_GRIDS: dict[str, dict[str, Any]] = {
    "smoke": {
        "d": 5,
        "base": (3, 2, 2.0),
        "T": [4],
        "H": [3],
        "m": [1.5],
        "eps": [0.3, 0.03],
        "seeds": 1,
        "batch": 100,
    },
    "laptop": {
        "d": 9,
        "base": (8, 3, 2.0),
        "T": [4, 6, 12, 16],
        "H": [2, 4, 6],
        "m": [1.5, 2.5, 3.0],
        "eps": [1e-1, 1e-2, 1e-3, 1e-4, 1e-5],
        "seeds": 3,
        "batch": 1000,
    },
}
_AXES = {"T": ("C * T**a", 1.0), "H": ("C * H**a", -1.0), "m": ("C * (m**2 - 1)**a", 1.0), "eps": ("C * x**a", 0.0)}
_OFF, _R2 = 0.25, 0.8


def _runs(scale: Scale) -> list[Run]:
    grid = _GRIDS["smoke" if scale == "smoke" else "laptop"]
    noises, (T, H, m) = grid["eps"], grid["base"]
    pair = noises if scale == "smoke" else [1e-2, 1e-4]
    settings = [(T, H, m, eps) for eps in noises]
    settings += [(x, H, m, eps) for x in grid["T"] for eps in pair]
    settings += [(T, x, m, eps) for x in grid["H"] for eps in pair]
    settings += [(T, H, x, eps) for x in grid["m"] for eps in pair]
    return [_run(grid["d"], *x, seed, grid["batch"]) for x in settings for seed in range(grid["seeds"])]


def _run(d: int, T: int, H: int, m: float, eps: float, seed: int, batch: int) -> Run:
    task = MarkovChain(
        d=d, K=2, L=1, m=m, beta=_BETA, prefix=T, generated=1, train=0, validation=1000, uncorrelated=True
    )
    rate = 4 * d / (3 * H)  # a fixed fraction of the largest stable one, which is about 2 d/H
    time = 1.4 * T * (m**2 - 1) / (4 * H) * (np.log(1 / eps) + 2.5) ** 2 + 4 * T
    every = max(1, round(time * d**2 / rate / _EVALUATIONS))
    stop = Stop(budget=_EVALUATIONS * every, every=every, level=0.0)
    return Run(task, MinimalAttention(heads=H, epsilon=eps), Optimizer("sgd", rate), stop, seed, batch=batch)


def _tables(saved: list[Saved]) -> Tables:
    rows, lines = [], []
    for run, record, task in records(saved):
        assert isinstance(run.model, MinimalAttention)  # noqa: S101
        names = {"T": task.interface.length, "H": run.model.heads, "m": task.m, "eps": run.model.epsilon}
        names["seed"] = run.seed
        excess, clock = record.curves["kl"][:, -1], run.optimizer.learning_rate / task.d**2
        found = measure.plateau(record.steps, excess, measure.fraction_of_start(excess, 0.5 / (task.m**2 + 1)))
        flow = _flow(run, task, record.steps * clock)
        length = found.length * clock
        rows.append({**names, "time": length, "censored": found.censored, "flow": float(flow.transitions[1])})
        along = zip(record.steps * clock, excess / excess[0], _inside(flow, record.steps * clock), strict=True)
        lines += [{**names, "t": t, "excess": x, "flow": y} for t, x, y in along]
    return {"times": _columns(rows), "curves": _columns(lines)}


def _flow(run: Run, task: MarkovChain, times: np.ndarray) -> theory.HeadTrajectory:
    """The flow from the first logits of a run, over the times of the run and, if need be, beyond."""
    d, T = task.d, task.interface.length
    learner, _ = cohort.begin(cohort.stack([run]))
    W = np.asarray(learner.parameters.W[0], np.float64)
    logits = (W[:, d:, -1] + W[:, d:, :d].mean(axis=2)) / np.sqrt(d + T)
    strength = np.sqrt((d - 1) * (1 + 1 / d) / (d + T)) * _BETA
    patterns = theory.patterns([float(task.m) * strength, strength], T=T)
    farther = times[-1] * np.linspace(1, 4, 400)[1:]
    # Positions are counted back from the newest there.
    return theory.head_flow(patterns, len(W), start=logits[:, ::-1], times=np.concatenate([times, farther]))


def _inside(flow: theory.HeadTrajectory, times: np.ndarray) -> np.ndarray:
    return flow.loss[: times.size] / flow.loss[0]


def _columns(rows: list[dict[str, Any]]) -> Table:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _base(rows: Table) -> dict[str, float]:
    """The setting that all axes share: the most frequent value of each."""
    values = {name: np.unique(rows[name], return_counts=True) for name in ("T", "H", "m")}
    return {name: float(x[np.argmax(counts)]) for name, (x, counts) in values.items()}


def slopes(rows: Table, axis: str, column: str = "time") -> tuple[Table, int]:
    """Squared slopes of √t over ln 1/ε on an axis, one row per value (of ε: per pair of neighbours) and seed; how many are missing.

    Args:
        rows: the table `times`.
        axis: T, H, m or eps; the other settings are those of the base.
        column: `time` of the trained model, or `flow`.
    """
    base = _base(rows)
    others = [name for name in base if name != axis]
    rows = select(rows, np.all([rows[name] == base[name] for name in others], axis=0))
    along = "T" if axis == "eps" else axis  # on the axis of ε the others have one value each
    noises = _pair(rows, along)
    made, missing = [], 0
    for seed in np.unique(rows["seed"]):
        for value in np.unique(rows[along]):
            some = select(rows, (rows["seed"] == seed) & (rows[along] == value))
            for pair in pairwise(noises):
                one, other = (select(some, some["eps"] == eps) for eps in pair)
                logs = np.log(1 / np.array(pair))
                rise = float(np.sqrt(other[column][0]) - np.sqrt(one[column][0]))
                out = column == "time" and bool(one["censored"][0] or other["censored"][0])
                if out or not np.isfinite(rise) or rise <= 0:
                    missing += 1
                    continue
                made.append({"seed": seed, "x": logs.mean(), "slope": (rise / (logs[1] - logs[0])) ** 2})
                made[-1] |= {name: float(one[name][0]) for name in base}
    return (_columns(made) if made else {}), missing


def _pair(rows: Table, axis: str) -> list[float]:
    """The noises that every value of an axis has, the largest first."""
    shared = (set(rows["eps"][rows[axis] == value].tolist()) for value in np.unique(rows[axis]))
    return sorted(set.intersection(*shared), reverse=True)


def _law(rows: Table, axis: str, column: str = "time") -> tuple[Law | None, int]:
    form, _ = _AXES[axis]
    made, missing = slopes(rows, axis, column)
    name = "x" if axis == "eps" else axis
    enough = bool(made) and np.unique(made[name]).size > 1 and made["slope"].size > 2
    return (measure.fit_law(form, made, y="slope") if enough else None), missing


def _verdict(law: Law | None, exponent: float, least: float) -> Verdict:
    if law is None:
        return "undecided"
    low, high = law.intervals["a"]
    if low > exponent + _OFF or high < exponent - _OFF:
        return "fails"
    return "holds" if abs(law.coefficients["a"] - exponent) <= _OFF and law.r2 >= least else "undecided"


_SENTENCES = {
    "T": "Heads of the trained model compete for a time that is linear in the length T.",
    "H": "With H heads the trained model's competition is 1/H as long.",
    "m": "The trained model's competition is as long as the gap in importance m² − 1 is wide.",
    "eps": "In the trained model √t grows linearly with ln 1/ε: the first plateau lasts as the square of ln 1/ε.",
}


def _judge(tables: Tables) -> Findings:
    rows = tables["times"]
    claims, laws = [], {}
    for axis, (form, exponent) in _AXES.items():
        law, missing = _law(rows, axis)
        flow, _ = _law(rows, axis, "flow")
        laws |= {
            name: x
            for name, x in ((f"slope against {axis}", law), (f"slope of the flow against {axis}", flow))
            if x is not None
        }
        claims.append(
            Claim(
                id=f"B-trained-{axis}",
                sentence=_SENTENCES[axis],
                paper="ours, not the paper's",
                ours=f"squared slope {law or 'not fitted: too few pairs'}; the flow itself {flow.formula if flow else 'not fitted'}",
                verdict=_verdict(law, exponent, 0.0 if axis == "eps" else _R2),
                note="Minimal model, SGD without momentum, uncorrelated chain of two blocks, time in units of the flow. Closed "
                f"form: {form} with a = {exponent:g}. Holds if a is within {_OFF:g} of it"
                + (" (x is ln 1/ε; a constant rate of growth would give −1)" if axis == "eps" else f" and R² ≥ {_R2:g}")
                + f"; fails if its whole interval is farther away. Pairs of noises left out, as a run was too short: {missing}.",
            )
        )
    return Findings((*claims, _against_flow(rows)), laws)


def _against_flow(rows: Table) -> Claim:
    ratio = rows["time"] / rows["flow"]
    near = (np.abs(ratio - 1) <= 0.25) & ~rows["censored"].astype(bool)
    by_noise = ", ".join(f"{eps:g}: {np.median(ratio[rows['eps'] == eps]):.2f}" for eps in np.unique(rows["eps"])[::-1])
    return Claim(
        id="B-trained-flow",
        sentence="The flow from a run's own first logits gives its second transition, with nothing fitted.",
        paper="ours, not the paper's",
        ours=f"measured over flow {median_and_range(ratio, '{:.2f}')}; within 25 % in {near.sum()} of {ratio.size} runs; medians by "
        f"noise ε, {by_noise}",
        verdict=verdict_over_seeds(near),
        note="Median (range) over settings and seeds. Holds if four fifths of the runs are within 25 %, fails if fewer than half are. "
        f"Censored: {int(np.sum(rows['censored']))}.",
    )


def _draw(tables: Tables, findings: Findings):
    rows, lines = tables["times"], tables["curves"]
    titles = ["excess loss, base setting", "√t against noise", "against T", "against H", "against m² − 1"]
    figure, axes = pictures.panels(titles, columns=3, width=3.6, height=3.0)
    base = _base(rows)
    noises = np.unique(rows["eps"])[::-1]
    for eps, colour in zip(noises, pictures.shades(noises.size), strict=True):
        for seed in np.unique(rows["seed"]):
            one = select(lines, _at(lines, base) & (lines["eps"] == eps) & (lines["seed"] == seed))
            axes[0].plot(one["t"], one["excess"], color=colour, lw=0.9, label=f"ε = {eps:g}" if seed == 0 else None)
            axes[0].plot(one["t"], one["flow"], color=colour, lw=0.7, ls=":")
    axes[0].plot([], [], color=pictures.NEUTRAL, lw=0.7, ls=":", label="flow")
    axes[0].set(xlabel="time", ylabel="excess loss, of its start", ylim=(0, 0.6))
    axes[0].legend()
    some = select(rows, _at(rows, base))
    logs = np.log(1 / some["eps"])
    axes[1].plot(logs, np.sqrt(some["time"]), "o", color=pictures.OURS, ms=4, label="trained")
    axes[1].plot(logs, np.sqrt(some["flow"]), "x", color=pictures.NEUTRAL, ms=4, label="flow")
    closed = np.sqrt(base["T"] * (base["m"] ** 2 - 1) / (4 * base["H"]))
    middle = float(np.median(np.sqrt(some["flow"]) - closed * logs))
    axes[1].axline((0, middle), slope=float(closed), color=pictures.PAPER, lw=1, label="slope of the closed form")
    axes[1].set(xlabel="ln 1/ε", ylabel="√ second transition", xlim=(0, None), ylim=(0, None))
    axes[1].legend()
    for ax, name in zip(axes[2:], ("T", "H", "m"), strict=True):
        _slope_panel(ax, rows, name, base)
    return figure


def _slope_panel(ax: Axes, rows: Table, name: str, base: dict[str, float]) -> None:
    """Squared slopes of trained model and flow against an axis, with the closed form."""

    def place(values: np.ndarray) -> np.ndarray:
        return values**2 - 1 if name == "m" else values

    for column, marker, colour in (("flow", "x", pictures.NEUTRAL), ("time", "o", pictures.OURS)):
        made, _ = slopes(rows, name, column)
        if made:
            label = "trained" if column == "time" else "flow"
            ax.plot(place(made[name]), made["slope"], marker, color=colour, ms=4, label=label)
    values = np.linspace(rows[name].min(), rows[name].max(), 50)
    at = {**base, name: values}
    closed = at["T"] * (at["m"] ** 2 - 1) / (4 * at["H"]) * np.ones(values.size)
    ax.plot(place(values), closed, color=pictures.PAPER, lw=1, label="closed form")
    ticks = np.unique(rows[name])
    ax.set(xlabel="m² − 1" if name == "m" else name, ylabel="(d√t / d ln 1/ε)²", xscale="log", yscale="log")
    ax.set_xticks(place(ticks), [f"{x:g}" for x in place(ticks)])
    ax.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    ax.minorticks_off()
    ax.legend()


def _at(table: Table, base: dict[str, float]) -> np.ndarray:
    return np.all([table[name] == value for name, value in base.items()], axis=0)


STUDY = Study(
    name="trained-times",
    paper="incremental",
    title="Minimal model by SGD: how long heads compete, against the flow",
    minutes={"smoke": 1, "laptop": 10, "paper": 10},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
