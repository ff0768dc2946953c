"""Beyond the paper: with one block of one lag the staircase has one step, and paper A predicts when.

A chain of K = 1, L = 1, read once, is paper A's task with a fixed position: of T tokens the last one decides. For a weak chain
(β ≪ √d) cross-entropy is quadratic around the start, with Hessian 1/d, and the loss is (β²/d) ℓ(x, a), ℓ paper A's reduced loss, x the
value along its goal, a the logit of the last position. Values follow x' = −ℓ_x/d²; logits are sums of entries of W over √D, D = d + T, so
a' = −(β²/d)(1 + 1/d)/D ℓ_a. Only the ratio of the two time scales matters, and in paper A it is the dimension. So this is paper A's
toy model of dimension (d + 1)β²/D, slower by d²/((d + 1)β²/D), and nothing is left to fit.
"""

from dataclasses import replace

import numpy as np

from daybreak import measure, pictures, theory
from daybreak.lab import Saved
from daybreak.models import MinimalAttention
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, TrainedData, select, verdict
from daybreak.studies.incremental._trained import median_and_range, records
from daybreak.tasks import MarkovChain
from daybreak.training import Optimizer, Run, Stop

_BETA, _RATE, _LEVEL = 2.0, 16.0, 0.2


def _runs(scale: Scale) -> list[Run]:
    if scale == "smoke":
        return [replace(_run(T, 6, 0), batch=64) for T in (3, 4)]
    settings = [(T, 16) for T in (4, 8, 16, 32)] + [(8, d) for d in (8, 12, 24)]
    return [_run(T, d, seed) for T, d in settings for seed in range(5)]


def _run(T: int, d: int, seed: int) -> Run:
    task = MarkovChain(d=d, K=1, L=1, beta=_BETA, prefix=T, generated=1, train=0, validation=2000)
    every = max(1, round(_predicted(T, d) / 50))
    return Run(
        task,
        MinimalAttention(heads=1, epsilon=0.0),
        Optimizer(name="sgd", learning_rate=_RATE),
        Stop(budget=100 * every, every=every, level=0.0),
        seed,
        batch=4000,
    )


def _predicted(T: float, d: float) -> float:
    """Steps until the excess loss is at a fifth of its start."""
    dimension = (d + 1) * _BETA**2 / (d + T)
    return float(theory.plateau(T, dimension, logits="free", level=_LEVEL)) * d**2 / dimension / _RATE


def _tables(saved: list[Saved]) -> Tables:
    rows, lines = [], []
    for run, record, task in records(saved):
        excess = record.curves["kl"][:, 0]
        plateau = measure.plateau(record.steps, excess, measure.fraction_of_start(excess, _LEVEL))
        T, d = task.interface.length, task.d
        rows.append((T, d, run.seed, plateau.length, plateau.censored, _predicted(T, d)))
        lines += [(T, d, run.seed, *x) for x in zip(record.steps, excess / excess[0], strict=True)]
    return {
        "plateaus": _columns(rows, "T", "d", "seed", "plateau", "censored", "predicted"),
        "curves": _columns(lines, "T", "d", "seed", "step", "excess"),
    }


def _columns(rows: list[tuple], *names: str) -> Table:
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _judge(tables: Tables) -> Findings:
    rows = tables["plateaus"]
    ratio = rows["plateau"] / rows["predicted"]
    by_size = ", ".join(f"d = {d}: {np.median(ratio[rows['d'] == d]):.2f}" for d in np.unique(rows["d"])[::-1])
    claims = (
        Claim(
            id="B-one-block",
            sentence="With one block of one lag the staircase has one step, and paper A's flow predicts when, with nothing fitted.",
            paper="ours, not the paper's",
            ours=f"measured over predicted {median_and_range(ratio, '{:.2f}')}, {int(np.sum(rows['censored']))} of {ratio.size} runs "
            f"censored; medians {by_size}",
            verdict=verdict(bool(np.all(np.abs(ratio - 1) <= 0.15)) and not np.any(rows["censored"])),
            note=f"Minimal model with one head, SGD on fresh sequences, β = {_BETA:g}: steps until the excess loss is at a fifth of "
            "its start. Median (range) over settings and seeds. Holds if all are within 15 %. The prediction is for β ≪ √d, which "
            "is less true for smaller d.",
        ),
    )
    return Findings(claims)


def _draw(tables: Tables, findings: Findings):
    figure, (left, right) = pictures.panels(["one step", "steps to a fifth of the excess loss"])
    lines, rows = tables["curves"], tables["plateaus"]
    base = rows["d"][0]
    lengths = np.unique(rows["T"][rows["d"] == base])
    for T, colour in zip(lengths, pictures.shades(lengths.size), strict=True):
        for seed in np.unique(rows["seed"]):
            one = select(lines, (lines["T"] == T) & (lines["d"] == base) & (lines["seed"] == seed))
            left.plot(
                one["step"], one["excess"], color=colour, lw=0.9, label=f"T = {T}, d = {base}" if seed == 0 else None
            )
    left.axhline(_LEVEL, color=pictures.NEUTRAL, lw=0.7, ls=":")
    left.set(xlabel="step", ylabel="excess loss, of its start", xscale="log", ylim=(0, 1.1))
    left.legend()
    sizes = np.unique(rows["d"])
    for d, colour, marker in zip(sizes, pictures.shades(sizes.size), pictures.MARKERS, strict=False):
        some = select(rows, rows["d"] == d)
        right.plot(some["predicted"], some["plateau"], marker, color=colour, ms=4.5, label=f"d = {d}")
    right.axline((1, 1), slope=1, color=pictures.NEUTRAL, lw=1, label="paper A, nothing fitted")
    ends = rows["predicted"].min() / 1.5, rows["predicted"].max() * 1.5
    right.set(xlabel="predicted", ylabel="measured", xscale="log", yscale="log", xlim=ends, ylim=ends)
    right.legend()
    return figure


STUDY = Study(
    name="one-block",
    paper="incremental",
    title="One block of one lag: paper A again",
    minutes={"smoke": 0.2, "laptop": 5, "paper": 5},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
