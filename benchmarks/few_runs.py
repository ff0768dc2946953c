"""How well does the law of a few runs predict another run? Laboratories drawn from the shipped results, at their real plateaus.

    python benchmarks/few_runs.py

Prints the numbers that `measure.transfer` starts from (the scatter of seeds, and how far our exponents are from the paper's), and
for labs of 1, 2, 4 and 8 runs how often its 80 % interval holds the plateau of a run of another configuration, next to a
law without known exponents that is fitted to the columns that vary.
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from daybreak.errors import RequestError
from daybreak.lab.reading import laws
from daybreak.lab.reading.published import PUBLISHED, Published, known_exponents
from daybreak.measure import fit_law
from daybreak.measure.transfer import transfer
from daybreak.studies import tables
from daybreak.studies.results import shipped

SOURCES = (  # figure, columns of its runs, which of the published laws
    ("fig3", {"B": 1.0}, 0),
    ("fig4", {}, 1),
    ("fig15", {"optimizer": "adam"}, 2),
    ("fig15", {"optimizer": "sgd"}, 3),
    ("fig14", {"position": "random", "feature": True}, 4),
    ("fig14", {"position": "fixed", "feature": True}, 5),
    ("fig14", {"position": "fixed", "feature": False}, 6),
    ("fig13", {}, 7),
)
DRAWS = 200


def measured() -> Iterator[tuple[str, laws.Table, Published]]:
    """The runs behind each law, with the law."""
    for figure, where, number in SOURCES:
        for scale in ("paper", "laptop"):
            path = shipped() / "emergence" / figure / scale / "plateaus.parquet"
            if path.exists():
                runs = tables.read(path)
                rows = np.ones(len(runs["plateau"]), np.bool_)
                for name, value in where.items():
                    rows &= runs[name] == value
                yield (
                    f"{figure} {' '.join(map(str, where.values()))}".strip(),
                    laws.select(runs, rows),
                    PUBLISHED[number],
                )
                break


def scatter(runs: laws.Table) -> float:
    """Standard deviation of the log between seeds of a configuration."""
    logs, groups = np.log(runs["plateau"]), runs["configuration"]
    squares = [np.sum((logs[groups == x] - logs[groups == x].mean()) ** 2) for x in np.unique(groups)]
    return float(np.sqrt(np.sum(squares) / (logs.size - np.unique(groups).size)))


def form_of(columns: list[str]) -> str:
    return " * ".join(["C", *(f"{name}**{letter}" for name, letter in zip(columns, "abcefghi", strict=False))])


def drawn(runs: laws.Table, paper: Published, count: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Labs of a few runs, and for each the prediction for a run of another configuration by both methods."""
    names = [name for name in paper.exponents if name in runs]
    ended = np.flatnonzero(~runs["censored"])
    for _ in range(DRAWS):
        lab = rng.choice(ended, count, replace=False)
        others = [i for i in ended if runs["configuration"][i] not in runs["configuration"][lab]]
        if not others:
            continue
        one = int(rng.choice(others))
        few = laws.select(runs, np.isin(np.arange(len(runs["plateau"])), lab))
        setting = {name: float(runs[name][one]) for name in names}
        truth = float(np.log(runs["plateau"][one]))
        differing = [x for x in names if np.unique([*few[x], setting[x]]).size > 1]
        there = transfer(form_of(differing), few, setting, known_exponents(paper, form_of(differing), few))
        yield {"method": "transfer", "off": truth - np.log(there.median), "spread": there.spread}
        varying = [x for x in names if np.unique(few[x]).size > 1]
        try:
            law = fit_law(form_of(varying), {x: few[x] for x in (*varying, "plateau")})
        except RequestError:
            continue
        median, spread = law.prior({x: [setting[x]] for x in varying} or {"one": [1.0]})
        yield {"method": "fit", "off": truth - np.log(median[0]), "spread": float(spread[0])}


def main() -> None:
    from report import Report  # not above: tests import this file as a module of a package

    document, rng = Report("few_runs"), np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    doubts: list[float] = []
    for name, runs, paper in measured():
        columns = [x for x in paper.exponents if x in runs and np.unique(runs[x]).size > 1]
        law = laws.fit(form_of(columns), runs, "tobit").law
        ours = dict(zip(columns, list(law.coefficients.values())[1:], strict=True))
        apart = {x: round(ours[x] - paper.exponents[x], 2) for x in columns}
        print(f"{name}: seeds scatter by {scatter(runs):.1%}; our exponents minus the paper's: {json.dumps(apart)}")
        doubts += [x / max(1, abs(paper.exponents[column])) for column, x in apart.items()]
        for count in (1, 2, 4, 8):
            rows += [{"count": count, "source": name, **x} for x in drawn(runs, paper, count, rng)]
    print(f"root mean square of these, relative to exponents above 1: {np.sqrt(np.mean(np.square(doubts))):.2f}")
    reach = special.ndtri(0.9)
    for method in ("transfer", "fit"):
        for count in (1, 2, 4, 8):
            mine = [x for x in rows if (x["method"], x["count"]) == (method, count)]
            if mine:
                covered = np.mean([abs(x["off"]) <= reach * x["spread"] for x in mine])
                error, width = (np.median(np.abs([x[name] for x in mine])) for name in ("off", "spread"))
                document.add(f"`{method}`, {count} runs: the 80 % interval covers", 100 * float(covered), "%")
                document.add(f"`{method}`, {count} runs: median error", 100 * float(error), "%")
                print(
                    f"{method}, {count} runs: 80 % interval holds {covered:.0%}; median error {error:.0%}, spread {width:.0%}"
                )
    document.write()


if __name__ == "__main__":
    main()
