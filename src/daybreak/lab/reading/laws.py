"""Laws of the plateaus in a lab: its runs as a table, and a law fitted to them. Seeds of a configuration form a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import index

if TYPE_CHECKING:
    from daybreak.lab.reading.progress import RunCurves
    from daybreak.lab.store import Lab
    from daybreak.measure import Law
    from daybreak.measure.law import Method

Table = dict[str, NDArray]

_NOT_SETTINGS = ("id", "plateau", "censored", "configuration")  # columns of a table
_WITHOUT_EFFECT = frozenset({"seed", "budget", "every", "margin", "evaluation"})  # settings that no law depends on


@final
@dataclass(frozen=True)
class FittedLaw:
    """A law of a lab's runs.

    Args:
        law: as fitted.
        configurations: the number of configurations. Runs of one configuration differ only in the seed.
        resampled: whether intervals come from a cluster bootstrap over configurations, or from Student's t on the runs.
        also_varying: settings that differ between the runs and that the law does not contain.
    """

    law: "Law"
    configurations: int
    resampled: bool
    also_varying: tuple[str, ...]


def table(lab: "Lab", where: str | None = None) -> Table:
    """The runs of a lab that a law can be fitted to: settings, `plateau`, `censored` and the number of the configuration.

    Runs that failed or diverged, and runs whose stop rule has no level, have no plateau length, and are left out.
    """
    columns = lab.columns(where)
    kept = columns["outcome"] != "diverged" if columns else np.array([])
    if not kept.any():
        which = "" if where is None else f" for which {where!r} holds"
        raise RequestError(
            f"lab {str(lab.path)!r} has no run{which} that a law could be fitted to: train some first, or choose others."
        )
    names = ("id", *index.setting_columns(columns), "plateau", "censored")
    runs = {name: columns[name][kept] for name in names}
    runs["censored"] = runs["censored"].astype(np.bool_)
    return runs | {"configuration": _configurations(runs)}


def fit(form: str, runs: Mapping[str, NDArray], method: "Method | None" = None) -> FittedLaw:
    """Fit a law to the table of a lab.

    Intervals come from a cluster bootstrap over configurations if some have several seeds and there are more
    configurations than coefficients; otherwise from Student's t.
    """
    from daybreak.measure import fit_law
    from daybreak.measure.form import parse

    settings = {name: x for name, x in runs.items() if name not in _NOT_SETTINGS}
    numeric = {name: x for name, x in settings.items() if x.dtype.kind in "iufb"}
    parsed = parse(form, numeric.keys())
    for name in parsed.columns:
        empty = int(np.isnan(numeric[name].astype(np.float64)).sum())
        if empty:
            raise RequestError(
                f"law {form!r} names {name!r}, which {empty} of the {len(runs['id'])} runs do not have: "
                "choose runs with --where."
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
    )
    also_varying = tuple(x for x in settings if x not in (*parsed.columns, *_WITHOUT_EFFECT) and _varies(settings[x]))
    return FittedLaw(law, np.unique(configuration).size, resampled, also_varying)


def default_form(runs: Mapping[str, NDArray]) -> str | None:
    """The form of the published law for these runs, without the columns that do not vary among them; None if there is none."""
    from daybreak.lab.reading.published import published

    paper = published(runs)
    if paper is None:
        return None
    varying = [name for name in paper.exponents if _varies(runs[name])]
    return " * ".join(["C", *(f"{name}**{letter}" for name, letter in zip(varying, "abcdefgh", strict=False))])


@final
@dataclass(frozen=True)
class LawPrior:
    """The prediction of a law of other runs for one run: median, and standard deviation of the log of a single run."""

    fitted: FittedLaw
    median: float
    spread: float


def prior(lab: "Lab", run: "RunCurves", form: str | None = None) -> LawPrior:
    """Fit a law to the finished runs of a lab that differ from a run only in seed and in the law's columns; predict the run.

    Args:
        lab: whose runs to use, without the run itself.
        run: the one to predict.
        form: of the law; by default the paper's, without columns that do not vary among these runs.

    Raises:
        RequestError: there are too few such runs, or the form is wrong.
    """
    from daybreak.lab.reading.published import published
    from daybreak.measure.form import parse

    own = index.settings(run.settings)
    runs = table(lab)
    single = {name: np.array([own.get(name)]) for name in runs if name not in _NOT_SETTINGS}
    paper = published(single)
    if form is None and paper is None:
        raise RequestError("no published law covers this run: give a form with --law.")
    numeric = {name for name, x in single.items() if x.dtype.kind in "iufb"}
    free = set(paper.exponents) if form is None and paper is not None else {*parse(str(form), numeric).columns}
    rows = runs["id"] != run.id
    for name in single.keys() - free - _WITHOUT_EFFECT:
        rows &= np.array([_alike(x, own.get(name)) for x in runs[name].tolist()])
    if not rows.any():
        raise RequestError(
            f"lab {str(lab.path)!r} has no other finished run that differs only in the seed or in columns of the law."
        )
    others = select(runs, rows)
    fitted = fit(form or default_form(others) or "C", others)
    median, spread = fitted.law.prior(single)
    return LawPrior(fitted, float(median[0]), float(spread[0]))


def select(runs: Mapping[str, NDArray], rows: NDArray[np.bool_]) -> Table:
    """Some rows of a table."""
    return {name: x[rows] for name, x in runs.items()}


def _configurations(runs: Mapping[str, NDArray]) -> NDArray[np.int64]:
    """Rows that agree in all settings but the seed have the same number."""
    names = [name for name in runs if name not in (*_WITHOUT_EFFECT, *_NOT_SETTINGS)]
    keys = [repr(row) for row in zip(*(runs[name].tolist() for name in names), strict=True)]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def _alike(a: Any, b: Any) -> bool:
    """Whether two values of a setting are equal; a missing one is None, or NaN in a column of numbers."""
    return repr(a) == repr(b) or a == b or all(x is None or x != x for x in (a, b))


def _varies(x: NDArray) -> bool:
    return len({repr(value) for value in x.tolist()}) > 1
