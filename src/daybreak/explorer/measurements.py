"""What the laws of studies were fitted to: which table, which column, which rows, and what these are, in words."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

from daybreak.errors import RequestError
from daybreak.explorer.workspace import names
from daybreak.measure.form import parse
from daybreak.studies.results import StudyResult


@final
@dataclass(frozen=True)
class Measurement:
    """What a law of a study was fitted to.

    Args:
        table: of the study.
        y: the column that was measured. One that says whether it is censored has the name with `censored` for `plateau`.
        what: was measured, in words.
        unit: of it.
        where: its rows, as a filter.
        setting: what all rows have in common and the table does not contain; published laws are found by it.
    """

    table: str
    y: str
    what: str
    unit: Literal["steps", "flow time"] = "steps"
    where: str = ""
    setting: Mapping[str, Any] = field(default_factory=dict)


_TOY: Mapping[str, Any] = {
    "task": "single-location",
    "model": "toy",
    "optimizer": "sgd",
    "learning_rate": 1.0,
    "B": 1.0,
    "p": 0.0,
}
_RECALL = {"task": "recall", "model": "transformer", "optimizer": "adam", "B": 1.0, "p": 0.0}
_REGRESSION = _RECALL | {"task": "single-location", "layers": 2, "heads": 4, "position": "random", "feature": True}
_TEXT = {"task": "text", "model": "transformer", "optimizer": "adamw"}
_ONE_HEAD = _REGRESSION | {"layers": 1, "heads": 1}


def _flow(y: str, what: str, setting: Mapping[str, Any] = MappingProxyType({}), table: str = "plateaus") -> Measurement:
    return Measurement(table, y, what, "flow time", setting=setting)


def _runs(setting: Mapping[str, Any], what: str, where: str = "", y: str = "plateau") -> Measurement:
    return Measurement("plateaus", y, what, "steps", where, setting)


_LOSS = "plateau of a Transformer"
_SLOPE = "(d√t / d ln 1/ε)², t when heads stop competing"
_MEASUREMENTS: Mapping[str, Mapping[str, Measurement]] = {
    "emergence/fig1c": {
        "plateau": _flow("plateau", "plateau of the toy model", _TOY),
        "escape_time": _flow("escape_time", "escape time of the toy model, as paper A defines it"),
    },
    "emergence/fig2-left": {
        "tied": _flow("tied", "plateau of the toy model, tied logits", _TOY),
        "free": _flow("free", "plateau of the toy model, free logits"),
        "tied, wide grid": _flow("tied", "plateau of the toy model, tied logits, wide grid", _TOY, "wide"),
    },
    "emergence/fig2-right": {
        "plateau": _flow("plateau", "plateau of the toy model with repetition p, factor of paper A"),
        "exact factor": _flow("plateau", "plateau of the toy model with repetition p, exact factor"),
    },
    "emergence/fig3": {
        "plateau": _runs(_REGRESSION, _LOSS, "B = 1"),
        "with B, clean data": _runs(_REGRESSION, f"{_LOSS}, with copies, on clean data"),
        "with B, training data": _runs(
            _REGRESSION, f"{_LOSS}, with copies, on data like those of training", y="plateau_train"
        ),
    },
    "emergence/fig4": {
        "above the guess": _runs(_RECALL, "plateau of recall until accuracy is above a guess", y="plateau_above"),
        "5 %": _runs(
            _RECALL, "plateau of recall until accuracy is 5 %", "V > 20 and plateau_paper > 0", "plateau_paper"
        ),
    },
    "emergence/fig13": {"plateau": _runs(_REGRESSION, f"{_LOSS}, layers and heads varied")},
    "emergence/fig14": {
        "feature, random": _runs(_REGRESSION, f"{_LOSS}, random position, marked", "position = 'random' and feature"),
        "feature, fixed": _runs(_REGRESSION, f"{_LOSS}, fixed position, marked", "position = 'fixed' and feature"),
        "no feature, fixed": _runs(_REGRESSION, f"{_LOSS}, fixed position", "position = 'fixed' and not feature"),
    },
    "emergence/fig15": {
        "sgd": _runs(_ONE_HEAD, f"{_LOSS} of one head, by SGD", "optimizer = 'sgd'"),
        "adam": _runs(_ONE_HEAD, f"{_LOSS} of one head, by Adam", "optimizer = 'adam'"),
    },
    "emergence/two-circuits": {
        "both hops learned": _runs(
            _RECALL, "plateau of recall, both hops learned", "first_attention = 'learned'", "plateau_half"
        ),
        "first hop given": _runs(
            _RECALL, "plateau of recall, first hop given", "first_attention = 'previous'", "plateau_half"
        ),
    },
    "incremental/transition-times": {
        "logits": _flow("logits", f"{_SLOPE}, flow of the model", table="slopes"),
        "published": _flow("published", f"{_SLOPE}, flow as the paper simulates it", table="slopes"),
    },
    "language/text-induction": {
        "q": Measurement("runs", "plateau", "steps until an induction head in text", where="q > 0", setting=_TEXT),
    },
    "language/text-laws": {"steps": _runs(_TEXT, "steps until an induction head in text that repeats")},
}


def measurements(study: StudyResult) -> dict[str, Measurement]:
    """What each law of a study was fitted to, by the name of the law; without those whose columns are not there.

    A study that is not listed above, such as your own, is one whose laws predict the column of their name, or `plateau`.
    """
    known = _MEASUREMENTS.get(study.place.rpartition("/")[0], {})
    columns = {name: names(path) for name, path in study.tables.items()}
    found = {}
    for name, law in study.document["laws"].items():
        candidates = [known[name]] if name in known else [_by_name(name, x, columns[x]) for x in columns]
        for one in candidates:
            there = columns.get(one.table, ())
            if one.y in there and reads(law["form"], there):
                found[name] = one
                break
    return found


def _by_name(law: str, table: str, columns: Collection[str]) -> Measurement:
    return Measurement(table, law if law in columns else "plateau", law)


def reads(form: str, columns: Collection[str]) -> tuple[str, ...]:
    """The columns that a law reads; none if it names others."""
    try:
        return parse(form, frozenset(columns)).columns
    except RequestError:
        return ()
