"""Tables that a law can be fitted to: the runs of a lab, and the measurements of studies."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from daybreak import measure
from daybreak.errors import RequestError
from daybreak.explorer import filters
from daybreak.explorer.measurements import Measurement, measurements, reads
from daybreak.explorer.view import Columns
from daybreak.explorer.workspace import Workspace, columns
from daybreak.lab import index
from daybreak.lab.reading import laws
from daybreak.lab.reading.groups import Group, differing, groups
from daybreak.lab.reading.published import published
from daybreak.measure import Law
from daybreak.models import MODELS
from daybreak.studies._runs import DRAWS
from daybreak.studies.results import StudyResult
from daybreak.training import Optimizer, Schedule, Stop

LAB = "lab"
CONFIGURATION = "configuration"
_BOOKKEEPING = ("budget", "every", "margin", "evaluation", "seed", CONFIGURATION)


@final
@dataclass(frozen=True)
class Source:
    """A set of measurements that can be chosen, and the law it offers.

    Args:
        title: where it comes from and what was measured.
        form: of the law.
        about: the study and its scale, or the lab, in words.
        study: where the table is; None for the lab.
        measurement: which column and rows of it.
    """

    title: str
    form: str
    about: str
    study: StudyResult | None
    measurement: Measurement


@final
@dataclass(frozen=True)
class FitTable:
    """A table that a law can be fitted to.

    Args:
        columns: by name.
        settings: columns that a law may read.
        names: of values of a column that are numbers without a meaning of their own, by column.
    """

    columns: Columns
    settings: tuple[str, ...]
    names: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


def sources(workspace: Workspace, studies: Mapping[str, StudyResult]) -> dict[str, Source]:
    """What can be chosen: the lab if a law can be fitted to its runs, and every law of a study whose table is there."""
    offered = {}
    lab = _lab_source(workspace)
    if lab is not None:
        offered[LAB] = lab
    for place, study in studies.items():
        _, figure, scale = place.split("/")
        about = f"{study.document['title']}, {scale} scale"
        for name, one in measurements(study).items():
            form = study.document["laws"][name]["form"]
            offered[f"{place}/{name}"] = Source(f"{figure}: {one.what}", form, about, study, one)
    return offered


def find(offered: Mapping[str, Source], name: str) -> str:
    """The source that an address names; those of earlier versions name a table, and mean its first law."""
    for source, x in offered.items():
        if name == source or (x.study is not None and name == f"{x.study.place}/{x.measurement.table}"):
            return source
    raise RequestError(f"source = {name!r} is not among these measurements: choose others.")


def _lab_source(workspace: Workspace) -> Source | None:
    """The runs of the lab, with the largest law that can be fitted to those of one kind, and the filter that chooses these."""
    try:
        runs = laws.table(workspace.lab)
    except RequestError:
        return None
    for kind in groups(runs, _of_the_task(runs)):
        paper = published(kind.runs)
        free = _of_the_task(runs) if paper is None else tuple(paper.exponents)
        powers = [f"C * {name}**a" for name in _varying(kind.runs)]
        for form in (laws.default_form(kind.runs), *powers, "C"):
            if form is None:
                continue
            for group in groups(runs, {*free, *laws.columns(form, runs)}):
                if group.runs["id"][0] in kind.runs["id"] and _fits(form, group.runs) and _chooses(group, runs):
                    one = Measurement("", "plateau", "plateau", where=group.where)
                    return Source(
                        f"lab: runs of {workspace.lab.path}", form, f"{len(runs['id']):,} runs in the lab", None, one
                    )
    return None


def _of_the_task(runs: Columns) -> tuple[str, ...]:
    """Numeric settings that differ between runs and are not those of a built-in model or of training."""
    kinds = (*MODELS.values(), Optimizer, Schedule, Stop)
    others = {"batch", *(x.name for kind in kinds for x in fields(kind))}
    return tuple(x for x in _varying(runs) if x not in others)


def _chooses(group: Group, runs: Columns) -> bool:
    """Whether the filter of the page, whose language is not SQL, can choose this group."""
    try:
        kept = filters.rows(group.where, list(runs), count(runs), lambda name: runs[name].tolist())
    except RequestError:
        return False
    return bool(np.array_equal(runs["id"][kept], group.runs["id"]))


def pooled(source: Source, form: str, rows: Columns) -> tuple[int, tuple[str, ...]]:
    """How many kinds of runs a law of the lab pools, and the settings in which they differ that it does not contain."""
    if source.study is not None:
        return 1, ()
    paper = published(rows)
    found = groups(rows, {*(() if paper is None else paper.exponents), *laws.columns(form, rows)})
    return len(found), differing(found)


def _fits(form: str, runs: Columns) -> bool:
    numeric = {name: x for name, x in runs.items() if _numeric(x) and not np.isnan(x.astype(np.float64)).any()}
    try:
        measure.fit_law(form, numeric | {"censored": runs["censored"]}, censored="censored")
    except (RequestError, ArithmeticError):
        return False
    return True


def fit_table(workspace: Workspace, source: Source) -> FitTable:
    """The table of a source."""
    if source.study is None:
        runs = laws.table(workspace.lab)
        offered = source.measurement.where
        task = runs["task"][filters.rows(offered, list(runs), count(runs), lambda name: runs[name].tolist())][0]
        settings = _varying(laws.select(runs, runs["task"] == task))
    else:
        table = columns(source.study.tables[source.measurement.table])
        rows = count(table)
        runs = {name: np.full(rows, value) for name, value in source.measurement.setting.items()} | table
        forms = [law["form"] for law in source.study.document["laws"].values()]
        settings = tuple(dict.fromkeys(x for form in forms for x in reads(form, table)))
    if CONFIGURATION not in runs:
        return FitTable(runs, settings)
    return FitTable(runs, settings, {CONFIGURATION: _configurations(runs, settings)})


def _configurations(runs: Columns, settings: tuple[str, ...]) -> dict[int, str]:
    """What the runs of each configuration have in common, in words: `T 32, d 16`."""
    numbers, first = np.unique(runs[CONFIGURATION], return_index=True)
    return {
        int(number): ", ".join(f"{name} {runs[name][row]:g}" for name in settings) or "all runs"
        for number, row in zip(numbers, first, strict=True)
    }


def fit(source: Source, form: str, rows: Columns, settings: tuple[str, ...]) -> Law:
    """A law of some rows: as the command fits a lab, and as the study fits its table."""
    y = source.measurement.y
    if CONFIGURATION not in rows:
        return measure.fit_law(form, {name: rows[name] for name in (*settings, y)}, y=y)
    if source.study is None:
        return laws.fit(form, rows).law
    read = {name: rows[name] for name in ("id", CONFIGURATION, *settings)}
    return laws.fit(form, read | {"plateau": rows[y], "censored": censored(source, rows)}, "tobit", DRAWS).law


def censored(source: Source, rows: Columns) -> NDArray[np.bool_]:
    """Which rows did not end their plateau."""
    name = source.measurement.y.replace("plateau", "censored")
    return rows[name] if name in rows and name != source.measurement.y else np.zeros(count(rows), np.bool_)


def _varying(runs: Columns) -> tuple[str, ...]:
    """Numeric settings that differ between runs."""
    numeric = [x for x in index.setting_columns(runs) if x not in _BOOKKEEPING and _numeric(runs[x])]
    return tuple(x for x in numeric if np.unique(runs[x]).size > 1)


def _numeric(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf"


def count(table: Columns) -> int:
    """How many rows a table has."""
    return len(next(iter(table.values())))
