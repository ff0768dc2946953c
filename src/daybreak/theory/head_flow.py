"""Heads that compete for patterns and then divide them: flow lines of paper B's regression variant (§3).

Two symmetries make the flow of H heads on T positions small. R·s_h lies in the span of the V*_k, so V_h never leaves it: K
numbers instead of d². Heads that start equal stay equal, as do positions of one block that start equal: each such group is
integrated once. From a start without noise all heads are one group, the coupled dynamics of §3.2, and rounding cannot
separate them.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from daybreak._types import ArrayLike, Floats
from daybreak.errors import RequestError
from daybreak.theory._setting import as_number, as_numbers, check_times, refuse
from daybreak.theory.heads import HeadFlow, States, System, attention, check_flow, check_heads, integrate, loss
from daybreak.theory.patterns import Patterns, plateau_levels


@final
@dataclass(frozen=True, eq=False)
class HeadTrajectory:
    """A flow line of H heads over times `t`.

    Args:
        task: the patterns learned.
        t: flow time.
        system: the task by groups of heads and positions.
        states: values in the orthonormal basis, and logits, of each group; times on the first axis.
        heads: group of each head.
        places: group of each position.
    """

    task: Patterns
    t: Floats
    system: System
    states: States
    heads: NDArray[np.int64]
    places: NDArray[np.int64]

    @property
    def loss(self) -> Floats:
        """Expected loss, without that of the noise."""
        return loss(self.states[0], self._attention, self.system, np)

    @property
    def values(self) -> Floats:
        """⟨V_h, V*_k⟩, of shape (times, H, K)."""
        return (self.states[0] @ self.task.features)[:, self.heads]

    @property
    def attention(self) -> Floats:
        """Attention s_h on each position, of shape (times, H, T)."""
        return self._attention[:, self.heads][:, :, self.places]

    @property
    def mass(self) -> Floats:
        """Attention of each head on each block, of shape (times, H, K)."""
        labels = np.empty(self.system.sizes.size, dtype=np.int64)
        labels[self.places] = self.task.labels
        inside = labels[:, None] == np.arange(self.task.K)
        return ((self._attention * self.system.sizes) @ inside)[:, self.heads]

    @property
    def transitions(self) -> Floats:
        """When the loss falls past the middle of plateaus n − 1 and n, n = 1 … K; infinite if not by the last time.

        Interpolated linearly between the times.
        """
        levels = plateau_levels(self.task)
        return np.array([_crossing(self.t, self.loss, x) for x in (levels[1:] + levels[:-1]) / 2])

    @property
    def _attention(self) -> Floats:
        return attention(self.states[1], self.system.sizes, np)


def head_flow(
    task: Patterns,
    heads: int,
    *,
    eps: float = 1e-6,
    seed: int = 0,
    start: ArrayLike | None = None,
    flow: HeadFlow = "logits",
    times: ArrayLike | None = None,
) -> HeadTrajectory:
    """Integrate H heads from V = 0 and nearly uniform attention.

    Args:
        task: what `patterns` gives.
        heads: number of heads H.
        eps: logits start uniform in ±eps; at 0 the heads stay equal.
        seed: of that noise.
        start: logits to start from instead, H × T.
        flow: `logits`, the gradient flow of the model, or `published`, what paper B simulates.
        times: increasing flow times to report; by default 4 001, denser at the start, until well after the weakest
            pattern should be learned.

    Example:
        >>> from daybreak import theory
        >>> line = theory.head_flow(theory.patterns([4, 2, 1]), heads=3, eps=1e-6)
        >>> line.transitions.round().tolist()  # the first pattern at once, the others after a long competition
        [1.0, 148.0, 376.0]
        >>> bool(line.loss[-1] < 1e-6)
        True
        >>> theory.head_flow(theory.patterns([4, 2, 1]), heads=3, eps=0).transitions.round().tolist()
        [1.0, inf, inf]
    """
    check_flow(flow)
    H = int(check_heads(heads))
    logits = _noise(task, H, eps, seed) if start is None else _given(task, H, start)
    t = _until(task, H, float(np.ptp(logits))) if times is None else check_times(times)
    system, first, of_head, of_place = _group(task, logits)
    return HeadTrajectory(task, t, system, integrate(system, first, t, flow), of_head, of_place)


def _noise(task: Patterns, heads: int, eps: float, seed: int) -> Floats:
    noise, source = as_number("eps", eps), as_number("seed", seed)
    refuse("eps", noise, noise < 0, "the noise of the first logits must be at least 0")
    refuse("seed", source, (source < 0) | (source % 1 != 0), "a seed must be a whole number, at least 0")
    return noise * np.random.default_rng(int(source)).uniform(-1, 1, (heads, task.T))


def _given(task: Patterns, heads: int, start: ArrayLike) -> Floats:
    logits = as_numbers("start", start)
    if logits.shape != (heads, task.T):
        raise RequestError(
            f"start of shape {logits.shape} is not allowed: {heads} heads on {task.T} positions need {heads} × {task.T} logits."
        )
    return logits


def _group(task: Patterns, logits: Floats) -> tuple[System, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Heads that start equal as one group, and positions of a block that start equal as one group."""
    rows, heads, copies = np.unique(logits + 0.0, axis=0, return_inverse=True, return_counts=True)
    columns = np.column_stack([task.labels, rows.T])
    kinds, places, sizes = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
    labels = kinds[:, 0].astype(np.int64)
    uniform = (labels == np.arange(task.K)[:, None]) / task.blocks[:, None]
    target = task.features @ (task.strengths[:, None] * uniform)
    system = System(target, sizes.astype(np.float64), copies.astype(np.float64))
    return system, kinds[:, 1:].T.astype(np.float64), heads.reshape(-1), places.reshape(-1)


def _until(task: Patterns, heads: int, eps: float) -> Floats:
    """Times from the first moves to well after noise should have broken the symmetry for the weakest pattern."""
    m, b = task.strengths, task.blocks.max()
    first = task.T * np.sqrt(b) / m.max() * (1 + heads * np.sqrt(b) / m.max())
    rounds = np.log(1 / np.clip(eps, 1e-16, 1)) + 4
    last = 4 * first + task.T * (m.max() / m.min()) ** 2 * rounds**2 / (2 * heads)
    return np.append(0.0, np.geomspace(1e-3 * first, last, 4000))


def _crossing(t: Floats, values: Floats, level: float) -> float:
    """First time at which a falling curve is at or below a level, interpolated linearly; infinite if there is none."""
    below = np.flatnonzero(values <= level)
    if not below.size:
        return np.inf
    i = max(int(below[0]), 1)
    fraction = (values[i - 1] - level) / (values[i - 1] - values[i])
    return float(t[i - 1] + min(max(fraction, 0.0), 1.0) * (t[i] - t[i - 1]))
