"""Covariance of a law's parameters by a cluster bootstrap over configurations.

Configurations are drawn with replacement, each with all its rows. Seeds of one configuration share the error of the law
there, so rows are not independent and Student's t on rows is too narrow (paper A repeats each setting 3 to 5 times). Draws
are weights on rows, fitted as batches of small systems.
"""

from collections.abc import Callable

import numpy as np

from daybreak._types import Floats
from daybreak.measure._estimate import Estimate
from daybreak.measure._table import Integers

_BATCH = 1_000_000  # weights held at once, so that memory does not grow with rows × draws
_SMALLEST_WEIGHT = 0.01  # of a configuration that was not drawn: keeps every draw solvable
_FARTHEST = 5.0  # robust standard deviations at which a draw is clipped


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
        weights = _SMALLEST_WEIGHT + (1 - _SMALLEST_WEIGHT) * counts
        fitted.append(refit(weights[:, configuration]))
    covariance = _covariance(np.concatenate(fitted) - estimate.parameters)
    # Draws scatter as residuals do, and residuals are smaller than the noise: the unknowns have fitted a part of it.
    covariance = covariance * measured / (measured - estimate.parameters.size)
    return estimate._replace(covariance=covariance, freedom=measured - 1)


def _covariance(differences: Floats) -> Floats:
    # With few configurations, a rare draw can hardly separate two exponents: clip its values.
    largest = _FARTHEST * np.quantile(np.abs(differences), 0.6827, axis=0)
    return np.atleast_2d(np.cov(np.clip(differences, -largest, largest), rowvar=False))
