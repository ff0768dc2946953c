"""`daybreak fit`: the law of the plateaus in a lab, compared with the paper's."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, check_picture, table
from daybreak.cli._lab import LabFolder, Where, open_lab

if TYPE_CHECKING:
    from daybreak.lab.reading.laws import FittedLaw


@final
@dataclass(frozen=True)
class Fit:
    """Fit a power law to the plateaus of a lab: exponents with intervals, compared with the paper's law.

    A run that did not emerge counts as a plateau longer than the run. Runs that failed or diverged do not count.
    Example: daybreak fit --law "C * d**a * (T/B)**b" --where "task = 'single-location'" --plot law.png
    """

    law: Annotated[
        str,
        tyro.conf.arg(
            metavar="LAW",
            help="A product of powers of the runs' settings, 'C * d**a * (T/B)**b'. Names that are not settings are fitted.",
        ),
    ]
    lab: LabFolder = Path("lab")
    where: Where = None
    method: Annotated[
        Literal["ols", "huber", "tobit"] | None,
        tyro.conf.arg(
            help="ols: least squares on logarithms. huber: the same, robust against a few outliers. tobit: maximum likelihood "
            "that also uses runs that did not emerge. By default tobit if there are such runs, otherwise ols."
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
        from daybreak.lab.reading.published import compare, published

        runs = laws.table(lab, self.where)
        fitted = laws.fit(self.law, runs, self.method)
        paper = published(runs)
        comparison = None
        if paper is not None:
            values = {"source": paper.source, "formula": paper.formula, "r2": paper.r2}
            comparison = values | asdict(compare(paper, fitted.law, runs))
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
            "also_varying": list(fitted.also_varying),
            "paper": comparison,
            "plot": self.plot and str(self.plot),
        }
        return Answer(data, lambda console: self._show(console, data, fitted))

    def _show(self, console: Console, data: dict[str, Any], fitted: "FittedLaw") -> None:
        law, paper = fitted.law, data["paper"]
        rows = []
        for name, value in law.coefficients.items():
            low, high = law.intervals[name]
            published = None if paper is None else paper["coefficients"].get(name)
            interval = f"{low:.3g} to {high:.3g}"
            rows.append((name, f"{value:.3g}", interval, "" if published is None else f"{published:g}"))
        heads = ["", "fitted", "95 %", "paper"]
        keep = 3 if paper is None else 4
        console.print(table(law.form, heads[:keep], [row[:keep] for row in rows]), highlight=False)
        lines = [f"plateau = {law.formula}", _counts(data, law)]
        if paper is not None:
            lines.append(
                f"P{paper['source'][1:]}: {paper['formula']} (R² {paper['r2']}). These plateaus are {paper['ratio']:.2f} times "
                "as long (geometric mean)."
            )
        if fitted.also_varying:
            lines.append(f"The runs also differ in {', '.join(fitted.also_varying)}, which the law does not contain.")
        if self.plot is not None:
            lines.append(f"Picture: {self.plot}")
        for line in lines:
            console.print(line, markup=False, highlight=False)


def _counts(data: dict[str, Any], law: Any) -> str:
    censored = f", {data['censored']} of them did not emerge" if data["censored"] else ""
    how = "cluster bootstrap over configurations" if data["resampled"] else "Student's t on the runs"
    return (
        f"R² {law.r2:.3f}, scatter {law.scatter:.0%}; {data['runs']} runs of {data['configurations']} configurations"
        f"{censored}. By {law.method}; intervals by {how}."
    )
