"""Overlap of heads: planted attention, and what must not change it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from daybreak import measure
from daybreak.errors import RequestError

MAPS = arrays(np.float64, (4, 3, 6), elements=st.floats(0.01, 1))


def test_heads_that_part_go_from_one_to_zero() -> None:
    """Three heads move from block 1 to a block of their own: cosines of two heads at share s are known."""
    share = np.linspace(0, 1, 11)[:, None]
    heads = [np.eye(3)[0] * (1 - share) + np.eye(3)[k] * share for k in (0, 1, 2)]
    found = measure.overlap(np.stack(heads, axis=1))
    kept, norm = (1 - share[:, 0]), np.hypot(1 - share[:, 0], share[:, 0])
    np.testing.assert_allclose(found, (2 * kept / norm + kept**2 / norm**2) / 3)
    assert found[0] == pytest.approx(1) and found[-1] == pytest.approx(0)


@given(MAPS)
def test_lies_between_zero_and_one_and_does_not_know_an_order(maps) -> None:
    found = measure.overlap(maps)
    assert np.all((found > 0) & (found <= 1 + 1e-12))
    np.testing.assert_allclose(measure.overlap(maps[:, ::-1]), found)
    np.testing.assert_allclose(measure.overlap(maps[..., ::-1]), found)
    np.testing.assert_allclose(measure.overlap(3 * maps), found)


@pytest.mark.parametrize(
    ("maps", "said"),
    [([[0.5, 0.5]], "at least two heads"), ([[0.5], [-0.5]], "at least 0"), ([[0.0], [1.0]], "attends to nothing")],
)
def test_nonsense_is_refused(maps, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        measure.overlap(maps)
