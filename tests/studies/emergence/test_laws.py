"""The laws of figures 1c and 2 at full scale, fitted on the flow, are the paper's within the stated tolerances."""

import numpy as np
import pytest

from daybreak.studies.emergence import fig1c, fig2_left, fig2_right
from daybreak.studies.emergence.fig2_left import _both


def test_figure_1c() -> None:
    findings = fig1c.STUDY.judge(fig1c._measure("laptop"))
    law = findings.laws["plateau"]
    assert law.ranges["T"] == (64, 4096)
    assert law.ranges["d"] == (16, 512)
    assert law.r2 >= 0.999
    assert [law.coefficients[x] for x in "ab"] == pytest.approx([0.5, 1.0], abs=0.03)
    verdicts = {claim.id: claim.verdict for claim in findings.claims}
    assert verdicts == {"A1c": "holds", "A1c-escape": "fails", "A1c-takeoff": "holds"}


def test_figure_2_left() -> None:
    """Tied: 0.49, 0.99, −0.99 within 0.03. Free: B^−0.5 within 0.03."""
    tables = fig2_left._measure("smoke") | {"plateaus": _both(_whole_grid())}
    laws = fig2_left.STUDY.judge(tables).laws
    assert [laws["tied"].coefficients[x] for x in "abc"] == pytest.approx([0.49, 0.99, -0.99], abs=0.03)
    assert laws["tied"].r2 >= 0.999
    assert laws["free"].coefficients["c"] == pytest.approx(-0.5, abs=0.03)
    assert laws["free"].r2 >= 0.999


def _whole_grid() -> dict[str, np.ndarray]:
    d = 2 ** np.arange(4, 10)
    rows = [(T, x, 1) for T in 2 ** np.arange(6, 12) for x in d] + [(4096, x, B) for B in (1, 2, 4, 8, 16) for x in d]
    return dict(zip("TdB", np.array(rows, dtype=float).T, strict=True))


def test_figure_2_right() -> None:
    law = fig2_right.STUDY.judge(fig2_right._measure("laptop")).laws["plateau"]
    assert law.r2 >= 0.98
    assert law.coefficients["a"] == pytest.approx(1.02, abs=0.03)
