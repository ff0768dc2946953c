"""Beyond the paper: do copies of a block's tokens in the context make the network find that block earlier, and no other?

Paper A repeats the relevant token in the context. Here three blocks of one lag are relevant, and each of the nine positions before
them holds, with probability q, a copy of the token of one block. The chain is read once, so that a block is the same positions in every
sequence. Tests are without copies. A block is found when some head gives it half of its attention.

Criterion for each block (2026-11-18, before the runs of the grid; sizes, learning rate and budget were chosen on seeds 100 and 101, whose
runs with and without copies were seen): the factor is the step without copies over the step with them, for the same seed, five seeds; its
interval is that of the mean log, by Student's t. The claim holds if the interval of the repeated block is above 1 and none of another
block is. It fails if that of the repeated block does not reach above 1, or that of another block is above 1. Otherwise it is undecided. A
block that was not found counts as found at the last step, and is counted in the note.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.models import MinimalAttention
from daybreak.studies import _verdicts
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, TrainedData, Verdict, select, stack
from daybreak.studies.incremental._trained import records, transition_steps
from daybreak.tasks import MarkovChain
from daybreak.training import Optimizer, Run, Stop

_Q = 0.3
_HALF = 0.5
_RUN = Run(
    MarkovChain(d=20, K=3, L=1, prefix=12, generated=1, train=0, validation=1000),
    MinimalAttention(heads=3, epsilon=1e-3),
    Optimizer("adamw", learning_rate=0.03, weight_decay=0.01),
    Stop(budget=1500, every=15, level=0.0),
    batch=3000,
)


def _runs(scale: Scale) -> list[Run]:
    small = {"task": replace(_RUN.task, d=6, validation=50), "stop": Stop(budget=30, every=5, level=0.0), "batch": 50}
    run, seeds = (replace(_RUN, **small), range(2)) if scale == "smoke" else (_RUN, range(5))
    copies = [{}, *({"q": _Q, "repeated": block} for block in (1, 2, 3))]
    return [replace(run, task=replace(run.task, **x), seed=seed) for x in copies for seed in seeds]


def _tables(saved: list[Saved]) -> Tables:
    lines = []
    for run, record, task in records(saved):
        rows = {"repeated": np.full(len(record.steps), task.repeated if task.q else 0)}
        rows |= {"seed": np.full(len(record.steps), run.seed), "step": record.steps}
        rows |= {f"kl_{n + 1}": record.curves["kl"][:, n] for n in range(task.K)}
        rows |= {f"block{k + 1}": record.curves["block_mass"][:, -1, :, k].max(axis=1) for k in range(task.K)}
        lines.append(rows)
    return {"curves": stack(*lines)}


class _Factor(NamedTuple):
    """How many times earlier a block is found with copies of a block: geometric mean over seeds, with its 95 % interval."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} [{self.low:.2f}, {self.high:.2f}]"


def times(curves: Table) -> Table:
    """The step at which each block is found, one row per run, and whether it was not."""
    keys = np.unique(np.stack([curves["repeated"], curves["seed"]]), axis=1).T
    rows = []
    for repeated, seed in keys:
        one = select(curves, (curves["repeated"] == repeated) & (curves["seed"] == seed))
        found = [measure.plateau(one["step"], one[f"block{k}"], _HALF, direction="up") for k in (1, 2, 3)]
        row = {"repeated": repeated, "seed": seed, "budget": one["step"][-1]}
        rows.append(row | {f"block{k}": x.length for k, x in enumerate(found, 1)})
        rows[-1] |= {f"missing{k}": x.censored for k, x in enumerate(found, 1)}
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _factor(rows: Table, repeated: int, block: int) -> _Factor:
    without, with_copies = (select(rows, rows["repeated"] == x)[f"block{block}"] for x in (0, repeated))
    logs = np.log(np.maximum(without, 1) / np.maximum(with_copies, 1))
    return _Factor(*np.exp([logs.mean(), *_verdicts.interval_of_mean(logs)]))


def _judge(tables: Tables) -> Findings:
    rows = times(tables["curves"])
    plain = select(rows, rows["repeated"] == 0)
    where = (
        f"Minimal model, AdamW at 0.03, chain of 20 states with three blocks of one lag, q = {_Q:g}; without copies blocks are found at "
        + ", ".join(transition_steps(plain, f"block{k}") for k in (1, 2, 3))
    )
    claims = []
    for repeated in (1, 2, 3):
        factors = {block: _factor(rows, repeated, block) for block in (1, 2, 3)}
        some = select(rows, rows["repeated"] == repeated)
        missing = sum(int(x[f"missing{k}"].sum()) for x in (plain, some) for k in (1, 2, 3))
        claims.append(
            Claim(
                id=f"B-repeat-{repeated}",
                sentence=f"Copies of the token of block {repeated} make the network find that block earlier, and no other.",
                paper="ours, not the paper's",
                ours="; ".join(f"block {block} {factor} times earlier" for block, factor in factors.items()),
                verdict=_verdict(factors, repeated),
                note=f"{where}, median (range). Factors are paired by seed, with 95 % intervals. Holds if that of block {repeated} "
                "is above 1 and no other is; fails if it is not, or another is. Blocks that were not found, and count as found at the last "
                f"step: {missing} of {3 * (some['seed'].size + plain['seed'].size)}.",
            )
        )
    return Findings(tuple(claims))


def _verdict(factors: dict[int, _Factor], repeated: int) -> Verdict:
    others = [factor for block, factor in factors.items() if block != repeated]
    if factors[repeated].high <= 1 or any(factor.low > 1 for factor in others):
        return "fails"
    return "holds" if factors[repeated].low > 1 else "undecided"


def _draw(tables: Tables, findings: Findings):
    curves = tables["curves"]
    rows = times(curves)
    titles = [f"attention to block {block}" for block in (1, 2, 3)] + ["times earlier with copies"]
    figure, axes = pictures.panels(titles, columns=4, width=3.0, height=3.0)
    styles = [("no copies", pictures.NEUTRAL)]
    styles += [(f"copies of block {k}", colour) for k, colour in enumerate(pictures.shades(3), 1)]
    for block, ax in enumerate(axes[:3], 1):
        for repeated, (label, colour) in enumerate(styles):
            some = select(curves, curves["repeated"] == repeated)
            seeds = [select(some, some["seed"] == seed) for seed in np.unique(some["seed"])]
            for one in seeds:
                ax.plot(one["step"], one[f"block{block}"], color=colour, lw=0.5, alpha=0.6)
            middle = np.median([one[f"block{block}"] for one in seeds], axis=0)
            ax.plot(seeds[0]["step"], middle, color=colour, lw=1.8, label=label)
        ax.axhline(_HALF, color=pictures.NEUTRAL, lw=0.7, ls=":")
        ax.set(xlabel="step", ylim=(0, 1.03))
    axes[0].set(ylabel="of the head with the most")
    axes[0].legend()
    for repeated, (label, colour) in enumerate(styles[1:], 1):
        for block in (1, 2, 3):
            factor = _factor(rows, repeated, block)
            at = block + 0.2 * (repeated - 2)
            axes[3].plot([at, at], [factor.low, factor.high], color=colour, lw=1.4)
            axes[3].plot(
                at,
                factor.middle,
                "o" if repeated == block else "s",
                color=colour,
                ms=5,
                label=label if block == 1 else None,
            )
    axes[3].axhline(1, color=pictures.NEUTRAL, lw=0.7)
    axes[3].set(
        xlabel="block found; round: by its own copies", xticks=[1, 2, 3], yscale="log", ylabel="factor, 95 % interval"
    )
    axes[3].set_yticks([0.5, 0.7, 1, 1.4], ["0.5", "0.7", "1", "1.4"])
    axes[3].minorticks_off()
    return figure


STUDY = Study(
    name="repeated-block",
    paper="incremental",
    title="Minimal model: copies of one block's tokens",
    minutes={"smoke": 0.3, "laptop": 4, "paper": 4},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
