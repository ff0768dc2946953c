"""The nearest of several references, and its spans."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from daybreak.errors import RequestError
from daybreak.measure import Span, nearest_reference

STEPS = np.arange(0.0, 900.0, 10.0)
# Paper B, figure 3: the student is nearest to p^(1), then p^(2), then p^(3).
KL = np.abs(np.array([[150.0], [450.0], [750.0]]) - STEPS) / 100


def test_references_are_nearest_in_turn():
    spans = nearest_reference(STEPS, KL).spans
    assert [span.reference for span in spans] == [0, 1, 2]
    assert spans[0] == Span(0, 0, 300)
    assert spans[1].end == 600


def test_flicker_under_noise_is_held_off():
    rng = np.random.default_rng(0)
    noisy = KL + 0.3 * rng.standard_normal(KL.shape)
    assert len(nearest_reference(STEPS, noisy).spans) > 3
    spans = nearest_reference(STEPS, noisy, hold=5).spans
    assert [span.reference for span in spans] == [0, 1, 2]
    assert spans[1].start == pytest.approx(300, abs=50)


def test_flicker_at_the_start_goes_to_the_first_that_holds():
    found = nearest_reference(range(5), [[0, 1, 1, 1, 1], [1, 0, 0, 0, 0]], hold=2)
    assert found.spans == (Span(1, 0, 4),)


def test_where_none_holds_the_most_frequent_is_nearest():
    found = nearest_reference(range(5), [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]], hold=3)
    assert found.spans == (Span(0, 0, 4),)


@given(kl=arrays(np.float64, (3, 12), elements=st.floats(0, 1)), hold=st.integers(1, 5))
@settings(deadline=None)
def test_spans_tile_the_steps_and_agree_with_the_index(kl, hold):
    steps = np.arange(12.0)
    found = nearest_reference(steps, kl, hold=hold)
    tiled = np.concatenate([np.full(int(s.end - s.start) + 1, s.reference) for s in found.spans])
    np.testing.assert_array_equal(tiled, found.index)
    assert all(a.reference != b.reference for a, b in pairwise(found.spans))
    if hold == 1:
        np.testing.assert_array_equal(found.index, kl.argmin(axis=0))


@pytest.mark.parametrize(
    ("steps", "kl", "sentence"),
    [
        ([0, 1], [0.1, 0.2], "one row per reference"),
        ([0, 1], [[0.1, np.nan]], "the value at step 1 is not finite"),
        ([0, 1, 2], [[0.1, 0.2]], "not a curve"),
    ],
)
def test_what_is_no_table_of_divergences_is_refused(steps, kl, sentence):
    with pytest.raises(RequestError, match=sentence):
        nearest_reference(steps, kl)
