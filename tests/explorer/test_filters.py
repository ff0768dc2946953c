"""Filters: what they keep is what a Python comprehension keeps; nothing in them is ever run."""

import builtins
import contextlib
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.explorer import filters

COLUMNS: dict[str, list[Any]] = {
    "T": [16, 64, 256],
    "d": [16, 16, 32],
    "p": [0.0, float("nan"), 0.5],
    "task": ["recall", "single-location", None],
    "bias": [True, False, None],
    "id": ["00ab", "12d", "ffff"],
}


def _kept(text: str, columns: dict[str, list[Any]] = COLUMNS) -> list[bool]:
    return filters.rows(text, list(columns), len(columns["T"]), columns.__getitem__).tolist()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", [True, True, True]),
        (" , ", [True, True, True]),
        ("T >= 64", [False, True, True]),
        ("T>16,T<256", [False, True, False]),
        ("T = 64.0", [False, True, False]),
        ("T == 64 or d = 32", [False, True, True]),
        ("16 < T <= 256 and not d = 16", [False, False, True]),
        ("T / d = 4", [False, True, False]),
        ("T = d", [True, False, False]),
        ("T = d*4", [False, True, False]),
        ("T = d/1", [True, False, False]),
        ("T = max(d, 64)", [False, True, False]),
        ("task = recall", [True, False, False]),
        ("task = 'recall'", [True, False, False]),
        ('task == "recall"', [True, False, False]),
        ("task = single-location, T >= 64", [False, True, False]),
        ("task = single-location and T >= 64", [False, True, False]),
        ("task != recall", [False, True, False]),
        ("task != 'a = b, c'", [True, True, False]),
        ("bias = yes", [True, False, False]),
        ("bias = 'no'", [False, True, False]),
        ("bias = true", [True, False, False]),
        ("bias", [True, False, False]),
        ("not bias", [False, True, False]),
        ("p > 0", [False, False, True]),
        ("not p > 0", [True, False, False]),
        ("p > 0 or T = 64", [False, True, True]),
        ("p + 1 != 1", [False, False, True]),
        ("id = 12d", [False, True, False]),
        ("T = many", [False, False, False]),
    ],
)
def test_conditions(text: str, kept: list[bool]) -> None:
    assert _kept(text) == kept


SIGNS = {"<": "<", "<=": "<=", "=": "==", "==": "==", "!=": "!=", ">=": ">=", ">": ">"}
NUMBER = st.integers(-3, 3) | st.none() | st.sampled_from([0.5, float("nan")])
TABLES = st.lists(st.tuples(NUMBER, NUMBER, st.sampled_from(["a", "b-c", None])), max_size=8)


@st.composite
def _comparisons(draw: st.DrawFn) -> tuple[str, str]:
    """A comparison as a filter, and the same in Python with `r` as the row."""
    sign = draw(st.sampled_from(list(SIGNS)))
    if draw(st.booleans()):
        word, quoted = draw(st.sampled_from(["a", "b-c"])), draw(st.booleans())
        sign = "=" if sign in ("<", "<=", "=", "==") else "!="
        text = repr(word) if quoted else word
        return f"word {sign} {text}", f"(r['word'] is not None and r['word'] {SIGNS[sign]} {word!r})"
    left, right = (draw(st.sampled_from(["T", "d", "T + d", "2 * T", "1", "0.5"])) for _ in range(2))
    read = sorted({name for name in ("T", "d") if name in left + right})
    known = "".join(f"r[{name!r}] is not None and r[{name!r}] == r[{name!r}] and " for name in read)
    python = [side.replace("T", "r['T']").replace("d", "r['d']") for side in (left, right)]
    return f"{left} {sign} {right}", f"({known}{python[0]} {SIGNS[sign]} {python[1]})"


@given(TABLES, st.lists(_comparisons(), min_size=1, max_size=3), st.sampled_from([" and ", " or ", ", "]))
def test_a_filter_keeps_what_a_comprehension_keeps(
    table: list[tuple[Any, Any, Any]], parts: list[tuple[str, str]], joint: str
) -> None:
    names = ("T", "d", "word")
    columns = {name: [row[i] for row in table] for i, name in enumerate(names)}
    text = joint.join(filter_ for filter_, _ in parts)
    python = (" or " if joint == " or " else " and ").join(truth for _, truth in parts)
    expected = [bool(eval(python, {"r": dict(zip(names, row, strict=True))})) for row in table]  # noqa: S307
    if any(name in text.replace("word", "") for name in ("T", "d")) or "word" in text:
        assert _kept(text, columns) == expected
    else:
        with pytest.raises(RequestError, match="names no column"):
            _kept(text, columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T", "filter 'T' is no condition"),
        ("1 = 1", "names no column: there are T, d"),
        ("T >=", "cannot be read"),
        ("T + 1", "is no condition"),
        ("Z = 1", "filter 'Z = 1' names 'Z', which is unknown: there are T, "),
        ("t = 1", "perhaps you meant 'T'"),
        ("tsk = recall", "perhaps you meant 'task'"),
        ("task > recall", "names 'recall', which is unknown"),
        ("task > 3", "cannot be computed at task = 'recall'"),
        ("task = recall or 'markov'", "'markov' is neither true nor false"),
        ("1 = 1; drop table runs", "cannot be read"),
        ("T = 1 or 1 = 1 --, x", "cannot be read"),
        ("id in (select 1)", "cannot be read"),
        ("__import__('os').system('true') = 0", "cannot be read at"),
        ("read_text('/etc/passwd') = 1", "cannot be read at"),
        ("T.__class__ = 1", "which is unknown"),
        ("T = 1" + " or T = 1" * 100, "too long"),
        ("not " * 110 + "bias", "nested too deeply"),
    ],
)
def test_everything_else_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=r"^filter ") as refusal:
        _kept(text)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


HOSTILE = st.sampled_from(
    [
        "__import__('os')",
        "__import__('os').system('true')",
        "open('x')",
        "exec('breakpoint()')",
        "eval('open(1)')",
        "().__class__",
        "lambda: 0",
        "[x for x in T]",
        "breakpoint()",
    ]
)
PIECES = HOSTILE | st.sampled_from([*COLUMNS, "=", "==", ",", " and ", " or ", "(", ")", "'", '"', "'x'", "1", "**"])


@given(st.lists(PIECES | st.text(max_size=5), max_size=8).map("".join))
def test_hostile_texts_run_nothing(text: str) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError(f"run by {text!r}")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "breakpoint", "print"):
            patch.setattr(builtins, name, refuse)
        patch.setattr(os, "system", refuse)
        with contextlib.suppress(RequestError):
            _kept(text)
