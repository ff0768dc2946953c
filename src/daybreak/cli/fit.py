"""`daybreak fit`: the law that the plateaus of a lab follow, beside the paper's."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, check_picture, table
from daybreak.cli._lab import LabFolder, Where, open_lab

if TYPE_CHECKING:
    from daybreak.lab.reading.laws import Fitted, Table
    from daybreak.lab.reading.published import Published


@final
@dataclass(frozen=True)
class Fit:
    """Fit a power law to the plateaus of a lab: exponents with intervals, and the paper's law beside it.

    Runs that did not emerge count as longer than they were watched. Runs that failed or diverged do not count.
    Example: daybreak fit --law "C * d**a * (T/B)**b" --where "task = 'single-location'" --plot law.png
    """

    law: Annotated[
        str,
        tyro.conf.arg(
            metavar="LAW",
            help="A product of powers over the runs' settings; a name that is no setting is fitted: 'C * d**a * (T/B)**b'.",
        ),
    ]
    lab: LabFolder = Path("lab")
    where: Where = None
    method: Annotated[
        Literal["ols", "huber", "tobit"] | None,
        tyro.conf.arg(
            help="Least squares on logs, the same proof against a few wild runs, or maximum likelihood that counts runs that "
            "did not emerge. By default tobit if there are such runs, otherwise ols."
        ),
    ] = None
    plot: Annotated[
        Path | None, tyro.conf.arg(metavar="FILE", help="Draw runs, law and residuals to this PNG, PDF or SVG file.")
    ] = None
    json: Json = False

    def answer(self) -> Answer:
        """Read the index, fit, draw if asked."""
        check_picture("plot", self.plot)
        lab = open_lab(self.lab)
        from daybreak.lab.reading import laws
        from daybreak.lab.reading.published import published

        runs = laws.table(lab, self.where)
        fitted = laws.fit(self.law, runs, self.method)
        paper = published(runs)
        if self.plot is not None:
            from daybreak import pictures

            pictures.save(pictures.fitted_law(fitted.law, runs, paper), self.plot, [self.plot.suffix])
        data = {
            "lab": str(self.lab),
            "where": self.where,
            "law": fitted.law.as_json(),
            "runs": len(runs["id"]),
            "configurations": fitted.configurations,
            "censored": int(runs["censored"].sum()),
            "resampled": fitted.resampled,
            "beside": list(fitted.beside),
            "paper": None if paper is None else _beside(paper, fitted, runs),
            "plot": self.plot and str(self.plot),
        }
        return Answer(data, lambda console: self._show(console, data, fitted))

    def _show(self, console: Console, data: dict[str, Any], fitted: "Fitted") -> None:
        law, paper = fitted.law, data["paper"]
        rows = []
        for name, value in law.coefficients.items():
            low, high = law.intervals[name]
            theirs = None if paper is None else paper["coefficients"].get(name)
            rows.append((name, f"{value:.3g}", f"{low:.3g} to {high:.3g}", "" if theirs is None else f"{theirs:g}"))
        heads = ["", "fitted", "95 %", "paper"]
        keep = 3 if paper is None else 4
        console.print(table(law.form, heads[:keep], [row[:keep] for row in rows]), highlight=False)
        lines = [f"plateau = {law.formula}", _counts(data, law)]
        if paper is not None:
            lines.append(
                f"P{paper['source'][1:]}: {paper['formula']} (R² {paper['r2']}); plateaus here are "
                f"{paper['ratio']:.2f} times as long in the (geometric) mean."
            )
        if fitted.beside:
            lines.append(f"The runs differ also in {', '.join(fitted.beside)}, which the law does not have.")
        if self.plot is not None:
            lines.append(f"Picture: {self.plot}")
        for line in lines:
            console.print(line, markup=False, highlight=False)


def _counts(data: dict[str, Any], law: Any) -> str:
    censored = f", {data['censored']} of them did not emerge" if data["censored"] else ""
    how = "drawing configurations again" if data["resampled"] else "Student's t on the runs"
    return (
        f"R² {law.r2:.3f}, scatter {law.scatter:.0%}; {data['runs']} runs of {data['configurations']} configurations"
        f"{censored}. By {law.method}; intervals by {how}."
    )


def _beside(paper: "Published", fitted: "Fitted", runs: "Table") -> dict[str, Any]:
    """The paper's law in the terms of ours: its number for each of our exponents, and how it fares on our runs."""
    import numpy as np

    measured = ~runs["censored"]
    ratio = runs["plateau"][measured] / paper.predict({name: x[measured] for name, x in runs.items()})
    return {
        "source": paper.source,
        "formula": paper.formula,
        "r2": paper.r2,
        "coefficients": _translated(paper, fitted, runs),
        "ratio": float(np.exp(np.log(ratio).mean())),
    }


def _translated(paper: "Published", fitted: "Fitted", runs: "Table") -> dict[str, float]:
    """Our coefficients as the paper has them, where ours are powers of plain columns."""
    import numpy as np

    from daybreak.measure.form import parse

    law = fitted.law
    form = parse(law.form, set(law.ranges))
    columns = {name: runs[name].astype(np.float64) for name in form.columns}
    start = form.design(columns or {"one": np.ones(1)})[0]
    found: dict[str, set[float]] = {name: set() for name in form.exponents}
    for column in form.columns:
        doubled = form.design(columns | {column: 2 * columns[column]})[0]
        powers = (doubled - start)[:, 1:] / np.log(2)
        for name, power in zip(form.exponents, powers.T, strict=True):
            if np.ptp(power) > 1e-9:  # a base such as sqrt(p**2*d + 1): no power of the column
                found[name].add(np.nan)
            elif abs(power[0]) > 1e-9:
                found[name].add(round(paper.exponents.get(column, 0.0) / float(power[0]), 9))
    same = {name: x.pop() for name, x in found.items() if len(x) == 1}
    same = {name: x for name, x in same.items() if np.isfinite(x)}
    left_out = [name for name in paper.exponents if name not in form.columns]
    if len(same) == len(found) and all(np.all(runs[name] == 1) for name in left_out):
        same[form.constant] = paper.constant
    return same
