"""`daybreak fit`: the law of the plateaus in a lab, compared with the paper's."""

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, final

import tyro
from rich.console import Console

from daybreak.cli._answer import Answer, Json, check_picture, table
from daybreak.cli._lab import LabFolder, Where, open_lab
from daybreak.errors import RequestError

if TYPE_CHECKING:
    from daybreak.lab.reading.groups import Group
    from daybreak.lab.reading.laws import FittedLaw
    from daybreak.lab.reading.published import Published
    from daybreak.measure import Law


_SHOWN = 5  # groups without a law that are listed


@final
@dataclass(frozen=True)
class Fit:
    """Fit a power law to the plateaus of a lab: exponents with intervals, compared with the paper's law.

    Runs that differ in something else than the law's settings and the seed, such as the task, get a law each. A run that did
    not emerge counts as a plateau longer than the run. Runs that failed or diverged do not count.

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
        """Read the index, fit a law to each group of runs, draw if asked."""
        check_picture("plot", self.plot)
        lab = open_lab(self.lab)
        from daybreak.lab.reading import laws
        from daybreak.lab.reading.groups import differing, groups

        runs = laws.table(lab, self.where)
        contained = laws.columns(self.law, runs)
        found = groups(runs, contained)
        fits, left_out = self._fits(found)
        apart = differing(found)
        if not fits:
            raise RequestError(_none_fitted(left_out, len(found), apart))
        if self.plot is not None:
            from daybreak import pictures

            pictures.save(pictures.fitted_laws([x.drawn for x in fits]), self.plot, [self.plot.suffix])
        data: dict[str, Any] = {
            "lab": str(self.lab),
            "where": self.where,
            "differ_in": list(apart),
            "groups": [x.as_json() for x in fits],
            "left_out": left_out,
            "group_count": len(found),
            "plot": self.plot and str(self.plot),
        }
        if len(found) == 1:
            data |= data["groups"][0]
        return Answer(data, lambda console: self._show(console, data, fits))

    def _fits(self, found: "list[Group]") -> "tuple[list[_GroupFit], list[dict[str, Any]]]":
        """The law of each group of runs, and the groups that have none with the reason."""
        from daybreak.lab.reading import laws
        from daybreak.lab.reading.published import published

        fits, left_out = [], []
        for group in found:
            try:
                fitted = laws.fit(self.law, group.runs, self.method)
            except RequestError as error:
                if len(left_out) < _SHOWN:
                    of_runs = {"kind": group.kind, "select": self._select(group), "runs": len(group.runs["id"])}
                    left_out.append(of_runs | {"reason": str(error)})
                continue
            fits.append(_GroupFit(group, self._select(group), fitted, published(group.runs)))
        return fits, left_out

    def _select(self, group: "Group") -> str | None:
        """The --where of one group."""
        both = self.where and group.where
        return f"({self.where}) and {group.where}" if both else self.where or group.where or None

    def _show(self, console: Console, data: dict[str, Any], fits: "list[_GroupFit]") -> None:
        count = data["group_count"]
        if count > 1:
            apart = f"{count} groups of runs differ in {', '.join(data['differ_in'])}, which the law does not contain"
            _print(console, [f"{apart}: each has a law of its own. --where chooses one."])
        for one in fits:
            if count > 1:
                _print(console, ["", f"{one.group.kind}: --where {_quoted(one.where or '')}"])
            one.show(console)
        _print(console, [""] * bool(data["left_out"]))
        _print(console, [f"No law of {x['kind']} ({x['select']}): {x['reason']}" for x in data["left_out"]])
        more = count - len(fits) - len(data["left_out"])
        _print(console, [f"No law of {more} more groups, which are smaller."] * bool(more))
        if self.plot is not None:
            _print(console, [f"Picture: {self.plot}"])


@final
@dataclass(frozen=True)
class _GroupFit:
    """The law of one group of runs, and the published law for these."""

    group: "Group"
    where: str | None
    fitted: "FittedLaw"
    paper: "Published | None"

    @property
    def drawn(self) -> "tuple[Law, dict[str, Any], Published | None, str]":
        return self.fitted.law, self.group.runs, self.paper, self.group.where

    def as_json(self) -> dict[str, Any]:
        from daybreak.lab.reading.published import compare

        comparison = None
        if self.paper is not None:
            values = {"source": self.paper.source, "formula": self.paper.formula, "r2": self.paper.r2}
            comparison = values | asdict(compare(self.paper, self.fitted.law, self.group.runs))
        return {
            "kind": self.group.kind,
            "select": self.where,
            "law": self.fitted.law.as_json(),
            "runs": len(self.group.runs["id"]),
            "configurations": self.fitted.configurations,
            "censored": int(self.group.runs["censored"].sum()),
            "resampled": self.fitted.resampled,
            "paper": comparison,
        }

    def show(self, console: Console) -> None:
        data, law = self.as_json(), self.fitted.law
        paper = data["paper"]
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
        _print(console, lines)


def _print(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _quoted(condition: str) -> str:
    """A condition as an argument in a shell; in double quotes where possible, because texts in SQL have single ones."""
    return shlex.quote(condition) if set(condition) & set('"$`\\!') else f'"{condition}"'


def _none_fitted(left_out: list[dict[str, Any]], count: int, apart: tuple[str, ...]) -> str:
    """Why no group of runs has a law."""
    first = left_out[0]
    if count == 1:
        return first["reason"]
    return (
        f"none of {count} groups of runs, which differ in {', '.join(apart)}, has enough for this law. The largest "
        f"({first['select']}): {first['reason']} Put what differs into the law, or choose runs with --where."
    )


def _counts(data: dict[str, Any], law: Any) -> str:
    censored = f", {data['censored']} of them did not emerge" if data["censored"] else ""
    how = "cluster bootstrap over configurations" if data["resampled"] else "Student's t on the runs"
    return (
        f"R² {law.r2:.3f}, scatter {law.scatter:.0%}; {data['runs']} runs of {data['configurations']} configurations"
        f"{censored}. By {law.method}; intervals by {how}."
    )
