"""Figure 13: layers and heads change the plateau little.

Criteria for the larger grid, written on 2026-11-18 before any of its runs: the runs of figure 3 without repetition, and layers
in {1, 2, 4} with heads in {1, 2, 4, 8} at T = 64, d = 16; three seeds.
- A13 holds if the 95 % intervals of the exponents of layers and heads lie between −0.3 and 0.3, and fails if one lies outside.
- A13-exponents holds if both lie within 0.1 of the paper's 0.06 and 0.16, and fails if one lies entirely outside.
- A13-d-T holds if those of d and T lie within 0.2 of the paper's, and fails if one lies entirely outside.
Runs outside the regime of figure 3 do not decide them: the verdict is *outside*.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.studies import _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Tables, select
from daybreak.studies.emergence import _trained, fig3

_FORM = "C * d**a * T**b * layers**l * heads**h"

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_trained.TINY}{_trained.CORNER}"
    """
[[grid]]
preset = "paper-a-regression"
where = "layers != heads"
task.T = 4
task.d = 2
model.layers = [1, 2]
model.heads = [1, 2]
""",
    "laptop": f"""
{_trained.LENGTHS}
[[grid]]
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 3
where = "layers == 2 or heads == 4 or layers == heads"
task.T = 64
task.d = 16
model.layers = [1, 2, 4]
model.heads = [1, 2, 4, 8]
stop.budget = "{_trained.PAPER_LAW}"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
task.T = [64, 128, 256]
task.d = [16, 32, 64, 128]
model.layers = [1, 2, 4, 8]
model.heads = [1, 2, 4, 8]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {"plateaus": _runs.plateaus(saved, ("T", "d", "layers", "heads"))}


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    law = _runs.law(_FORM, runs)
    paper = _trained.published(13)[0]
    grid = _runs.grid_of(runs, "T", "d", "layers", "heads")
    claims = (
        Claim(
            id="A13",
            sentence="Layers and heads change the plateau little: both exponents lie between −0.3 and 0.3.",
            paper=f"{paper.formula} (R² {paper.r2})",
            ours=str(law),
            verdict=_verdicts.all_of(_verdicts.verdict_within(law.intervals[x], 0.0, 0.3) for x in "lh"),
            note=f"Grid: {grid}; not every combination. Holds if the 95 % intervals of both exponents lie between −0.3 and 0.3, fails if "
            "one lies entirely outside.",
        ),
        Claim(
            id="A13-exponents",
            sentence="The exponents of layers and heads are those of the paper.",
            paper="layers^0.06 heads^0.16",
            ours=f"layers^{law.coefficients['l']:.2f} {_verdicts.format_interval(law.intervals['l'])}, "
            f"heads^{law.coefficients['h']:.2f} {_verdicts.format_interval(law.intervals['h'])}",
            verdict=_trained.agrees(law, paper, {"l": "layers", "h": "heads"}, 0.1),
            note="Holds if both 95 % intervals lie within 0.1 of the paper's exponents, fails if one lies entirely outside.",
        ),
        Claim(
            id="A13-d-T",
            sentence="With layers and heads varied, the exponents of d and T are those of the paper.",
            paper="d^1.27 T^0.70; d^1.29 T^0.80 in figure 3",
            ours=f"d^{law.coefficients['a']:.2f} {_verdicts.format_interval(law.intervals['a'])}, "
            f"T^{law.coefficients['b']:.2f} {_verdicts.format_interval(law.intervals['b'])}",
            verdict=_trained.agrees(law, paper, {"a": "d", "b": "T"}),
            note="Holds if both 95 % intervals lie within 0.2 of the paper's exponents, fails if one lies entirely outside.",
        ),
    )
    return Findings(_trained.unless_small(claims, runs, fig3.REGIME, fig3.HOURS), {"plateau": law})


def _draw(tables: Tables, findings: Findings):
    runs = tables["plateaus"]
    usual = {name: _most_frequent(runs[name]) for name in ("layers", "heads")}
    by_size = select(runs, (runs["layers"] == usual["layers"]) & (runs["heads"] == usual["heads"]))
    other = runs["layers"] != usual["layers"]  # layers and heads are varied at one size
    by_network = select(runs, (runs["T"] == runs["T"][other][0]) & (runs["d"] == runs["d"][other][0]))
    where = f"T = {by_network['T'][0]:g}, d = {by_network['d'][0]:g}"
    titles = [f"{usual['layers']} layers, {usual['heads']} heads", f"layers, {where}", f"heads, {where}"]
    figure, axes = pictures.panels(titles, width=4.4, height=3.2)
    for ax, part, x, series in (
        (axes[0], by_size, "d", "T"),
        (axes[1], by_network, "layers", "heads"),
        (axes[2], by_network, "heads", "layers"),
    ):
        law, paper = findings.laws["plateau"], _trained.published(13)[0].predict
        pictures.plateau_panel(ax, part, x=x, series=series, law=law, paper=paper)
    pictures.caption(figure, f"{_runs.grid_of(runs, 'T', 'd', 'layers', 'heads')}. {pictures.BANDS}")
    return figure


def _most_frequent(column: np.ndarray) -> int:
    values = column.tolist()
    return max(values, key=values.count)


STUDY = Study(
    name="fig13",
    paper="emergence",
    title="Plateau against layers and heads",
    minutes={"smoke": 0.5, "laptop": 60 * fig3.HOURS, "paper": 1.2e5},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
