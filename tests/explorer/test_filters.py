"""Filters: plain comparisons, which Hypothesis holds against Python's own; nothing in them is ever run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.explorer import filters

COLUMNS = {
    "T": np.array([16, 64, 256]),
    "p": np.array([0.0, np.nan, 0.5]),
    "task": np.array(["recall", "markov", None], object),
    "bias": np.array([True, False, None], object),
}


def _kept(text: str) -> list[bool]:
    return filters.rows(text, COLUMNS.__getitem__, list(COLUMNS), 3).tolist()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", [True, True, True]),
        ("T >= 64", [False, True, True]),
        ("T>16,T<256", [False, True, False]),
        ("T = 64.0", [False, True, False]),
        ("task = recall", [True, False, False]),
        ("task != recall", [False, True, True]),
        ("bias = yes", [True, False, False]),
        ("p > 0", [False, False, True]),
        ("T = many", [False, False, False]),
    ],
)
def test_conditions(text: str, kept: list[bool]) -> None:
    assert _kept(text) == kept


@given(st.integers(0, 300), st.sampled_from(["<", "<=", "=", "!=", ">=", ">"]))
def test_comparisons_are_pythons(value: int, sign: str) -> None:
    python = {"<": "__lt__", "<=": "__le__", "=": "__eq__", "!=": "__ne__", ">=": "__ge__", ">": "__gt__"}
    assert _kept(f"T {sign} {value}") == [getattr(x, python[sign])(value) for x in (16, 64, 256)]


@pytest.mark.parametrize(
    "text",
    [
        "T",
        "T >=",
        "Z = 1",
        "task > recall",
        "1 = 1; drop table runs",
        "T = 1 or 1 = 1 --, x",
        "__import__('os').system('true') = 0",
        "read_text('/etc/passwd') = 1",
    ],
)
def test_everything_else_is_refused_in_words(text: str) -> None:
    with pytest.raises(RequestError, match="filter"):
        _kept(text)
