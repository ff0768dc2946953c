"""Laws of the plateaus in a lab: its runs as a table, and a law fitted to them, seeds of a configuration kept together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab import index

if TYPE_CHECKING:
    from daybreak.lab.store import Lab
    from daybreak.measure import Law
    from daybreak.measure.law import Method
    from daybreak.training import Run

Table = dict[str, NDArray]

_BESIDE = ("id", "plateau", "censored", "configuration")
_IRRELEVANT = frozenset({"seed", "budget", "every", "margin", "evaluation"})  # to how long a plateau is


@final
@dataclass(frozen=True)
class Fitted:
    """A law of a lab's runs.

    Args:
        law: as fitted.
        configurations: how many the runs are of; one is all settings but the seed.
        resampled: whether intervals come from drawing configurations again, or from Student's t on the runs.
        beside: settings that differ between the runs and that the law does not have.
    """

    law: "Law"
    configurations: int
    resampled: bool
    beside: tuple[str, ...]


def table(lab: "Lab", where: str | None = None) -> Table:
    """The runs of a lab that a law can be fitted to: settings, `plateau`, `censored` and the number of the configuration.

    Runs that failed or diverged say nothing of how long a plateau is, and are left out.
    """
    columns = lab.columns(where)
    if not columns or not len(columns["id"]):
        raise RequestError(_nothing(lab, where))
    kept = columns["outcome"] != "diverged"
    if not kept.any():
        raise RequestError(_nothing(lab, where))
    names = ("id", *index.setting_columns(columns), "plateau", "censored")
    made = {name: columns[name][kept] for name in names}
    made["censored"] = made["censored"].astype(np.bool_)
    return made | {"configuration": _configurations(made)}


def fit(form: str, runs: Mapping[str, NDArray], method: "Method | None" = None) -> Fitted:
    """Fit a law to the table of a lab.

    Intervals come from drawing configurations again where there are several seeds of each and more
    configurations than unknowns; otherwise from Student's t.
    """
    from daybreak.measure import fit_law
    from daybreak.measure.form import parse

    settings = {name: x for name, x in runs.items() if name not in _BESIDE}
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
    beside = tuple(x for x in settings if x not in (*parsed.columns, *_IRRELEVANT) and _varies(settings[x]))
    return Fitted(law, np.unique(configuration).size, resampled, beside)


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
class Prior:
    """What a law of other runs says of one run: a median, and the standard deviation of the log of a single run."""

    fitted: Fitted
    median: float
    spread: float


def prior(lab: "Lab", run: "Run", form: str | None = None) -> Prior:
    """The law of the finished runs of a lab that differ from a run only in seed and in what the law is about.

    Args:
        lab: whose runs to take; the run itself does not count.
        run: the one to speak of.
        form: of the law; by default that of the paper's, as far as it can be told from these runs.

    Raises:
        RequestError: there are too few such runs, or the form is wrong; the sentence says which.
    """
    from daybreak.lab.reading.published import published
    from daybreak.measure.form import parse
    from daybreak.training import to_json

    own = index.settings(to_json(run))
    runs = table(lab)
    here = {name: np.array([own.get(name)]) for name in runs if name not in _BESIDE}
    paper = published(here)
    if form is None and paper is None:
        raise RequestError("there is no law for runs of this kind: give one with --law.")
    numeric = {name for name, x in here.items() if x.dtype.kind in "iufb"}
    free = set(paper.exponents) if form is None and paper is not None else {*parse(str(form), numeric).columns}
    rows = runs["id"] != run.id
    for name in here.keys() - free - _IRRELEVANT:
        rows &= np.array([_alike(x, own.get(name)) for x in runs[name].tolist()])
    if not rows.any():
        raise RequestError(f"lab {str(lab.path)!r} has no other finished run of this kind.")
    others = select(runs, rows)
    fitted = fit(form or default_form(others) or "C", others)
    median, spread = fitted.law.prior(here)
    return Prior(fitted, float(median[0]), float(spread[0]))


def select(runs: Mapping[str, NDArray], rows: NDArray[np.bool_]) -> Table:
    """Some rows of a table."""
    return {name: x[rows] for name, x in runs.items()}


def _configurations(runs: Mapping[str, NDArray]) -> NDArray[np.int64]:
    """Rows that agree in all settings but the seed have one number."""
    names = [name for name in runs if name not in (*_IRRELEVANT, *_BESIDE)]
    keys = [repr(row) for row in zip(*(runs[name].tolist() for name in names), strict=True)]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.int64)


def _alike(a: Any, b: Any) -> bool:
    """Whether two values of a setting agree; one that a run does not have is None, or NaN in a column of numbers."""
    return repr(a) == repr(b) or a == b or all(x is None or x != x for x in (a, b))


def _varies(x: NDArray) -> bool:
    return len({repr(value) for value in x.tolist()}) > 1


def _nothing(lab: "Lab", where: str | None) -> str:
    which = "" if where is None else f" for which {where!r} holds"
    return (
        f"lab {str(lab.path)!r} has no run{which} that a law could be fitted to: train some first, or ask for others."
    )
