"""Huber's robust regression on logs: a few outliers do not move the law.

Residuals beyond 1.345 standard deviations count linearly instead of squared (Huber 1964), which costs 5 % of the
precision if there are no outliers. The scale is the median absolute residual; the covariance is that of Huber (1981, §7.6).
"""

import numpy as np

from daybreak._types import Floats
from daybreak.measure import _least_squares
from daybreak.measure._estimate import Estimate

_CORNER = 1.345
_STEPS = 200
_DONE = 1e-8  # change of a prediction, in units of the scale
_NORMAL = 0.6745  # median of |z| for a standard normal z
_SMALLEST = 1e-12  # scale of rows that lie on the law


def fit(design: Floats, target: Floats) -> Estimate:
    """The robust line."""
    rows, unknowns = design.shape
    parameters = _least_squares.fit(design, target).parameters
    scale = _scale(target - design @ parameters, unknowns)
    for _ in range(_STEPS):
        before = parameters
        parameters = _step(design, target, np.ones((1, rows)), parameters[None, :], scale)[0]
        if np.abs(design @ (parameters - before)).max() <= _DONE * scale:
            break
        scale = _scale(target - design @ parameters, unknowns)
    z = (target - design @ parameters) / scale
    inside = np.mean(np.abs(z) < _CORNER)
    squared = np.sum(np.clip(z, -_CORNER, _CORNER) ** 2) / (rows - unknowns)
    correction = 1 + unknowns / rows * (1 - inside) / inside
    inverse = np.linalg.inv(design.T @ design)
    covariance = (correction * scale / inside) ** 2 * squared * inverse
    return Estimate(parameters, covariance, float(scale), rows - unknowns)


def refit(design: Floats, target: Floats, weights: Floats, near: Estimate) -> Floats:
    """The robust line under each row of `weights` (draws × rows), at the scale of an estimate that is near."""
    parameters = np.repeat(near.parameters[None, :], len(weights), axis=0)
    enough = 1e-3 * np.sqrt(np.diag(near.covariance)) + _SMALLEST
    for _ in range(_STEPS):
        before = parameters
        parameters = _step(design, target, weights, parameters, near.scatter)
        if np.all(np.abs(parameters - before) <= enough):
            break
    return parameters


def _scale(residuals: Floats, unknowns: int) -> float:
    # The smallest residuals, one per unknown, are small because the line was drawn through them: leave them out.
    ordered = np.sort(np.abs(residuals))[unknowns - 1 :]
    return max(float(np.median(ordered)) / _NORMAL, _SMALLEST)


def _step(design: Floats, target: Floats, weights: Floats, parameters: Floats, scale: float) -> Floats:
    """One step of iteratively reweighted least squares, which never overshoots."""
    size = np.abs(target - parameters @ design.T) / scale
    return _least_squares.refit(design, target, weights * (_CORNER / np.maximum(size, _CORNER)))
