"""Settings and states of the toy problem as Hypothesis draws them."""

import numpy as np
from hypothesis import strategies as st

from daybreak.theory._setting import Setting, check_setting


@st.composite
def settings(draw, *, longest: int = 4096, widest: int = 512, most: int = 64, repetition: float = 0.95) -> Setting:
    T = draw(st.integers(2, longest))
    d = draw(st.integers(1, widest))
    B = draw(st.integers(1, min(most, T - 1)))
    p = draw(st.one_of(st.just(0.0), st.floats(1e-6, repetition)))
    return check_setting(T, d, B, p, draw(st.sampled_from(["tied", "free"])))


def states(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.floats(-3, 10), min_size=size, max_size=size).map(np.array)
