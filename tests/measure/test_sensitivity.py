"""How far plateau lengths depend on the level."""

import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.measure import plateau, threshold_sensitivity

STEPS = np.arange(0.0, 1000.0, 5.0)


def test_sharper_drops_depend_less_on_the_level():
    sharp, slow = (
        threshold_sensitivity(STEPS, 1 / (1 + np.exp((STEPS - 500) / width)), [0.8, 0.5, 0.2]) for width in (5, 50)
    )
    assert sharp.spread == pytest.approx(2 * 5 * np.log(4) / 500, rel=0.1)
    assert slow.spread == pytest.approx(2 * 50 * np.log(4) / 500, rel=0.1)
    assert not slow.at_least


def test_each_level_is_measured_as_by_plateau():
    values = np.exp(-STEPS / 300)
    found = threshold_sensitivity(STEPS, values, [0.5, 0.3], hold=2, smooth=5)
    assert found.plateaus == tuple(plateau(STEPS, values, x, hold=2, smooth=5) for x in (0.5, 0.3))


def test_censored_levels_make_the_spread_a_lower_bound():
    found = threshold_sensitivity([0, 10, 20], [1.0, 0.5, 0.4], [0.75, 0.1])
    assert found.at_least
    assert found.spread == pytest.approx(15 / 12.5)
    assert "at least" in str(found)


def test_levels_crossed_at_once_do_not_differ():
    assert threshold_sensitivity([0, 1], [0.0, 0.0], [0.5, 0.6]).spread == 0


def test_one_level_is_nothing_to_compare():
    with pytest.raises(RequestError, match="at least two"):
        threshold_sensitivity([0, 1], [1.0, 0.0], [0.5])
