"""Types of what enters and leaves daybreak: NumPy arrays, not JAX arrays. `help()` prints each by its short name."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

ArrayLike = TypeAliasType("ArrayLike", numpy.typing.ArrayLike)

if TYPE_CHECKING:
    Floats = NDArray[np.floating[Any]]
    Bools = NDArray[np.bool_]
else:  # NumPy turns arrays without axes into scalars when it computes with them, so both are meant
    Floats = TypeAliasType("Floats", NDArray[np.floating] | np.floating)
    Bools = TypeAliasType("Bools", NDArray[np.bool_] | np.bool_)
