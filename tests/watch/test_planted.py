"""Models whose attention is set by hand: each probe finds what was planted, and nothing else."""

import numpy as np

from tests.watch.run_script import run_script

L = 50
CHANCE = np.mean([1 / (i + 1) for i in range(L, 2 * L)])  # uniform attention over the past


def test_planted_attention() -> None:
    result = run_script("planted")
    induction, previous, random = result["induction"], result["previous"], result["random"]
    assert induction["induction"][1][0] > 0.95
    assert induction["induction"][0][0] < 1e-6
    assert previous["induction"] == [[0.0], [0.0]] or np.max(previous["induction"]) < 1e-6
    assert np.min(previous["previous_token"]) > 0.95
    assert np.max(induction["duplicate_token"]) < 1e-6
    assert np.max(previous["entropy"]) < 1e-6
    assert np.allclose(random["induction"], CHANCE, rtol=0.3)
    assert np.min(random["entropy"]) > 0.9
    assert random["said"] == []
