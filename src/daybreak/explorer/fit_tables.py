"""Tables that a law can be fitted to: the runs of a lab, and the tables behind reproduced laws."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer.view import Columns
from daybreak.explorer.workspace import Workspace, columns, names
from daybreak.lab import index
from daybreak.lab.reading import laws
from daybreak.measure.form import parse
from daybreak.studies.results import StudyResult

LAB = "lab"
_FLOWS = ("emergence/fig1c", "emergence/fig2-left", "emergence/fig2-right")  # tables of the toy model's flow …
_TOY = {"task": "single-location", "model": "toy", "optimizer": "sgd", "learning_rate": 1.0}  # … which is this
_BOOKKEEPING = ("budget", "every", "margin", "evaluation")


@final
@dataclass(frozen=True)
class FitTable:
    """A table that a law can be fitted to.

    Args:
        columns: by name.
        settings: columns that a law may read.
        measured: columns that it may predict.
        forms: the form of a law for each of these.
        kind: settings of the rows that the table does not contain.
        where: a filter that leaves runs of one task, where there are several.
    """

    columns: Columns
    settings: tuple[str, ...]
    measured: tuple[str, ...]
    forms: Mapping[str, str]
    kind: Mapping[str, Any]
    where: str = ""


def sources(workspace: Workspace, studies: Mapping[str, StudyResult]) -> dict[str, str]:
    """What can be chosen: the lab if it has runs, and every table that a reproduced law was fitted to."""
    offered = {LAB: f"runs of {workspace.lab.path}"} if workspace.runs().num_rows else {}
    for name, study in studies.items():
        figure, title = name.split("/")[1], study.document["title"]
        tables = [x for x, path in study.tables.items() if _forms(study, names(path))]
        offered |= {f"{name}/{x}": f"{figure}, {x}: {title}" for x in tables}
    return offered


def _forms(study: StudyResult, columns: Iterable[str]) -> dict[str, str]:
    """The laws of a study whose columns are all in a table."""
    laws = study.document["laws"].items()
    return {name: law["form"] for name, law in laws if reads(law["form"], columns)}


def reads(form: str, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that a law reads; none if it names others."""
    try:
        return parse(form, frozenset(columns)).columns
    except RequestError:
        return ()


def fit_table(workspace: Workspace, studies: Mapping[str, StudyResult], source: str) -> FitTable:
    """The table of a source."""
    if source == LAB:
        runs = laws.table(workspace.lab)
        kind = f"task = '{runs['task'][0]}'" if np.unique(runs["task"]).size > 1 else ""
        same = laws.select(runs, runs["task"] == runs["task"][0])
        numeric = [x for x in index.setting_columns(runs) if _numeric(runs[x]) and x not in _BOOKKEEPING]
        varying = tuple(x for x in numeric if np.unique(same[x]).size > 1)
        form = laws.default_form(same) or " * ".join(["C", *(f"{x}**a" for x in varying[:1])])
        return FitTable(runs, varying, ("plateau",), {"plateau": form}, {}, kind)
    study, _, name = source.rpartition("/")
    table = {x: values for x, values in columns(studies[study].tables[name]).items() if _numeric(values)}
    forms = _forms(studies[study], table)
    settings = tuple(dict.fromkeys(x for form in forms.values() for x in reads(form, table)))
    others = tuple(x for x in table if x not in settings)
    first = next(iter(forms.values()))
    of_each = {x: forms.get(x, first) for x in others}
    if study.rpartition("/")[0] not in _FLOWS:
        return FitTable(table, settings, others, of_each, {})
    whole = {"B": np.ones(count(table)), "p": np.zeros(count(table)), **table}
    return FitTable(whole, settings, others, of_each, _TOY)


def _numeric(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf"


def count(table: Columns) -> int:
    """How many rows a table has."""
    return len(next(iter(table.values())))
