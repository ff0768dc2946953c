"""Forecasts of the induction head in text, as `daybreak forecast` makes them, with nothing tuned.

Criteria, written on 2026-11-18 before the runs were seen: every run of text-induction that emerged is forecast from its first 30, 50
and 70 % of the plateau, from the run alone, and with what the other seeds of its q took as a law.
- L14 holds if from the run alone, at half of the plateau, a forecast is made for at least half of the runs and its median error is at
  most 25 %; it fails otherwise.
- L15 is the same with the other seeds.
- L16 holds if the 80 % intervals of all forecasts that were made hold the truth in at least 70 % of the cases; it fails otherwise.
Fewer than five emerged runs decide nothing.
"""

import numpy as np

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.measure import Forecast
from daybreak.measure.transfer import transfer
from daybreak.studies import _runs
from daybreak.studies._study import Claim, Findings, Study, Table, Tables, select, verdict
from daybreak.studies.language import induction

_FRACTIONS = (0.3, 0.5, 0.7)
_KINDS = {0: "the run alone", 1: "with the other seeds"}
_FEWEST = 5  # runs
_NEAR, _COVERED = 0.25, 0.7


def _tables(saved: list[Saved]) -> Tables:
    emerged = [x for x in saved if x.result.plateau is not None and not x.result.plateau.censored]
    rows = [row for x in emerged for fraction in _FRACTIONS for row in _forecasts(x, emerged, fraction)]
    names = ("q", "seed", "fraction", "others", "truth", "made", "median", "low", "high")
    return {"forecasts": {name: np.array([row[i] for row in rows], float) for i, name in enumerate(names)}}


def _forecasts(saved: Saved, emerged: list[Saved], fraction: float) -> list[tuple[float, ...]]:
    """A row for each kind of evidence."""
    record, end = saved.record, saved.result.plateau
    assert record is not None  # noqa: S101
    assert end is not None  # noqa: S101
    q = _q(saved)
    others = [
        x.result.plateau.length for x in emerged if x is not saved and _q(x) == q and x.result.plateau is not None
    ]
    rows = record.steps <= fraction * end.length
    heads = record.curves["attention"][rows].reshape(int(rows.sum()), -1).astype(np.float64)
    found = []
    for kind in _KINDS:
        prior = _prior(others) if kind and others else None
        made = measure.forecast(
            record.steps[rows],
            heads.max(axis=1),
            saved.run.stop.level,
            np.clip(heads, 0, 1),
            direction="up",
            prior=prior,
        )
        known = isinstance(made, Forecast)
        values = (made.median, *made.interval) if known else (0.0, 0.0, 0.0)
        found.append((q, saved.run.seed, fraction, kind, end.length, known, *values))
    return found


def _q(saved: Saved) -> float:
    return float(saved.run.task.q)  # pyright: ignore[reportAttributeAccessIssue]


def _prior(plateaus: list[float]) -> tuple[float, float]:
    """What the law of runs that differ only in the seed predicts."""
    count = len(plateaus)
    table = {"plateau": np.array(plateaus), "censored": np.zeros(count, bool), "configuration": np.zeros(count, int)}
    law = transfer("C", table, {}, {})
    return law.median, law.spread


def _judge(tables: Tables) -> Findings:
    table = tables["forecasts"]
    runs = int(np.unique(np.column_stack([table["q"], table["seed"]]), axis=0).shape[0]) if table["q"].size else 0
    made = select(table, table["made"] > 0)
    held = (made["low"] <= made["truth"]) & (made["truth"] <= made["high"])
    claims = [
        Claim(
            id=("L14", "L15")[kind],
            sentence=f"At half of the plateau the forecast ({name}) is within 25 % of the truth.",
            paper="ours; nobody reports such forecasts",
            ours="; ".join(_score(table, kind, fraction) for fraction in _FRACTIONS),
            verdict="undecided" if runs < _FEWEST else verdict(_good(table, kind)),
            note=f"{runs} runs that emerged. Median error of the forecasts that are made. Holds if at half of the plateau at least half of "
            "the runs have one, and the median error is at most 25 %.",
        )
        for kind, name in _KINDS.items()
    ]
    claims.append(
        Claim(
            id="L16",
            sentence="The 80 % intervals of forecasts hold the truth in at least 70 % of the cases.",
            paper="ours",
            ours=f"{int(held.sum())} of {held.size}",
            verdict="undecided" if runs < _FEWEST or not held.size else verdict(bool(held.mean() >= _COVERED)),
            note=f"{runs} runs that emerged, both kinds of evidence, at 30, 50 and 70 % of the plateau.",
        )
    )
    return Findings(tuple(claims))


def _at(table: Table, kind: int, fraction: float) -> Table:
    return select(table, (table["others"] == kind) & (table["fraction"] == fraction))


def _error(rows: Table) -> float:
    made = rows["made"] > 0
    return float(np.median(np.abs(rows["median"][made] / rows["truth"][made] - 1))) if made.any() else np.inf


def _good(table: Table, kind: int) -> bool:
    rows = _at(table, kind, 0.5)
    return bool(rows["made"].mean() >= 0.5 and _error(rows) <= _NEAR)


def _score(table: Table, kind: int, fraction: float) -> str:
    rows = _at(table, kind, fraction)
    made = rows["made"] > 0
    if not made.any():
        return f"at {fraction:.0%}: none of {made.size}"
    held = (rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]) & made
    return f"at {fraction:.0%}: {int(made.sum())} of {made.size}, error {_error(rows):.0%}, {int(held.sum())} held"


def _draw(tables: Tables, findings: Findings):
    table = tables["forecasts"]
    figure, axes = pictures.panels(list(_KINDS.values()), width=4.2, height=3.1)
    for ax, kind in zip(axes, _KINDS, strict=True):
        for fraction in _FRACTIONS:
            rows = _at(table, kind, fraction)
            rows = select(rows, rows["made"] > 0)
            spread = np.linspace(-0.04, 0.04, max(rows["q"].size, 1))[: rows["q"].size]
            for x, median, low, high in zip(
                fraction + spread, *(rows[name] / rows["truth"] for name in ("median", "low", "high")), strict=True
            ):
                ax.plot([x, x], [low, high], color=pictures.OURS, lw=0.8)
                ax.plot(x, median, "o", color=pictures.OURS, ms=3)
        ax.axhline(1, color=pictures.NEUTRAL, lw=0.8, ls=":")
        ax.set(yscale="log", xlim=(0.2, 0.8), xticks=_FRACTIONS, xlabel="share of the plateau that was seen")
        ax.set(ylabel="forecast / truth, with 80 % intervals")
    return figure


STUDY = Study(
    name="text-forecasts",
    paper="language",
    title="Forecasts of induction heads in text",
    minutes={"smoke": 0.4, "laptop": 60 * induction.HOURS, "paper": 3e5},
    data=_runs.training(induction.SWEEPS, _tables),
    judge=_judge,
    draw=_draw,
)
