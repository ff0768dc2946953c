"""How good are forecasts of emergence? Error and coverage against the fraction of the plateau that was seen.

    python benchmarks/forecasts.py keep LAB    # the records of a lab, thinned, to results/forecast/records.parquet
    python benchmarks/forecasts.py             # score those: results/forecast/scores.csv, scores.json, figure.png

Each run is forecast from its first 10 % … 90 % by four methods: all evidence; the run alone, without a law; the law alone; and the
loss alone, its last third extrapolated as a straight line. The law is that of `daybreak forecast`, fitted to the other
configurations of the task. The runs took no part in tuning: those that did have seeds from 100 on.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, parquet
from scipy import stats

from daybreak import measure, pictures
from daybreak.errors import RequestError
from daybreak.lab.reading.published import PUBLISHED, known_exponents
from daybreak.measure import Forecast
from daybreak.measure.transfer import transfer

FOLDER = Path(__file__).parent.parent / "results" / "forecast"
FRACTIONS = np.arange(1, 10) / 10
FORMS = {"single-location": "C * d**a * T**b", "recall": "C * V**a * N**b"}
PAPERS = {"single-location": PUBLISHED[0], "recall": PUBLISHED[1]}
METHODS = {"all": "all evidence", "run": "the run alone", "law": "the law alone", "line": "the loss extrapolated"}
SETTINGS = ("T", "d", "N", "V")
TUNED = ({"T": 16, "d": 8}, {"T": 16, "d": 16}, {"T": 32, "d": 8}, {"T": 32, "d": 16}, {"N": 4, "V": 16})
"""Configurations of the tuning runs, whose seeds are 100 and on."""
PEEKED = ({"T": 48, "d": 16}, {"T": 32, "d": 32}, {"T": 64, "d": 16}, {"N": 6, "V": 16})
"""Configurations with runs that were scored once before the width of the intervals was fixed (docs/guides/forecast.md)."""


@dataclass(frozen=True)
class Kept:
    """What scoring needs of a run."""

    id: str
    task: str
    settings: dict[str, float]
    seed: int
    level: float
    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    attention: NDArray[np.float64]  # (evaluations, heads)

    @property
    def direction(self) -> Any:
        return "up" if self.task == "recall" else "down"

    @property
    def configuration(self) -> tuple:
        return (self.task, *sorted(self.settings.items()))

    @property
    def plateau(self) -> measure.Plateau:
        return measure.plateau(self.steps, self.values, self.level, direction=self.direction)

    def until(self, step: float, prior: tuple[float, float] | None, *, alone: bool = False):
        """The forecast of a run that was seen until a step; with `alone`, that of the law alone."""
        rows = self.steps <= step
        if alone:
            flat = np.full(2, self.level + (-1 if self.direction == "up" else 1))
            return measure.forecast([0.0, step], flat, self.level, direction=self.direction, prior=prior)
        return measure.forecast(
            self.steps[rows],
            self.values[rows],
            self.level,
            self.attention[rows],
            direction=self.direction,
            prior=prior,
        )


def keep(lab: Path, path: Path) -> int:
    """Write the records of a lab's finished runs to one small file, as far as a little beyond their plateau."""
    from daybreak.lab import Lab

    source, tables = Lab(lab), []
    for row in source.query("outcome in ('emerged', 'censored')").to_pylist():
        record = source.load(row["id"]).record
        assert record is not None  # noqa: S101
        rows = record.steps <= (np.inf if row["censored"] else 1.05 * row["plateau"] + row["every"])
        curve = record.curves["clean_accuracy" if row["task"] == "recall" else "clean_loss"]
        heads = record.curves["attention"][rows].reshape(int(rows.sum()), -1)
        columns = {name: [row.get(name)] * len(heads) for name in ("id", "task", *SETTINGS, "seed", "level")}
        columns |= {"step": record.steps[rows], "value": curve[rows], "attention": list(heads)}
        tables.append(pa.table(columns))
    table = pa.concat_tables(tables, promote_options="permissive")
    parquet.write_table(table, path, compression="zstd")
    return len(tables)


def kept(path: Path) -> list[Kept]:
    """The runs of such a file."""
    table = parquet.read_table(path)
    names = table["id"].to_numpy()
    runs = []
    for name in dict.fromkeys(names.tolist()):
        rows = table.filter(pa.array(names == name))
        first = rows.slice(0, 1).to_pylist()[0]
        settings = {x: float(first[x]) for x in SETTINGS if first.get(x) is not None and np.isfinite(first[x])}
        curves = (np.asarray(rows[x].to_pylist(), np.float64) for x in ("step", "value", "attention"))
        runs.append(Kept(name, first["task"], settings, first["seed"], float(np.float32(first["level"])), *curves))
    return runs


def priors(runs: list[Kept]) -> dict[tuple, tuple[float, float]]:
    """For each configuration, what the law of the others of its task predicts; absent if no law can be fitted."""
    priors = {}
    for task, form in FORMS.items():
        mine = [run for run in runs if run.task == task]
        for left_out in {run.configuration for run in mine}:
            others = [run for run in mine if run.configuration != left_out]
            setting = dict(left_out[1:])
            table = {name: np.array([run.settings[name] for run in others]) for name in setting}
            ends = [run.plateau for run in others]
            table |= {"plateau": np.array([x.length for x in ends]), "censored": np.array([x.censored for x in ends])}
            table["configuration"] = np.unique([str(run.configuration) for run in others], return_inverse=True)[1]
            known = known_exponents(PAPERS[task], form, table)
            try:
                there = transfer(form, table, setting, known)
            except RequestError:
                continue
            priors[left_out] = (there.median, there.spread)
    return priors


def line(run: Kept, step: float) -> tuple[float, float, float] | None:
    """Median and 80 % interval by the last third of the loss, extrapolated as a line; None if it does not fall."""
    rows = run.steps <= step
    x, y = run.steps[rows], (run.values[rows] - run.level) * (-1 if run.direction == "up" else 1)
    count = max(3, x.size // 3)
    x, y = x[-count:], y[-count:]
    if x.size < 3:
        return None
    t = x - x.mean()
    slope = float(t @ y / (t @ t))
    if slope * (x[-1] - x[0]) > -1e-9 * abs(y.mean()):  # flat but for rounding, or rising
        return None
    left = y - y.mean() - slope * t
    doubt = float(np.sqrt(left @ left / (x.size - 2) / (t @ t)))
    margin = float(stats.t.ppf(0.9, x.size - 2)) * doubt / -slope
    ahead = max(float(x.mean() - y.mean() / slope) - step, 0.0)
    return step + ahead, step + ahead / (1 + margin), step + ahead / max(1 - margin, 1e-3)


def scored(runs: list[Kept]) -> Iterator[dict[str, Any]]:
    """One row for each run that emerged, fraction of its plateau, and method."""
    law = priors(runs)
    for run in runs:
        truth = run.plateau
        if truth.censored:
            continue
        for fraction in FRACTIONS:
            step = float(run.steps[run.steps <= fraction * truth.length][-1])
            prior = law.get(run.configuration)
            answers: dict[str, Any] = {"all": run.until(step, prior), "run": run.until(step, None)}
            answers["law"] = None if prior is None else run.until(step, prior, alone=True)
            answers["line"] = line(run, step)
            for method, x in answers.items():
                answer = (x.median, *x.interval) if isinstance(x, Forecast) else x if isinstance(x, tuple) else None
                median, low, high = answer or (np.nan,) * 3
                yield {
                    "id": run.id,
                    "task": run.task,
                    "configuration": " ".join(f"{k}={v:g}" for k, v in run.settings.items()),
                    "seed": run.seed,
                    "tuned": run.settings in TUNED,
                    "peeked": run.settings in PEEKED,
                    "plateau": truth.length,
                    "fraction": float(fraction),
                    "method": method,
                    "median": median,
                    "low": low,
                    "high": high,
                    "error": abs(median / truth.length - 1),
                    "covered": bool(low <= truth.length <= high),
                }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Error and coverage by method and fraction of the plateau seen: of all runs, of configurations new to tuning, of each task."""
    summaries = []
    groups = {"both": rows, "new": [row for row in rows if not row["tuned"]]}
    groups["fresh"] = [row for row in rows if not (row["tuned"] or row["peeked"])]
    groups |= {task: [row for row in rows if row["task"] == task] for task in sorted({row["task"] for row in rows})}
    for group, members in groups.items():
        for method in METHODS:
            for fraction in FRACTIONS:
                mine = [row for row in members if row["method"] == method and row["fraction"] == fraction]
                claimed = [row for row in mine if np.isfinite(row["median"])]
                summaries.append(
                    {
                        "group": group,
                        "method": method,
                        "fraction": float(fraction),
                        "runs": len(mine),
                        "forecasts": len(claimed),
                        "error": float(np.median([row["error"] for row in claimed])) if claimed else None,
                        "coverage": float(np.mean([row["covered"] for row in claimed])) if claimed else None,
                        "width": float(np.median([np.log(x["high"] / x["low"]) for x in claimed])) if claimed else None,
                    }
                )
    return summaries


def draw(summaries: list[dict[str, Any]], path: Path) -> None:
    """Error, coverage and fraction of runs that get a forecast, against the fraction of the plateau seen."""
    with pictures.look():
        figure, axes = pictures.panels(["median error", "80 % interval covers", "runs with a forecast"], width=4.0)
        colours = {"all": pictures.PAPER, "run": pictures.OURS, "law": pictures.NEUTRAL, "line": "#CC79A7"}
        for method, label in reversed(METHODS.items()):
            mine = [x for x in summaries if x["group"] == "both" and x["method"] == method]
            x = [100 * one["fraction"] for one in mine]
            series = ("error", "coverage", "forecasts")
            for ax, name in zip(axes, series, strict=True):
                y = [
                    np.nan if o[name] is None else 100 * o[name] / (o["runs"] if name == "forecasts" else 1)
                    for o in mine
                ]
                ax.plot(x, y, "o-", ms=3.5, color=colours[method], label=label)
        axes[0].set(ylim=(0, 100), ylabel="%")
        axes[0].axhline(20, color=pictures.NEUTRAL, lw=0.8, ls=":")
        axes[1].axhspan(70, 90, color=pictures.NEUTRAL, alpha=0.15, lw=0)
        axes[1].set(ylim=(0, 103))
        axes[2].set(ylim=(0, 103))
        for ax in axes:
            ax.set(xlabel="% of the plateau seen")
        axes[0].legend()
    pictures.save(figure, path, [".png"])


def score(folder: Path) -> dict[str, Any]:
    """Score the records of a folder, and write the scores next to them."""
    runs = kept(folder / "records.parquet")
    rows = list(scored(runs))
    summaries = summary(rows)
    half = next(x for x in summaries if (x["group"], x["method"], x["fraction"]) == ("both", "all", 0.5))
    document = {
        "runs": len(runs),
        "configurations": len({run.configuration for run in runs}),
        "emerged": sum(not run.plateau.censored for run in runs),
        "at_half": half,
        "holds": bool(half["error"] is not None and half["error"] <= 0.2 and 0.7 <= half["coverage"] <= 0.9),
        "summary": summaries,
    }
    csv.write_csv(pa.Table.from_pylist(rows), folder / "scores.csv")
    (folder / "scores.json").write_text(json.dumps(document, indent=1) + "\n")
    draw(summaries, folder / "figure.png")
    return document


def main() -> None:
    if sys.argv[1:2] == ["keep"]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        print(f"{keep(Path(sys.argv[2]), FOLDER / 'records.parquet')} runs kept")
        return
    from report import Report  # not above: tests import this file as a module of a package

    report, document = Report("forecasts"), score(FOLDER)
    half = document["at_half"]
    report.add("error at half of the plateau, median of the runs", 100 * half["error"], "%", at_most=20)
    report.add("runs that its 80 % interval covers", 100 * half["coverage"], "%", at_least=70, at_most=90)
    report.write()
    print(json.dumps({name: x for name, x in document.items() if name != "summary"}, indent=2))


if __name__ == "__main__":
    main()
