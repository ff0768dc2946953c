"""Curves in the terminal: each dot where its value is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from daybreak.cli._chart import chart


def _heights(lines: list[str], height: int) -> list[int]:
    """Of each column of characters, the highest line with a dot, counted from below."""
    rows = [line.partition("┤")[2] for line in lines[:height]]
    width = max(map(len, rows))
    columns = zip(*(row.ljust(width) for row in rows), strict=True)
    return [height - next(i for i, x in enumerate(column) if x != " ") for column in columns]


def test_a_line_that_rises_rises_on_the_screen() -> None:
    lines = chart([0, 10], [0, 1], width=16, height=4)
    assert _heights(lines, 4) == [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4
    assert lines[0].startswith("1 ┤")
    assert lines[3].startswith("0 ┤")
    assert lines[-1].split() == ["0", "10"]


def test_on_a_logarithmic_axis_an_exponential_is_straight() -> None:
    x = np.linspace(0, 5, 50)
    assert chart(x, np.exp(x), log=True, height=5)[:2] != chart(x, np.exp(x), height=5)[:2]
    straight, line = chart(x, np.exp(x), log=True), chart(x, x)
    assert [a.partition("┤")[2] for a in straight[:8]] == [a.partition("┤")[2] for a in line[:8]]
    assert any("log" in row for row in straight)
    assert not any("log" in row for row in chart(x, x, log=True)), "a zero has no logarithm"


def test_a_mark_stands_where_it_is() -> None:
    lines = chart([0, 100], [0, 1], width=101, height=4, mark=25)
    assert lines[4].index("┴") - lines[4].index("└") - 1 == 25
    assert not any("┴" in line for line in chart([0, 100], [0, 1], mark=101))


@given(
    st.lists(st.floats(width=32) | st.just(float("nan")), min_size=1, max_size=30),
    st.integers(1, 90),
    st.integers(2, 9),
    st.booleans(),
)
def test_any_curve_can_be_drawn(values: list[float], width: int, height: int, log: bool) -> None:
    lines = chart(np.arange(len(values)) * 20, values, log=log, width=width, height=height, mark=3.0)
    if np.isfinite(values).any():
        assert len(lines) == height + 2
        assert all(len(line.partition("┤")[2]) <= width for line in lines[:height])
        assert any("⠁" <= x <= "⣿" for line in lines for x in line)
    else:
        assert lines == ["(no finite value)"]


def test_a_gap_stays_empty() -> None:
    lines = chart([0, 1, 2, 3, 4, 5], [1, 1, np.nan, np.nan, 0, 0], width=60, height=3)
    rows = [line.partition("┤")[2].ljust(60) for line in lines[:3]]
    assert all(not row[14:46].strip() for row in rows)
    assert rows[0][:11].strip()
    assert rows[2][50:].strip()
