"""Laws of the plateaus in a lab: its runs as a table, and a law fitted to them. Seeds of a configuration form a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import index
from daybreak.lab._settings import OBSERVED
from daybreak.lab.observed import observed_id

if TYPE_CHECKING:
    from daybreak.lab.store import Lab
    from daybreak.measure import Law
    from daybreak.measure.law import Beyond, Method
    from daybreak.measure.transfer import Known

Table = dict[str, NDArray]

_LETTERS = "abcefghi"  # names of exponents; d is a setting
_NOT_SETTINGS = ("id", "plateau", "censored", "configuration")  # columns of a table
_WITHOUT_EFFECT = frozenset(
    {"seed", "budget", "every", "margin", "evaluation", "name"}
)  # settings that no law depends on


@final
@dataclass(frozen=True)
class FittedLaw:
    """A law of a lab's runs.

    Args:
        law: as fitted.
        configurations: the number of configurations. Runs of one configuration differ only in the seed.
        resampled: whether intervals come from a cluster bootstrap over configurations, or from Student's t on the runs.
    """

    law: "Law"
    configurations: int
    resampled: bool


def table(lab: "Lab", where: str | None = None) -> Table:
    """The runs of a lab that a law can be fitted to: settings, `plateau`, `censored` and the number of the configuration.

    Runs that failed or diverged, and runs whose stop rule has no level, have no plateau length, and are left out. Of runs that
    differ only in their budget, the longest counts: their first steps are the same.
    """
    columns = lab.columns(where)
    kept = (columns["outcome"] != "diverged") & _longest(columns) if columns else np.array([])
    if not kept.any():
        which = "" if where is None else f" for which {where!r} holds"
        raise RequestError(
            f"lab {str(lab.path)!r} has no run{which} that a law could be fitted to: train some first, or choose others."
        )
    names = ("id", *index.setting_columns(columns), "plateau", "censored")
    runs = {name: columns[name][kept] for name in names}
    runs["censored"] = runs["censored"].astype(np.bool_)
    return runs | {"configuration": _configurations(runs)}


def fit(form: str, runs: Mapping[str, NDArray], method: "Method | None" = None, draws: int | None = None) -> FittedLaw:
    """Fit a law to the table of a lab.

    Intervals come from a cluster bootstrap over configurations, with `draws` draws, if some have several seeds and there are more
    configurations than coefficients; otherwise from Student's t.
    """
    from daybreak.measure import fit_law
    from daybreak.measure.form import parse

    numeric = _numeric(runs)
    parsed = parse(form, numeric.keys())
    for name in parsed.columns:
        empty = int(np.isnan(numeric[name].astype(np.float64)).sum())
        if empty == len(runs["id"]):
            raise RequestError(f"law {form!r} names {name!r}, which these runs do not have.")
        if empty:
            raise RequestError(
                f"law {form!r} names {name!r}, which {empty} of the {len(runs['id'])} runs do not have: "
                "choose runs with --where."
            )
    unknowns, emerged = 1 + len(parsed.exponents), int((~runs["censored"]).sum())
    if emerged <= unknowns:
        raise RequestError(
            f"law {form!r} has {unknowns} coefficients and needs at least {unknowns + 1} runs that emerged, but there are {emerged}."
        )
    given = {name: numeric[name] for name in parsed.columns} | {
        "plateau": runs["plateau"],
        "censored": runs["censored"],
    }
    chosen = method or ("tobit" if runs["censored"].any() else "ols")
    configuration = runs["configuration"]
    measured = np.unique(configuration[~runs["censored"]]).size
    resampled = measured > 1 + len(parsed.exponents) and np.unique(configuration).size < configuration.size
    law = fit_law(
        form,
        given | {"configuration": configuration},
        censored="censored",
        method=chosen,
        cluster="configuration" if resampled else None,
        bootstrap=draws if resampled else None,
    )
    return FittedLaw(law, np.unique(configuration).size, resampled)


def columns(form: str, runs: Mapping[str, NDArray]) -> tuple[str, ...]:
    """The settings of a table of runs that a law contains."""
    from daybreak.measure.form import parse

    return parse(form, _numeric(runs).keys()).columns


def settings_with_effect(runs: Mapping[str, NDArray]) -> list[str]:
    """The settings in a table of runs that a plateau may depend on, other than by chance."""
    return [name for name in runs if name not in (*_WITHOUT_EFFECT, *_NOT_SETTINGS)]


def _numeric(runs: Mapping[str, NDArray]) -> dict[str, NDArray]:
    return {name: x for name, x in runs.items() if name not in _NOT_SETTINGS and x.dtype.kind in "iufb"}


def default_form(runs: Mapping[str, NDArray]) -> str | None:
    """The form of the published law for these runs, without the columns that do not vary among them; None if there is none."""
    from daybreak.lab.reading.published import published

    paper = published(runs)
    if paper is None:
        return None
    return _product([name for name in paper.exponents if _varies(runs[name])])


def _product(columns: Sequence[str]) -> str:
    """A constant times a power of each column."""
    return " * ".join(["C", *(f"{name}**{letter}" for name, letter in zip(columns, _LETTERS, strict=False))])


@final
@dataclass(frozen=True)
class LawPrior:
    """The prediction of a law of other runs for one run: median, and standard deviation of the log of a single run.

    Args:
        law: of the other runs.
        median: of the plateau.
        spread: of its logarithm.
        beyond: settings of the run outside of the range of the others.
        borrowed: published exponents, by column, of settings in which the run differs from the others and they do not vary.
        source: of these exponents.
    """

    law: "Law"
    median: float
    spread: float
    beyond: "tuple[Beyond, ...]"
    borrowed: dict[str, "Known"]
    source: str | None

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "median": self.median,
            "spread": self.spread,
            "beyond": [x.as_json() for x in self.beyond],
            "borrowed": {name: {"value": x.value, "deviation": x.deviation} for name, x in self.borrowed.items()},
            "source": self.source,
            **self.law.as_json(),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before trusting it, in sentences."""
        lines = []
        if self.borrowed:
            powers = " and ".join(f"{name}^{x.value:g} (± {x.deviation:.2g})" for name, x in self.borrowed.items())
            names = " or ".join(self.borrowed)
            lines.append(f"The other runs do not vary in {names}: {powers}, taken from {self.source}.")
        lines += [
            f"{x.name} = {x.value:g} is {x.factor:.1f} times beyond the runs that the law was fitted on: the interval is wider for that."
            for x in self.beyond
        ]
        return tuple(lines)


def prior(lab: "Lab", run: Mapping[str, Any], form: str | None = None) -> LawPrior:
    """Predict a run by the law of the finished runs of a lab that differ from it only in seed and in the law's columns.

    Args:
        lab: whose runs to use, without the run itself.
        run: the one to predict, as plain data (`training.to_json`).
        form: of the law; by default the published one, without columns in which no run differs.

    Raises:
        RequestError: there are no such runs, none of them emerged, or the form is wrong.
    """
    from daybreak.lab.reading.published import known_exponents, published
    from daybreak.measure.form import parse
    from daybreak.measure.transfer import transfer

    own = index.settings(dict(run))
    runs = table(lab)
    single = {name: np.array([own.get(name)]) for name in runs if name not in _NOT_SETTINGS}
    paper = published(single)
    if form is not None:
        free = parse(form, {name for name, x in single.items() if x.dtype.kind in "iufb"}).columns
    else:
        free = () if paper is None else tuple(paper.exponents)
    itself = observed_id(run)
    rows = (runs["id"] != itself) if itself else ~_same_trajectory(runs, own)
    for name in single.keys() - {*free} - _WITHOUT_EFFECT:
        rows &= np.array([_alike(x, own.get(name)) for x in runs[name].tolist()])
    if not rows.any():
        which = f"in {', '.join(free)} or the seed" if free else "in the seed"
        hint = "" if free or form is not None else " No published law covers this run: --law gives one."
        raise RequestError(f"the lab has no other finished run that differs only {which}: train one first.{hint}")
    others = select(runs, rows)
    apart = [name for name in free if _varies(np.append(others[name], own[name]))]
    chosen = form or _product(apart)
    known = {} if paper is None else known_exponents(paper, chosen, others)
    there = transfer(chosen, others, {name: own[name] for name in free}, known)
    fixed = [name for name in apart if not _varies(others[name])]
    borrowed = {} if paper is None else known_exponents(paper, _product(fixed), others)
    of_columns = {name: borrowed[letter] for name, letter in zip(fixed, _LETTERS, strict=False) if letter in borrowed}
    return LawPrior(there.law, there.median, there.spread, there.beyond, of_columns, paper and paper.source)


def select(runs: Mapping[str, NDArray], rows: NDArray[np.bool_]) -> Table:
    """Some rows of a table."""
    return {name: x[rows] for name, x in runs.items()}


def _configurations(runs: Mapping[str, NDArray]) -> NDArray[np.int64]:
    """Rows that agree in all settings but the seed have the same number."""
    names = settings_with_effect(runs)
    keys = [repr(row) for row in zip(*(runs[name].tolist() for name in names), strict=True)]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def _longest(columns: Mapping[str, NDArray]) -> NDArray[np.bool_]:
    """Which rows have the largest budget among those that differ in nothing else that was set."""
    names = [name for name in index.setting_columns(columns) if name != "budget"]
    best: dict[str, int] = {}
    for i, row in enumerate(zip(*(columns[name].tolist() for name in names), strict=True)):
        # A schedule that depends on the budget makes another trajectory of each.
        # An observed run of the same settings is another run: nobody knows its seed.
        alone = columns["schedule"][i] == "budget" or columns["task"][i] == OBSERVED
        key = str(i) if alone else repr(row)
        if key not in best or columns["budget"][i] > columns["budget"][best[key]]:
            best[key] = i
    kept = np.zeros(len(columns["id"]), np.bool_)
    kept[list(best.values())] = True
    return kept


def _same_trajectory(runs: Mapping[str, NDArray], own: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which rows differ from a run in nothing but the budget: the run itself, and longer or shorter ones."""
    names = [name for name in runs if name not in (*_NOT_SETTINGS, "budget")]
    alike = [[_alike(x, own.get(name)) for x in runs[name].tolist()] for name in names]
    return np.all(alike, axis=0)


def _alike(a: Any, b: Any) -> bool:
    """Whether two values of a setting are equal; a missing one is None, or NaN in a column of numbers."""
    return repr(a) == repr(b) or a == b or all(x is None or x != x for x in (a, b))


def _varies(x: NDArray) -> bool:
    return len({repr(value) for value in x.tolist()}) > 1
