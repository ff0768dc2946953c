"""Planted truth: tables of plateau lengths that follow a known law, with known noise, censored on purpose."""

from collections.abc import Callable

import numpy as np
import pytest

Table = dict[str, np.ndarray]
TRUTH = {"C": 0.76, "a": 1.29, "b": 0.8}


@pytest.fixture(scope="session")
def truth() -> dict[str, float]:
    """Paper A, figure 3: 0.76 d^1.29 (T/B)^0.80."""
    return TRUTH


@pytest.fixture(scope="session")
def planted() -> Callable[..., Table]:
    """A maker of tables: a grid of d and T, several seeds each; runs beyond the budget are censored there."""

    def make(
        rng: np.random.Generator,
        *,
        noise: float = 0.1,
        censored: float = 0.0,
        shared: float = 0.0,
        wild: float = 0.0,
        side: int = 4,
        seeds: int = 3,
    ) -> Table:
        grid = np.meshgrid(2.0 ** np.arange(4, 4 + side), 2.0 ** np.arange(5, 5 + side))
        d, T = (np.repeat(x.ravel(), seeds) for x in grid)
        configuration = np.repeat(np.arange(side**2), seeds)
        logs = np.log(TRUTH["C"]) + TRUTH["a"] * np.log(d) + TRUTH["b"] * np.log(T)
        budget = np.quantile(logs, 1 - censored) if censored else np.inf
        logs = logs + noise * rng.standard_normal(d.size) + shared * rng.standard_normal(side**2)[configuration]
        logs = np.where(rng.random(d.size) < wild, logs + rng.exponential(1.0, d.size), logs)
        return {
            "d": d,
            "T": T,
            "configuration": configuration,
            "plateau": np.exp(np.minimum(logs, budget)),
            "censored": logs > budget,
        }

    return make
