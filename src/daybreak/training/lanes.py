"""A cohort in training: its members in lanes.

On an accelerator all members are one lane, side by side under `vmap`. On a CPU every member is a lane, and as many lanes
as there are cores train at once: much of a step keeps one core busy, and another member has a use for the rest. Lanes
are alike, so one compiled program is enough for all.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from daybreak._machine import cores
from daybreak.training.cohort import Learner, WorldAndData, advance, begin, check_alike, stack
from daybreak.training.run import Run

Row = dict[str, NDArray[np.floating] | np.floating]


@final
class Lanes:
    """Where the members of a cohort stand.

    Args:
        runs: of equal shape.
        width: members of a lane; as is best for this machine if not given.
    """

    def __init__(self, runs: Sequence[Run], width: int | None = None):
        check_alike(runs)
        self._width = width or (1 if _on_cpu() else len(runs))
        self._lanes = [slice(i, i + self._width) for i in range(0, len(runs), self._width)]
        self._members = [stack(runs[here]) for here in self._lanes]
        begun = _begun(self._members)
        self._learners, self.worlds_and_data = [x[0] for x in begun], [x[1] for x in begun]

    def learner(self, i: int) -> Learner:
        """Where member `i` stands. Ask before the next steps."""
        return jax.tree.map(lambda x: np.asarray(x[i % self._width]), self._learners[i // self._width])

    def put(self, learners: Sequence[Learner]) -> None:
        """Let every member go on from where `learners` says."""
        self._learners = [jax.tree.map(lambda *x: jnp.asarray(np.stack(x)), *learners[here]) for here in self._lanes]

    def advance(self, until: Sequence[int], active: Sequence[bool], repeats: Sequence[bool]) -> list[Row | None]:
        """Train active members until a step each, and evaluate them there; None for the others."""
        orders = [(until[here], active[here], repeats[here]) for here in self._lanes]
        with ThreadPoolExecutor(len(cores())) as threads:  # interrupted, it waits for those under way
            lanes = threads.map(self._advance, range(len(orders)), orders)
            return [row for lane in lanes for row in lane]

    def _advance(self, lane: int, orders: tuple[Sequence[int], Sequence[bool], Sequence[bool]]) -> list[Row | None]:
        until, active, repeats = orders
        if not any(active):
            return [None] * len(active)
        arrays = (jnp.array(until, jnp.int32), jnp.array(active), jnp.array(repeats))
        self._learners[lane], rows = advance(
            self._members[lane], self._learners[lane], self.worlds_and_data[lane], *arrays
        )
        rows = {name: np.asarray(x) for name, x in rows.items()}
        return [{name: x[i] for name, x in rows.items()} if is_on else None for i, is_on in enumerate(active)]


def _begun(lanes: Sequence[Run]) -> list[tuple[Learner, WorldAndData]]:
    """Begin, while the program that will train is compiled beside it: for that it is called with nobody active."""
    none = jnp.zeros(len(jax.tree.leaves(lanes[0])[0]), bool)
    shapes = jax.eval_shape(begin, lanes[0])
    blank = jax.device_put(jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes))
    with ThreadPoolExecutor(1) as beside:
        compiled = beside.submit(advance, lanes[0], *blank, jnp.zeros(none.shape, jnp.int32), none, none)
        drawn = [begin(members) for members in lanes]
        compiled.result()
    return drawn


def at_once() -> float:
    """Members that train at the same time on this machine: one per core, on an accelerator all."""
    return len(cores()) if _on_cpu() else math.inf


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"
