"""Expressions of sweep files: Python's answers for what is allowed, one sentence for everything else."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.lab.sweeps.expression import parse

VALUES = {
    "T": 8,
    "d": 4,
    "p": 0.25,
    "position": "fixed",
    "feature": False,
    "window": None,
    "task.d": 4,
    "task.name": "a",
    "model.name": "b",
}
WHOLE = st.sampled_from(["T", "d", "p", "3", "2.5", "task.d"])
ARITHMETIC = st.recursive(
    WHOLE,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("{}({})".format, st.sampled_from(["max", "min"]), st.lists(inner, min_size=2).map(", ".join))
        | st.builds("(-{})".format, inner)
    ),
    max_leaves=8,
)


@given(ARITHMETIC, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), ARITHMETIC)
def test_it_means_what_it_means_in_python(left: str, sign: str, right: str) -> None:
    text = f"{left} {sign} {right}"

    class Task:
        d = VALUES["d"]

    try:
        truth = eval(text, {"max": max, "min": min, "task": Task, **VALUES})  # noqa: S307
    except ZeroDivisionError:
        with pytest.raises(RequestError, match="cannot be computed"):
            parse(text)(VALUES)
        return
    if len(text) <= 500:
        assert parse(text)(VALUES) == truth


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("4 * 0.76 * d**1.29 * T**0.8", 4 * 0.76 * 4**1.29 * 8**0.8),
        ("sqrt(p**2 * d + (1 - p)**2)", math.hypot(0.5, 0.75)),
        ("position == 'fixed' and not feature", True),
        ("1 < d < T", True),
        ("1 < T < d or T % 3 == 2", True),
        ("T // 3", 2),
        ("T = 8 and position = 'fixed'", True),
        ("position != 'a = b'", True),
        ("feature = 'no'", True),
        ("window", None),
        ("2 * window", None),
        ("window != 3", None),
        ("not window > 3", None),
        ("window > 3 or T = 8", True),
        ("window > 3 and T = 9", False),
        ("T = 9 and 1 / (T - 8) > 0", False),
        ("  +d", 4),
    ],
)
def test_examples(text: str, answer: float | None) -> None:
    assert parse(text)(VALUES) == (answer if answer is None else pytest.approx(answer))


def test_commas_join_conditions_and_no_numbers() -> None:
    assert parse("T = 8, d >= 8", commas=True)(VALUES) is False
    assert parse("T = 8, d < 8,", commas=True)(VALUES) is True
    with pytest.raises(RequestError, match="cannot be read at"):
        parse("4 * d, 5")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__import__('os').system('true')", "cannot be read at"),
        ("().__class__", "cannot be read at"),
        ("task.d.real", "cannot be read at"),
        ("[x for x in 'ab']", "cannot be read at"),
        ("open('x')", "cannot be read at"),
        ("lambda: 1", "cannot be read at"),
        ("d if T else d", "cannot be read at"),
        ("max(*'ab')", "cannot be read at"),
        ("max()", "cannot be read at"),
        ("1j", "cannot be read at"),
        ("d <=", "cannot be read: use settings"),
        ("", "cannot be read: use settings"),
        ("\0", "cannot be read: use settings"),
        ("-" * 200 + "d", "nested too deeply"),
        ("1 + " * 200 + "1", "too long"),
        ("9**9**9**9", "cannot be computed: math range error"),
        ("position * 1000000000", "position is no number"),
        ("feature + 1", "feature is no number"),
        ("feature or position", "position is neither true nor false"),
        ("(0 - d)**0.5", "cannot be computed at d = 4: "),
        ("log(0)", "cannot be computed: "),
        ("position < d", "cannot be computed at d = 4, position = 'fixed': "),
        ("Tt + 1", "names 'Tt', which is unknown: perhaps you meant 'T'"),
        ("zzzzz", "there are T, d, feature, p, position, window"),
        ("name == 'a'", "more than one setting: write task.name or model.name"),
    ],
)
def test_everything_else_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(RequestError) as refusal:
        parse(text)(VALUES)
    assert said in str(refusal.value)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


@given(st.text(max_size=40))
def test_rubbish_never_escapes(text: str) -> None:
    with contextlib.suppress(RequestError):
        parse(text)(VALUES)
