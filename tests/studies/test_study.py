"""Small tools that studies share."""

import numpy as np

from daybreak.studies._study import grid, select, stack, verdict


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
