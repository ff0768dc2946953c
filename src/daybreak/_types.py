"""The words for what crosses the border between JAX and the rest: what comes out of daybreak is NumPy."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Floats = NDArray[np.floating[Any]]
    Bools = NDArray[np.bool_]
else:  # NumPy turns arrays without axes into scalars when it computes with them, so both are meant
    Floats = NDArray[np.floating] | np.floating
    Bools = NDArray[np.bool_] | np.bool_
