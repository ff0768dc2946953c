"""Settings and states of the toy problem, and patterns of paper B, as Hypothesis draws them."""

import numpy as np
from hypothesis import strategies as st

from daybreak.theory._setting import ToySetting, check_setting
from daybreak.theory.patterns import Patterns, patterns


@st.composite
def settings(draw, *, longest: int = 4096, widest: int = 512, most: int = 64, repetition: float = 0.95) -> ToySetting:
    T = draw(st.integers(2, longest))
    d = draw(st.integers(1, widest))
    B = draw(st.integers(1, min(most, T - 1)))
    p = draw(st.one_of(st.just(0.0), st.floats(1e-6, repetition)))
    return check_setting(T, d, B, p, draw(st.sampled_from(["tied", "free"])))


def states(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.floats(-3, 10), min_size=size, max_size=size).map(np.array)


@st.composite
def tasks(draw, *, most: int = 3, longest: int = 3, correlated: bool = False) -> Patterns:
    """Patterns of falling strength, in blocks that may leave positions over."""
    K = draw(st.integers(1, most))
    steps = draw(st.lists(st.floats(1.3, 2.5), min_size=K, max_size=K))
    blocks = draw(st.lists(st.integers(1, longest), min_size=K, max_size=K))
    gram = None
    if correlated:
        g = draw(st.floats(-0.9 / max(K - 1, 1), 0.9))
        gram = np.where(np.eye(K, dtype=bool), 1.0, g)
    return patterns(np.cumprod(steps)[::-1], blocks, T=sum(blocks) + draw(st.integers(0, 3)), gram=gram)
