"""Copies of a block: planted steps at which blocks are found get the verdicts they deserve."""

import numpy as np
import pytest

from daybreak import pictures
from daybreak.studies._study import Tables, stack
from daybreak.studies.incremental.repeated_block import STUDY, times

PLAIN = {1: 150.0, 2: 300.0, 3: 700.0}


def planted(factors: dict[tuple[int, int], float], scatter: float = 0.02) -> Tables:
    """Curves in which block k, with copies of block r, is found `factors[r, k]` times earlier than without; otherwise not earlier."""
    noise, steps, lines = np.random.default_rng(1), np.arange(0, 1501, 15), []
    for repeated in range(4):
        for seed in range(5):
            rows = {"repeated": np.full(steps.size, repeated), "seed": np.full(steps.size, seed), "step": steps}
            for block, plain in PLAIN.items():
                at = plain / factors.get((repeated, block), 1.0) * np.exp(scatter * noise.normal())
                rows[f"block{block}"] = 1 / (1 + np.exp(-np.clip((steps - at) / 10, -50, 50)))
                rows[f"kl_{block}"] = np.ones(steps.size)
            lines.append(rows)
    return {"curves": stack(*lines)}


def verdicts(factors: dict[tuple[int, int], float], scatter: float = 0.02) -> list[str]:
    return [claim.verdict for claim in STUDY.judge(planted(factors, scatter)).claims]


def test_times_are_found_where_they_were_planted() -> None:
    rows = times(planted({(2, 3): 2.0}, scatter=0.0)["curves"])
    np.testing.assert_allclose(rows["block1"], 150, atol=3)
    np.testing.assert_allclose(rows["block3"], np.where(rows["repeated"] == 2, 350, 700), atol=3)
    assert not rows["missing1"].any()


def test_a_block_that_is_found_earlier_alone() -> None:
    assert verdicts({(1, 1): 1.5, (2, 2): 1.5, (3, 3): 1.5}) == ["holds"] * 3
    assert verdicts({(1, 1): 1.5, (1, 2): 0.7}) == ["holds", *verdicts({})[1:]], "another one may be later"


def test_others_earlier_too_or_this_one_later() -> None:
    assert verdicts({(1, 1): 1.5, (1, 3): 1.5, (2, 2): 0.5})[:2] == ["fails", "fails"]


def test_scatter_decides_nothing() -> None:
    assert verdicts({(1, 1): 1.1}, scatter=0.4)[0] == "undecided"


def test_a_block_that_is_never_found_is_counted() -> None:
    claims = STUDY.judge(planted({(3, 3): 0.4})).claims
    assert "last step: 5 of 30." in claims[2].note
    assert "last step: 0 of 30." in claims[0].note
    assert claims[2].verdict == "fails"


def test_the_picture_has_a_panel_for_each_block_and_the_factors() -> None:
    tables = planted({(1, 1): 1.5})
    with pictures.look():
        figure = STUDY.draw(tables, STUDY.judge(tables))
    assert len(figure.axes) == 4
    assert figure.axes[0].get_legend_handles_labels()[1][0] == "no copies"


def test_factors_are_ratios_by_seed() -> None:
    ours = STUDY.judge(planted({(2, 1): 2.0}, scatter=0.0)).claims[1].ours
    low, high = (float(x) for x in ours.split("[")[1].split("]")[0].split(", "))
    assert low == pytest.approx(2.0, rel=0.02) and high == pytest.approx(2.0, rel=0.02)
