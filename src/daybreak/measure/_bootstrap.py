"""Covariance of a law's parameters by drawing its configurations again, with replacement, all rows of one together.

Seeds of one configuration share what the law misses there, so rows are not independent and Student's t on rows is too
narrow (paper A repeats each setting 3 to 5 times). Draws are weights on rows, fitted as batches of small systems.
"""

from collections.abc import Callable

import numpy as np

from daybreak._types import Floats
from daybreak.measure._estimate import Estimate
from daybreak.measure._table import Integers

_BATCH = 1_000_000  # weights held at once, so that memory does not grow with rows × draws
_FLOOR = 0.01  # what a configuration that was not drawn still weighs: keeps every draw solvable
_FARTHEST = 5.0  # robust standard deviations at which a draw is cut


def resample(
    estimate: Estimate, refit: Callable[[Floats], Floats], configuration: Integers, draws: int, seed: int, measured: int
) -> Estimate:
    """The estimate with its covariance from the bootstrap, and one degree of freedom fewer than measured configurations."""
    groups = int(configuration.max()) + 1
    rng = np.random.default_rng(seed)
    fitted = []
    batch = max(1, _BATCH // configuration.size)
    for start in range(0, draws, batch):
        counts = rng.multinomial(groups, np.full(groups, 1 / groups), size=min(batch, draws - start))
        weights = _FLOOR + (1 - _FLOOR) * counts
        fitted.append(refit(weights[:, configuration]))
    covariance = _covariance(np.concatenate(fitted) - estimate.parameters)
    # Draws scatter as residuals do, which are smaller than the noise by what the unknowns have taken up.
    covariance = covariance * measured / (measured - estimate.parameters.size)
    return estimate._replace(covariance=covariance, freedom=measured - 1)


def _covariance(differences: Floats) -> Floats:
    # With few configurations a rare draw leaves almost none to tell two exponents apart: cut what it says.
    reach = _FARTHEST * np.quantile(np.abs(differences), 0.6827, axis=0)
    return np.atleast_2d(np.cov(np.clip(differences, -reach, reach), rowvar=False))
