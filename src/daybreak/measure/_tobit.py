"""Censored maximum likelihood on logs: a run that did not emerge counts as "longer than this".

With v = (xᵀβ − log y)/σ, a measured row has likelihood φ(v)/σ and a right-censored one Φ(v) (Tobin 1958). In Olsen's
coordinates δ = β/σ, θ = 1/σ (Econometrica 1978) v is linear in the unknowns and the log-likelihood concave, so that
Newton's method finds the one maximum.
"""

import numpy as np
from scipy import special

from daybreak._types import Bools, Floats
from daybreak.measure import _least_squares
from daybreak.measure._estimate import Estimate

_STEPS = 200
_DONE = 1e-8  # twice the log-likelihood still to be gained
_EXACT = 1e-9  # scatter of log y below which measured rows lie on the law, and its likelihood has no maximum


def fit(design: Floats, target: Floats, censored: Bools) -> Estimate:
    """The most likely law; its covariance from the observed information, widened as for least squares."""
    line = _least_squares.fit(design[~censored], target[~censored])
    if not censored.any():
        return line
    gap = target - design @ line.parameters
    scale = float(np.sqrt(np.mean(np.where(censored, np.maximum(gap, 0.0), gap) ** 2)))
    if scale <= _EXACT:
        return line
    orthogonal, triangle = np.linalg.qr(design)
    solution, information = _newton(orthogonal, gap / scale, censored, np.ones((1, len(target))))
    delta, theta = solution[0, :-1], solution[0, -1]
    back = scale * np.linalg.inv(triangle)
    jacobian = np.column_stack([np.eye(delta.size) / theta, -delta / theta**2])
    # Maximum likelihood divides squares by the rows, not by what the unknowns leave free.
    shrunk = (~censored).sum() / line.freedom
    covariance = shrunk * back @ jacobian @ np.linalg.inv(information[0]) @ jacobian.T @ back.T
    parameters = line.parameters + back @ delta / theta
    return Estimate(parameters, covariance, float(np.sqrt(shrunk) * scale / theta), line.freedom)


def refit(design: Floats, target: Floats, censored: Bools, weights: Floats, near: Estimate) -> Floats:
    """The most likely law under each row of `weights` (draws × rows), as one batch that starts near an estimate."""
    if near.scatter <= _EXACT:
        return np.repeat(near.parameters[None, :], len(weights), axis=0)
    gap = (target - design @ near.parameters) / near.scatter
    orthogonal, triangle = np.linalg.qr(design)
    solution, _ = _newton(orthogonal, gap, censored, weights)
    delta = solution[:, :-1] / solution[:, -1:]
    return near.parameters + near.scatter * delta @ np.linalg.inv(triangle).T


def _newton(design: Floats, target: Floats, censored: Bools, weights: Floats) -> tuple[Floats, Floats]:
    """Maxima and observed information in (δ, θ), one for each row of `weights`.

    Columns of the design are orthogonal and the target is the residual of a first line, in units of its scatter: well
    conditioned at any noise, and (0, 1) is near the maximum.
    """
    unknowns = design.shape[1] + 1
    linear = np.column_stack([design, -target])  # v = linear @ (δ, θ)
    squares = (linear[:, :, None] * linear[:, None, :]).reshape(len(linear), -1)
    # Measured rows are quadratic in the unknowns but for log θ: they enter by their moments only.
    moments = (weights[:, ~censored] @ squares[~censored]).reshape(-1, unknowns, unknowns)
    count = weights[:, ~censored].sum(axis=1)
    linear, squares, weights = linear[censored], squares[censored], weights[:, censored]
    point = np.tile(np.eye(1, unknowns, unknowns - 1), (len(weights), 1))
    for _ in range(_STEPS):
        theta = point[:, -1]
        v = point @ linear.T
        hazard = np.exp(-0.5 * v**2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(v))
        gradient = (weights * hazard) @ linear - np.einsum("bij,bj->bi", moments, point)
        gradient[:, -1] += count / theta
        information = moments + ((weights * hazard * (hazard + v)) @ squares).reshape(moments.shape)
        information[:, -1, -1] += count / theta**2
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        left = np.einsum("bi,bi->b", step, gradient)
        if np.all(left < _DONE):
            return point + step, information
        # Damped while far away, as for any self-concordant function; this also keeps θ positive.
        far = np.sqrt(np.maximum(left, 0) / count)
        point = point + step * np.where(far > 0.25, 1 / (1 + far), 1.0)[:, None]
    raise AssertionError("Newton's method did not converge on a concave likelihood")
