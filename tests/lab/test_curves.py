"""Curves come back as they were, from a file that any tool can read."""

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import parquet

from daybreak.lab import curves
from tests.lab import made

NAMES = st.from_regex(r"[a-z]([a-z_]{0,8}[a-z])?", fullmatch=True).filter(lambda name: name != "step")
SHAPES = st.lists(st.integers(1, 12), max_size=3).map(tuple)
FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)


@settings(max_examples=40)
@given(st.data(), st.dictionaries(NAMES, SHAPES, max_size=4), st.integers(0, 5))
def test_any_record_comes_back_with_names_shapes_and_every_bit(data, shapes, rows: int) -> None:
    given_curves = {
        name: data.draw(arrays.arrays(np.float32, (rows, *x), elements=FLOATS)) for name, x in shapes.items()
    }
    steps = np.arange(rows) * 20
    content = curves.encode(steps, given_curves)
    again_steps, again = curves.decode(content)
    np.testing.assert_array_equal(again_steps, steps)
    assert list(again) == list(given_curves)
    for name, curve in given_curves.items():
        np.testing.assert_array_equal(again[name], curve, strict=True)
    assert curves.encode(again_steps, again) == content


def test_columns_are_named_by_layer_and_head() -> None:
    record = made.record()
    table = parquet.read_table(io.BytesIO(curves.encode(record.steps, record.curves)))
    assert table.column_names[:4] == ["step", "clean_loss", "train_loss", "attention_1_1"]
    np.testing.assert_array_equal(table["attention_2_3"], record.curves["attention"][:, 1, 2])
    assert {str(table[name].type) for name in table.column_names[1:]} == {"float"}


@pytest.mark.parametrize("name", ["step", "loss_2", "2loss", "Loss", "", "a b", "_loss", "loss_"])
def test_names_that_would_not_come_back_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a curve cannot be called"):
        curves.encode(np.arange(2), {name: np.zeros(2, np.float32)})


def test_columns_of_other_programs_are_curves_of_their_name() -> None:
    """Also where a number at the end does not make them an array."""
    given_columns = {
        "loss": [1.0, 2],
        "loss_1": [3.0, 4],
        "head_2": [5.0, 6],
        "lossA/val 0": [7, 8],
        "a_99999999": [9, 9.5],
    }
    sink = io.BytesIO()
    parquet.write_table(pa.table({"step": [0, 10], **given_columns}), sink)
    steps, read = curves.decode(sink.getvalue())
    assert steps.tolist() == [0, 10]
    assert {name: x.tolist() for name, x in read.items()} == given_columns
    assert curves.columns(steps, read).keys() == {"step", *given_columns}
