"""The censored likelihood against a direct maximisation, and Newton's method on hostile tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from daybreak.measure import _tobit


def problem(seed: int, share: float, noise: float):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(40), rng.uniform(2, 6, 40), rng.uniform(3, 9, 40)])
    target = design @ [0.3, 1.2, 0.8] + noise * rng.standard_normal(40)
    budget = np.quantile(target, 1 - share)
    return design, np.minimum(target, budget), target > budget


def negative(unknowns, design, target, censored, weights):
    sigma = np.exp(unknowns[-1])
    v = (design @ unknowns[:-1] - target) / sigma
    return -weights @ np.where(censored, stats.norm.logcdf(v), stats.norm.logpdf(v) - np.log(sigma))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_newton_finds_the_maximum_that_a_direct_search_finds(share):
    design, target, censored = problem(0, share, 0.3)
    weights = np.random.default_rng(1).exponential(size=(3, 40))
    estimate = _tobit.fit(design, target, censored)
    found = _tobit.refit(design, target, censored, weights, estimate)
    for w, parameters in zip([np.ones(40), *weights], [estimate.parameters, *found], strict=True):
        start = np.append(parameters + 0.05, np.log(0.3))
        direct = optimize.minimize(
            negative,
            start,
            (design, target, censored, w),
            method="Nelder-Mead",
            tol=1e-12,
            options={"maxiter": 20000, "maxfev": 20000},
        )
        np.testing.assert_allclose(parameters, direct.x[:-1], atol=2e-5)


def test_covariance_is_the_inverse_information():
    design, target, censored = problem(2, 0.3, 0.3)
    estimate = _tobit.fit(design, target, censored)
    shrunk = (~censored).sum() / estimate.freedom
    point = np.append(estimate.parameters, np.log(estimate.scatter / np.sqrt(shrunk)))

    def f(x):
        return negative(x, design, target, censored, np.ones(40))

    step = 1e-4
    eye = step * np.eye(4)
    hessian = [
        [(f(point + a + b) - f(point + a - b) - f(point - a + b) + f(point - a - b)) / (4 * step**2) for b in eye]
        for a in eye
    ]
    np.testing.assert_allclose(estimate.covariance, shrunk * np.linalg.inv(hessian)[:3, :3], rtol=1e-3)


@given(seed=st.integers(0, 10**6), share=st.floats(0.02, 0.8), noise=st.floats(-7, 1).map(lambda e: 10**e))
@settings(deadline=None, max_examples=100)
def test_newton_always_arrives(seed, share, noise):
    design, target, censored = problem(seed, share, noise)
    estimate = _tobit.fit(design, target, censored)
    assert np.all(np.isfinite(estimate.covariance))
    v = (design @ estimate.parameters - target)[censored] / estimate.scatter
    assert np.all(v > -8), "a censored row may not lie far above the law"
