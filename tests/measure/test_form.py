"""Forms of laws: what can be read, and how everything else is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError
from daybreak.measure.form import parse

COLUMNS = frozenset({"T", "d", "B", "p", "exp"})
TABLE = {
    "T": np.array([4.0, 8.0]),
    "d": np.array([2.0, 3.0]),
    "B": np.ones(2),
    "p": np.zeros(2),
    "exp": np.full(2, 5.0),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C * T**a", [np.log([4, 8])]),
        ("C * d**a * T**b", [np.log([2, 3]), np.log([4, 8])]),
        ("C / T**a", [-np.log([4, 8])]),
        ("C * T**-a", [-np.log([4, 8])]),
        ("C * T**a / d**a", [np.log([2, 8 / 3])]),
        ("C * (sqrt(d) * T / sqrt(p**2 * d + (1-p)**2))**a", [np.log([np.sqrt(2) * 4, np.sqrt(3) * 8])]),
        ("C * exp**a", [np.log([5, 5])]),
    ],
)
def test_design_is_the_log_of_each_base(text, expected):
    design, offset = parse(text, COLUMNS).design(TABLE)
    np.testing.assert_allclose(design, np.column_stack([np.ones(2), *expected]))
    assert not offset.any()


def test_fixed_powers_are_an_offset():
    form = parse("2 * C * T**2 / sqrt(d)", COLUMNS)
    design, offset = form.design(TABLE)
    assert design.shape == (2, 1)
    np.testing.assert_allclose(offset, np.log(2 * TABLE["T"] ** 2 / np.sqrt(TABLE["d"])))
    assert form.columns == ("T", "d")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cannot be read"),
        ("   ", "cannot be read"),
        (None, "must be text"),
        ("C * d**", "cannot be read"),
        ("C * d\0", "cannot be read"),
        ("C * " + "d * " * 200 + "d", "too long"),
        ("C * " + "-" * 200 + "d", "nested too deeply"),
        ("C * " + "(" * 240 + "d" + ")" * 240, "cannot be read"),
        ("d**a", "exactly one factor that is not a column"),
        ("C * K * d**a", "it has C and K"),
        ("C * d**C", "both as constant and as exponent"),
        ("sqrt * d**a", "which is a function"),
        ("C * d**log", "which is a function"),
        ("C * q**a", "'q', which is no column"),
        ("C * d**T", "the exponent 'T' must be a name or a number"),
        ("C * d**9**9**9", "the exponent '9 ** 9 ** 9' must be a name or a number"),
        ("C * d**True", "only numbers up to 1e300"),
        ("C * (1j * d)**a", "only numbers up to 1e300"),
        ("C * (d * 1" + "0" * 400 + ")**a", "only numbers up to 1e300"),
        ("C * d**1e999", "only numbers up to 1e300"),
        ("C * ('x' * d)**a", "only numbers up to 1e300"),
        ("C * __import__('os')**a", "cannot be read at"),
        ("C * d.real**a", "cannot be read at"),
        ("C * sqrt(d, d)**a", "cannot be read at"),
        ("C * (d if T else d)**a", "cannot be read at"),
        ("(lambda: 1) * C", "cannot be read at"),
    ],
)
def test_what_is_no_law_is_refused_in_one_sentence(text, sentence, as_a_user):
    with pytest.raises(RequestError) as error:
        parse(text, COLUMNS)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "C * (9**9**9 * d)**a",
        "C * (d/p)**a",
        "C * (d/0)**a",
        "C * ((0-d)**0.5)**a",
        "C * sqrt(0-T)**a",
        "C * log(B)**a",
        "C * (p * d)**a",
        "C * exp(T * 1e300)**a",
        "C * (d - d)**a",
    ],
)
def test_bases_that_are_not_positive_numbers_are_refused(text):
    with pytest.raises(RequestError, match="must be positive and finite in every row"):
        parse(text, COLUMNS).design(TABLE)


@given(st.text(alphabet="CdTab0129.*/+-() sqrtlogexp,'_\n", max_size=40))
@settings(deadline=None, max_examples=300)
def test_any_text_is_a_law_or_a_request_error(text):
    try:
        design, offset = parse(text, COLUMNS).design(TABLE)
    except RequestError:
        return
    assert np.all(np.isfinite(design))
    assert design.shape[0] == offset.size == 2
