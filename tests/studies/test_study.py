"""Small tools that studies share."""

from typing import get_args

import numpy as np
import pytest

from daybreak.studies import VERDICTS, Claim
from daybreak.studies._study import Verdict, grid, select, stack, verdict


def test_grid_has_every_combination_once() -> None:
    table = grid(T=[1, 2], d=[3, 4, 5], B=[6])
    rows = set(zip(*(table[name] for name in "TdB"), strict=True))
    assert rows == {(T, d, 6) for T in (1, 2) for d in (3, 4, 5)}
    assert len(table["T"]) == 6


def test_stack_and_select_keep_rows_together() -> None:
    table = stack(grid(T=[1], d=[2]), grid(T=[3], d=[4, 5]))
    kept = select(table, table["T"] == 3)
    np.testing.assert_array_equal(kept["d"], [4, 5])


def test_verdicts() -> None:
    assert (verdict(True), verdict(False)) == ("holds", "fails")
    assert (*VERDICTS,) == get_args(Verdict)


@pytest.mark.parametrize("note", ["", "The sentence is about T ≥ 128.", "To reach it costs about 12 hours."])
def test_a_claim_outside_the_grid_states_the_regime_and_its_cost(note: str) -> None:
    with pytest.raises(ValueError, match="claim A99 is outside: its note must contain"):
        Claim("A99", "It is sharp.", "", "", "outside", note)
    whole = "The sentence is about T ≥ 128. To reach it costs about 12 hours on two cores."
    assert Claim("A99", "It is sharp.", "", "", "outside", whole).verdict == "outside"
