"""Ordinary least squares on logs (paper A, D.2): one fit, or a batch of weighted ones."""

import numpy as np

from daybreak._types import Floats
from daybreak.measure._estimate import Estimate


def fit(design: Floats, target: Floats) -> Estimate:
    """The least-squares line; exact intervals follow from Student's t if the noise of log y is normal."""
    rows, unknowns = design.shape
    orthogonal, triangle = np.linalg.qr(design)
    parameters = np.linalg.solve(triangle, orthogonal.T @ target)
    residuals = target - design @ parameters
    variance = residuals @ residuals / (rows - unknowns)
    inverse = np.linalg.inv(triangle)
    return Estimate(parameters, variance * inverse @ inverse.T, float(np.sqrt(variance)), rows - unknowns)


def refit(design: Floats, target: Floats, weights: Floats) -> Floats:
    """Weighted least squares, once for each row of `weights` (draws × rows), as one batch of small systems."""
    unknowns = design.shape[1]
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    moments = (weights @ squares).reshape(-1, unknowns, unknowns)
    return np.linalg.solve(moments, (weights @ (design * target[:, None]))[..., None])[..., 0]
