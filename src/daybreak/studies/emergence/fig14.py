"""Figure 14: with a fixed position the plateau depends less on the length than with a random, marked one.

Criteria for the larger grid, written on 2026-11-18 before any of its runs: T in {16, 32, 64, 128} × d in {16, 32}, three seeds.
All three claims keep their rules, which were written for the smaller grid. Runs with d below 16, or none with T = 128 and
d = 32, do not decide them: the verdict is *outside*.
"""

import numpy as np

from daybreak import pictures
from daybreak.lab import Saved
from daybreak.measure import Law
from daybreak.studies import _runs, _verdicts
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select
from daybreak.studies.emergence import _trained

_FORM = "C * d**a * T**b"
_REGIME = {"T": (16.0, 128.0), "d": (16.0, 32.0)}
_HOURS = 2  # of two cores for the laptop grid
_VARIANTS = {  # position, whether there is a feature; in the order of the paper's panels
    "feature, random": ("random", True),
    "feature, fixed": ("fixed", True),
    "no feature, fixed": ("fixed", False),
}

_SWEEPS: _runs.Sweeps = {
    "smoke": f"{_trained.TINY}{_trained.CORNER}{_trained.CORNER}"
    """task.position = "fixed"
task.feature = [true, false]
""",
    # Random positions from T = 32 on are those of figure 3.
    "laptop": f"""
preset = "paper-a-regression"
precision = "bfloat16"
seeds = 3
task.T = [16, 32, 64, 128]
task.d = [16, 32]
[[grid]]
stop.budget = "{_trained.PAPER_LAW}"
[[grid]]
task.position = "fixed"
task.feature = [true, false]
stop.budget = "2 * 4.61 * d**1.22 * T**0.3 + 500"
""",
    "paper": """
preset = "paper-a-regression"
seeds = 5
[[grid]]
task.T = [32, 64, 128, 256, 512]
task.d = [16, 32, 64, 128, 256]
[[grid]]
task.T = [32, 64, 128, 256, 512]
task.d = [16, 32, 64, 128, 256]
task.position = "fixed"
task.feature = [true, false]
""",
}


def _tables(saved: list[Saved]) -> Tables:
    return {"plateaus": _runs.plateaus(saved, ("T", "d", "position", "feature"))}


def _variant(runs: Table, name: str) -> Table:
    position, feature = _VARIANTS[name]
    return select(runs, (runs["position"] == position) & (runs["feature"] == feature))


def _judge(tables: Tables) -> Findings:
    runs = tables["plateaus"]
    laws = {name: _runs.law(_FORM, _variant(runs, name)) for name in _VARIANTS}
    random, fixed, bare = laws.values()
    gaps = [_verdicts.interval_of_difference(random, x, "b") for x in (fixed, bare)]
    grid = _runs.grid_of(runs, "T", "d")
    claims = (
        Claim(
            id="A14",
            sentence="A random position raises the exponent of T over a fixed one.",
            paper="T^0.58 with random position, T^0.29 and T^0.30 with fixed ones",
            ours=f"T^{random.coefficients['b']:.2f} with random position, larger by {_verdicts.format_interval(gaps[0])} than with a "
            f"fixed one with feature and by {_verdicts.format_interval(gaps[1])} than without",
            verdict=_verdicts.all_of(map(_verdicts.verdict_above, gaps)),
            note=f"Grid: {grid}. Holds if both 95 % intervals of the difference lie above zero, fails if one "
            "lies below.",
        ),
        Claim(
            id="A14-feature",
            sentence="With a fixed position, marking the relevant token makes little difference.",
            paper="4.20 d^1.22 T^0.29 and 4.61 d^1.21 T^0.30",
            ours=f"with the feature {fixed}; without {bare}",
            verdict=_verdicts.all_of(
                _verdicts.verdict_within(_verdicts.interval_of_difference(fixed, bare, x), 0.0, 0.15) for x in "ab"
            ),
            note="Holds if the 95 % intervals of the differences of both exponents lie within 0.15 of zero, fails if "
            "one lies entirely outside.",
        ),
        _laws_claim(laws),
    )
    return Findings(_trained.unless_small(claims, runs, _REGIME, _HOURS), laws)


def _laws_claim(laws: dict[str, Law]) -> Claim:
    papers = dict(zip(laws, _trained.published(14), strict=True))
    return Claim(
        id="A14-laws",
        sentence="The exponents of the three laws are those of the paper.",
        paper="; ".join(f"{name}: {x.formula} (R² {x.r2})" for name, x in papers.items()),
        ours="; ".join(f"{name}: {x.formula} (R² {x.r2:.3f})" for name, x in laws.items()),
        verdict=_verdicts.all_of(
            _trained.agrees(law, papers[name], {"a": "d", "b": "T"}) for name, law in laws.items()
        ),
        note="Holds if the 95 % intervals of all six exponents lie within 0.2 of the paper's, fails if one lies entirely outside.",
    )


def _draw(tables: Tables, findings: Findings):
    runs = tables["plateaus"]
    figure, axes = pictures.panels([f"{x} position" for x in _VARIANTS], width=4.4, height=3.2)
    for ax, name, paper in zip(axes, _VARIANTS, _trained.published(14), strict=True):
        pictures.plateau_panel(
            ax, _variant(runs, name), x="d", series="T", law=findings.laws[name], paper=paper.predict
        )
        ax.set_ylim(0.7 * np.min(runs["plateau"]), 1.4 * np.max(runs["plateau"]))
    pictures.caption(figure, f"{_runs.grid_of(runs, 'T', 'd')}. {pictures.BANDS}")
    return figure


STUDY = Study(
    name="fig14",
    paper="emergence",
    title="Random and fixed positions, with and without a feature",
    minutes={"smoke": 0.6, "laptop": 60 * _HOURS, "paper": 3e4},
    data=_runs.training(_SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
