"""The probe batch: random tokens, repeated. The same inputs at every probe, so that only the model changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from daybreak.errors import RequestError

_FEWEST = 4  # least number of tokens in a copy: with fewer, one position back and one copy back are nearly the same


@final
@dataclass(frozen=True)
class ProbeBatch:
    """L random tokens and the same again, in each sequence.

    Args:
        tokens: ids, (batch, 2 L).
        L: tokens in one copy.
    """

    tokens: np.ndarray
    L: int

    @cached_property
    def second(self) -> np.ndarray:
        """Positions of the second copy."""
        return np.arange(self.L, 2 * self.L)


def repeated_tokens(ids: Iterable[int], *, L: int = 50, context: int | None = None, sequences: int = 4) -> ProbeBatch:
    """A probe batch by a generator of its own: ids of one copy are drawn without replacement, the same at every call.

    Args:
        ids: to draw from; special tokens should not be among them.
        L: tokens in one copy; fewer if there are fewer ids or two copies do not fit into the context.
        context: longest sequence that the model takes, if known.
        sequences: in the batch.

    Example:
        >>> batch = repeated_tokens(range(10), L=5, sequences=2)
        >>> batch.tokens.shape, bool((batch.tokens[:, :5] == batch.tokens[:, 5:]).all())
        ((2, 10), True)
    """
    pool = np.unique(np.fromiter(ids, np.int64))
    L = min(L, pool.size, L if context is None else context // 2)
    if L < _FEWEST:
        limit = f"{pool.size} token ids" if pool.size < _FEWEST else f"a context of {context}"
        raise RequestError(f"there is no probe batch for {limit}: a copy needs at least {_FEWEST} different tokens.")
    draw = np.random.default_rng(20220924)  # any fixed number does
    once = np.stack([draw.permutation(pool)[:L] for _ in range(sequences)])
    return ProbeBatch(np.concatenate([once, once], axis=1), L)
