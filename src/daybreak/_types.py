"""The words for arrays that cross the border between JAX and the rest: what comes out of daybreak is NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
