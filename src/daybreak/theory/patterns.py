"""The regression task of paper B: K patterns of attention, and the plateaus of the loss.

    y = Σ_k m_k V*_k X s*_k + noise,    s*_k uniform on block k,    ⟨V*_k, V*_l⟩ = G_kl

Positions are counted back from the newest. Blocks follow each other, block 1 first; positions after the last block have
no pattern.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import as_number, as_numbers, refuse


@final
@dataclass(frozen=True, eq=False)
class Patterns:
    """Checked patterns, as `patterns` makes them.

    Args:
        strengths: m_k of each pattern.
        blocks: length of each block.
        T: number of positions.
        gram: G_kl = ⟨V*_k, V*_l⟩, with ones on the diagonal.
    """

    strengths: Floats
    blocks: NDArray[np.int64]
    T: int
    gram: Floats

    @property
    def K(self) -> int:
        """Number of patterns."""
        return self.strengths.size

    @property
    def importance(self) -> Floats:
        """m_k²/|block k|: twice what pattern k alone takes off the loss. The largest is learned first."""
        return self.strengths**2 / self.blocks

    @property
    def labels(self) -> NDArray[np.int64]:
        """Pattern of each position, counted from 0; K where there is none."""
        return np.repeat(np.arange(self.K + 1), [*self.blocks, self.T - self.blocks.sum()])

    @property
    def features(self) -> Floats:
        """V*_k in its columns, in an orthonormal basis of their span: the symmetric root of G, the unit if G is."""
        eigenvalues, vectors = np.linalg.eigh(self.gram)
        return vectors * np.sqrt(np.maximum(eigenvalues, 0.0)) @ vectors.T

    @property
    def uncorrelated(self) -> bool:
        """Whether the features are orthogonal, as paper B assumes."""
        return bool(np.all(self.gram == np.eye(self.K)))


def patterns(
    strengths: ArrayLike, blocks: ArrayLike = 1, *, T: int | None = None, gram: ArrayLike | None = None
) -> Patterns:
    """A regression task of paper B (§3.1).

    Args:
        strengths: m_k, above 0, one per pattern.
        blocks: number of positions in each block, or one number for all.
        T: number of positions; by default the blocks fill the sequence.
        gram: inner products G of the features V*_k; by default they are orthogonal. Their length is in the strengths, so
            the diagonal is 1.

    Example:
        >>> task = patterns([4, 2, 1], blocks=2, T=8)
        >>> task.labels.tolist(), task.importance.tolist()
        ([0, 0, 1, 1, 2, 2, 3, 3], [8.0, 2.0, 0.5])
    """
    m = np.atleast_1d(as_numbers("strengths", strengths))
    if m.ndim != 1 or not m.size:
        raise RequestError(f"strengths of shape {m.shape} are not allowed: give one number per pattern, at least one.")
    refuse("strengths", m, m <= 0, "the strength of a pattern must be above 0")
    lengths = as_numbers("blocks", blocks)
    if lengths.shape not in ((), m.shape):
        raise RequestError(
            f"blocks of shape {lengths.shape} are not allowed: give one length, or one for each of the {m.size} patterns."
        )
    refuse(
        "blocks",
        lengths,
        (lengths < 1) | (lengths % 1 != 0),
        "a block must have a whole number of positions, at least 1",
    )
    lengths = np.broadcast_to(lengths, m.shape).astype(np.int64)
    total = int(lengths.sum())
    length = as_number("T", total if T is None else T)
    refuse("T", length, (length < total) | (length % 1 != 0), f"the blocks take {total} positions, so T must be a whole "
           f"number of at least {total}")  # fmt: skip
    return Patterns(m, lengths, int(length), _check_gram(gram, m.size))


def plateau_levels(task: Patterns) -> Floats:
    """Loss L_n with the first n of K patterns learned, n = 0 … K: the plateaus of the staircase.

    For orthogonal features L_n = ½ Σ_{k>n} m_k²/|block k|, patterns in order of importance (paper B). For correlated ones
    heads are rank-one terms with attention that is not negative. If no correlation is negative, the best n of
    them are the first n singular vectors, and L_n is half the sum of the last K − n eigenvalues of G_kl m_k m_l / √(|block
    k| |block l|). If none is positive, mixing blocks does not lower the loss, and the formula for orthogonal features holds.

    Example:
        >>> plateau_levels(patterns([4, 2, 1])).tolist()
        [10.5, 2.5, 0.5, 0.0]
        >>> plateau_levels(patterns([2, 1], gram=[[1, 0.6], [0.6, 1]])).round(2).tolist()
        [2.5, 0.29, 0.0]
    """
    off = task.gram[~np.eye(task.K, dtype=bool)]
    if np.any(off < 0) and np.any(off > 0):
        raise RequestError(
            f"gram with correlations from {off.min():g} to {off.max():g} is not allowed: the levels are known when none "
            "is negative, or none positive."
        )
    roots = np.sqrt(task.importance)
    drops = task.importance if np.all(off <= 0) else np.linalg.eigvalsh(np.outer(roots, roots) * task.gram)
    return np.append(np.cumsum(np.sort(np.maximum(drops, 0.0)))[::-1], 0.0) / 2


def _check_gram(gram: ArrayLike | None, K: int) -> Floats:
    if gram is None:
        return np.eye(K)
    G = as_numbers("gram", gram)
    if G.shape != (K, K):
        raise RequestError(f"gram of shape {G.shape} is not allowed: {K} patterns need {K} × {K} inner products.")
    if not np.allclose(G, G.T, rtol=0, atol=1e-12) or not np.allclose(np.diag(G), 1, rtol=0, atol=1e-12):
        raise RequestError("gram is not allowed: it must be symmetric with ones on its diagonal.")
    smallest = np.linalg.eigvalsh(G)[0]
    if smallest < -1e-9:
        raise RequestError(
            f"gram with an eigenvalue of {smallest:g} is not allowed: no features have these inner products."
        )
    return G
