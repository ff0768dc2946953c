"""Tables that a law can be fitted to: the runs of a lab, and what reproduced laws were fitted to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.explorer.desk import Desk, Study, columns, names
from daybreak.explorer.view import Columns
from daybreak.lab import index
from daybreak.lab.reading import laws
from daybreak.measure.form import parse

LAB = "lab"
_FLOWS = ("emergence/fig1c", "emergence/fig2-left", "emergence/fig2-right")  # tables of the toy model's flow …
_TOY = {"task": "single-location", "model": "toy", "optimizer": "sgd", "learning_rate": 1.0}  # … which is this
_BOOKKEEPING = ("budget", "every", "margin", "evaluation")


@final
@dataclass(frozen=True)
class Measured:
    """A table that a law can be fitted to.

    Args:
        columns: by name.
        settings: columns that a law may be about.
        measured: columns that it may predict.
        forms: how a law of each would be written.
        kind: what the rows are runs of, where the table does not say.
        where: rows that have something in common, where all have too little.
    """

    columns: Columns
    settings: tuple[str, ...]
    measured: tuple[str, ...]
    forms: Mapping[str, str]
    kind: Mapping[str, Any]
    where: str = ""


def sources(desk: Desk, studies: Mapping[str, Study]) -> dict[str, str]:
    """What can be chosen: the lab if it has runs, and every table that a reproduced law was fitted to."""
    found = {LAB: f"runs of {desk.lab.path}"} if desk.runs().num_rows else {}
    for name, study in studies.items():
        figure, title = name.split("/")[1], study.document.get("title", "")
        tables = [x for x, path in study.tables.items() if _forms(study, names(path))]
        found |= {f"{name}/{x}": f"{figure}, {x}: {title}" for x in tables}
    return found


def _forms(study: Study, known: Iterable[str]) -> dict[str, str]:
    """The laws of a study that speak of a table: all that they read is there."""
    laws = study.document.get("laws") or {}
    return {name: law["form"] for name, law in laws.items() if reads(law["form"], known)}


def reads(form: str, known: Iterable[str]) -> tuple[str, ...]:
    """The columns that a law reads; none if it names others."""
    try:
        return parse(form, frozenset(known)).columns
    except RequestError:
        return ()


def measured(desk: Desk, studies: Mapping[str, Study], source: str) -> Measured:
    """The table of a source."""
    if source == LAB:
        runs = laws.table(desk.lab)
        kind = f"task = {runs['task'][0]}" if np.unique(runs["task"]).size > 1 else ""
        same = laws.select(runs, runs["task"] == runs["task"][0])
        numeric = [x for x in index.setting_columns(runs) if _numeric(runs[x]) and x not in _BOOKKEEPING]
        varying = tuple(x for x in numeric if np.unique(same[x]).size > 1)
        form = laws.default_form(same) or " * ".join(["C", *(f"{x}**a" for x in varying[:1])])
        return Measured(runs, varying, ("plateau",), {"plateau": form}, {}, kind)
    study, _, name = source.rpartition("/")
    table = {x: values for x, values in columns(studies[study].tables[name]).items() if _numeric(values)}
    forms = _forms(studies[study], table)
    settings = tuple(dict.fromkeys(x for form in forms.values() for x in reads(form, table)))
    others = tuple(x for x in table if x not in settings)
    first = next(iter(forms.values()))
    of_each = {x: forms.get(x, first) for x in others}
    if study.rpartition("/")[0] not in _FLOWS:
        return Measured(table, settings, others, of_each, {})
    whole = {"B": np.ones(count(table)), "p": np.zeros(count(table)), **table}
    return Measured(whole, settings, others, of_each, _TOY)


def _numeric(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf"


def count(table: Columns) -> int:
    """How many rows a table has."""
    return len(next(iter(table.values())))
