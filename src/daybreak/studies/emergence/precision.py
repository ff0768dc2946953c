"""Whether products in bfloat16 move a plateau: the same runs in both precisions, on regression, recall and a Markov chain.

Criteria, written on 2026-11-18 before any of these runs: three regressions with the paper's network, two recalls by a small one, and
paper B's full model with batches of 300, seeds 0 to 2, each in float32 and in bfloat16. A plateau ends at the level of the stop rule;
of the chain, which has none, where the clean loss is half-way from its start to its end.
- R11 holds if in every configuration the mean of ln(bfloat16 / float32) over pairs of equal seed is at most 0.02 in size, or at most
  the standard deviation of ln(plateau) between the seeds in float32. It fails if one is larger, or if a run emerged in one precision only.
Known before: FIELD.md reports four plateaus at T = 32, d = 16 that differ by one step at most, with another program.
"""

from typing import NamedTuple

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.measure import Plateau
from daybreak.studies import _pairs, _runs
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select, verdict
from daybreak.studies.emergence import _trained
from daybreak.tasks import Recall, SingleLocation

_CLOSE = 0.02  # of the logarithm of a plateau
_BOTH = 'precision = ["float32", "bfloat16"]\n'

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_BOTH}{_trained.TINY}{_trained.CORNER}{_trained.TINY_RECALL}task.N = 2\ntask.V = 24\n",
    "laptop": f"""
seeds = 3
[[grid]]
{_BOTH}
preset = "paper-a-regression"
where = "T == 32 or d == 16"
task.T = [32, 64]
task.d = [16, 32]
stop.budget = "{_trained.PAPER_LAW}"
[[grid]]
{_BOTH}{_trained.SMALL_RECALL}
task.N = [6, 8]
stop.budget = 6000
stop.level = 0.6
[[grid]]
{_BOTH}
preset = "paper-b-full"
batch = 300
stop.budget = 400
stop.every = 10
stop.level = 0.0
""",
    "paper": f"""
seeds = 5
[[grid]]
{_BOTH}
preset = "paper-a-regression"
task.T = [64, 128, 256]
task.d = [64, 128]
[[grid]]
{_BOTH}
preset = "paper-a-recall"
task.N = [12, 16]
task.V = 64
stop.level = 0.6
[[grid]]
{_BOTH}
preset = "paper-b-full"
""",
}


class Shift(NamedTuple):
    """Of one configuration: how bfloat16 moves the plateau, what may move it, and whether both precisions emerge alike."""

    factor: _pairs.Factor  # bfloat16 over float32
    seeds: float  # standard deviation of ln(plateau) between seeds, in float32
    alike: bool

    @property
    def is_small(self) -> bool:
        """Whether the criterion is met."""
        return self.alike and bool(abs(np.log(self.factor.value)) <= max(_CLOSE, self.seeds))


def _tables(saved: list[Saved]) -> Tables:
    lengths = [_plateau(x) for x in saved]
    return {
        "plateaus": {
            "what": np.array([_name(x) for x in saved]),
            "precision": np.array([x.run.precision for x in saved]),
            "seed": np.array([x.run.seed for x in saved]),
            "plateau": np.array([max(x.length, 1.0) for x in lengths]),
            "censored": np.array([x.censored for x in lengths], bool),
        }
    }


def _name(saved: Saved) -> str:
    match saved.run.task:
        case SingleLocation(T=T, d=d):
            return f"regression, T = {T}, d = {d}"
        case Recall(N=N, V=V):
            return f"recall, N = {N}, V = {V}"
        case _:
            return "Markov chain, full model"


def _plateau(saved: Saved) -> Plateau:
    """At the level of the stop rule; without one, where the loss is half-way from its start to its end."""
    if saved.result.plateau is not None:
        return saved.result.plateau
    assert saved.record is not None  # noqa: S101
    loss = saved.record.curves["clean_loss"]
    return measure.plateau(saved.record.steps, loss, float(loss[0] + loss[-1]) / 2)


def shift(runs: Table, what: str) -> Shift:
    """How bfloat16 moves the plateau of one configuration."""
    single, half = ((runs["what"] == what) & (runs["precision"] == x) for x in ("float32", "bfloat16"))
    logs = np.log(runs["plateau"][single])
    ends = [np.sort(runs["seed"][x & runs["censored"]]).tolist() for x in (single, half)]
    return Shift(
        _pairs.paired_factor(runs, half, single), float(logs.std(ddof=1)) if logs.size > 1 else 0.0, ends[0] == ends[1]
    )


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    shifts = {str(name): shift(runs, name) for name in dict.fromkeys(runs["what"].tolist())}
    parts = "; ".join(f"{name}: {x.factor} (seeds: {x.seeds:.0%})" for name, x in shifts.items())
    count = np.unique(runs["seed"]).size
    claim = Claim(
        id="R11",
        sentence="Products in bfloat16, with sums in float32, do not move the plateau.",
        paper="ours",
        ours=f"plateau in bfloat16 over that in float32: {parts}",
        verdict=verdict(all(x.is_small for x in shifts.values())),
        note=f"{len(shifts)} configurations, {count} seeds, pairs of equal seed, 95 % intervals. Seeds: standard deviation of the "
        "logarithm of the plateau between the seeds in float32. Holds if every factor is within 2 % of one, or within that deviation.",
    )
    return Findings((claim,))


def _draw(tables: Tables, findings: Findings):
    runs = tables["plateaus"]
    figure, (ax,) = pictures.panels(["plateau in both precisions"], width=5.0, height=4.2)
    for i, name in enumerate(dict.fromkeys(runs["what"].tolist())):
        rows = [select(runs, (runs["what"] == name) & (runs["precision"] == x)) for x in ("float32", "bfloat16")]
        one, other = (x["plateau"][np.argsort(x["seed"])] for x in rows)
        ax.plot(one, other, "os^Dv*"[i % 6], ms=6, mfc="none", label=name)
    ends = np.array([runs["plateau"].min(), runs["plateau"].max()]) * (0.8, 1.25)
    ax.plot(ends, ends, color=pictures.NEUTRAL, lw=0.8, ls=":")
    ax.set(xscale="log", yscale="log", xlabel="float32, steps", ylabel="bfloat16, steps", xlim=ends, ylim=ends)
    for axis in (ax.xaxis, ax.yaxis):
        pictures.plain_numbers(axis)
    ax.legend(loc="upper left", fontsize=7)
    pictures.caption(figure, f"{np.unique(runs['seed']).size} seeds of each configuration. Dotted: equal plateaus.")
    return figure


STUDY = Study(
    name="precision",
    paper="emergence",
    title="Products in bfloat16 and in float32",
    minutes={"smoke": 0.5, "laptop": 20, "paper": 5e3},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
