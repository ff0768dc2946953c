"""Requests that the mathematics does not cover are refused with a sentence that names field, value and what is allowed."""

import numpy as np
import pytest

from daybreak import theory
from daybreak.errors import RequestError


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"T": 1, "d": 4}, "T = 1 is not allowed: the sequence length must be at least 2"),
        ({"T": [8, 1.5], "d": 4}, "T = 1.5 is not allowed"),
        ({"T": 8, "d": 0}, "d = 0 is not allowed"),
        ({"T": 8, "d": 4, "B": 8}, "B = 8 is not allowed"),
        ({"T": 8, "d": 4, "B": 0}, "B = 0 is not allowed"),
        ({"T": 8, "d": 4, "p": 1}, "p = 1 is not allowed"),
        ({"T": 8, "d": 4, "p": -0.1}, "p = -0.1 is not allowed"),
        ({"T": np.nan, "d": 4}, "T = nan is not allowed: it must be finite"),
        ({"T": np.inf, "d": 4}, "T = inf is not allowed: it must be finite"),
        ({"T": "eight", "d": 4}, "T = 'eight' is not allowed: it must be a number"),
        ({"T": True, "d": 4}, "T = True is not allowed: it must be a number"),
        ({"T": [[8, 9], [8]], "d": 4}, "T = .* is not allowed: it must be a number"),
        ({"T": [8, 9], "d": [4, 4, 4]}, r"T \(2,\), d \(3,\)"),
    ],
)
def test_bad_settings(arguments: dict, sentence: str) -> None:
    for function in (theory.plateau, theory.escape_time, theory.takeoff_time, theory.growth_rate):
        with pytest.raises(RequestError, match=sentence):
            function(**arguments)


@pytest.mark.parametrize("level", [0, 1, -0.2, 1.5, np.nan])
def test_bad_levels(level: float) -> None:
    with pytest.raises(RequestError, match=r"level = .* is not allowed"):
        theory.plateau(8, 4, level=level)
    with pytest.raises(RequestError, match=r"eps = .* is not allowed"):
        theory.escape_time(8, 4, eps=level)


def test_bad_times() -> None:
    for times in ([0.0], [0.0, 0.0], [1.0, 0.5], [-1.0, 1.0], [0.0, np.inf], [[0.0, 1.0]]):
        with pytest.raises(RequestError, match="times are not allowed"):
            theory.flow(8, 4, times=times)


def test_full_model_needs_whole_numbers() -> None:
    with pytest.raises(RequestError, match="needs whole numbers"):
        theory.full_plateau(8.5, 4)
    with pytest.raises(RequestError, match="4 × 4 matrix"):
        theory.full_plateau(8, 4, target=np.eye(3))
