"""What studies of trained networks share: exponents between neighbouring sizes."""

import numpy as np

from daybreak.studies.emergence import _trained


def test_exponents_between_neighbouring_sizes_are_at_equal_values_of_the_other_setting() -> None:
    """Planted: N² below 12 and N³ above, V¹; the corner of the grid that was not trained changes nothing."""
    rows = [(N, V) for N in (8, 12, 16) for V in (32, 64) if (N, V) != (16, 64)]
    N, V = (np.array(x, np.float64) for x in zip(*rows, strict=True))
    runs = {"N": N, "V": V, "plateau": V * np.where(N <= 12, N**2, 12**2 * (N / 12) ** 3)}
    assert _trained.local_exponents(runs, "N", "V") == (
        "exponents of N at V = 32 from 8 to 12: 2.00, 12 to 16: 3.00; exponents of N at V = 64 from 8 to 12: 2.00; "
        "exponents of V at N = 8 from 32 to 64: 1.00; exponents of V at N = 12 from 32 to 64: 1.00"
    )
