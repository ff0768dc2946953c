"""What every method of fitting a law returns, on the scale of logs."""

from typing import NamedTuple

from daybreak._types import Floats


class Estimate(NamedTuple):
    """Fitted parameters of log y = design @ parameters + noise.

    Args:
        parameters: log C and the exponents, in the order of the design's columns.
        covariance: of the parameters.
        scatter: standard deviation of the noise of log y.
        freedom: degrees of freedom of Student's t for intervals.
    """

    parameters: Floats
    covariance: Floats
    scatter: float
    freedom: float
