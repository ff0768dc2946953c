"""A cohort in training: its members in lanes.

On an accelerator all members form one lane, under `vmap`. On a CPU every member is a lane, and one lane per core trains at
the same time: much of a step uses one core only, so another member can use the others. Lanes have equal shapes, so one
compiled program serves all.
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
from daybreak.training.hardware import check_hardware
from daybreak.training.maps import ProbeMaps, probe_maps
from daybreak.training.run import Run

Row = dict[str, NDArray[np.floating] | np.floating]


@final
class Lanes:
    """The states of the members of a cohort.

    Args:
        runs: of equal shape.
        width: members of a lane; by default 1 on a CPU, otherwise all.
    """

    def __init__(self, runs: Sequence[Run], width: int | None = None):
        check_alike(runs)
        check_hardware(runs)
        self._width = width or (1 if _on_cpu() else len(runs))
        self._lanes = [slice(i, i + self._width) for i in range(0, len(runs), self._width)]
        self._members = [stack(runs[lane]) for lane in self._lanes]
        started = _start(self._members)
        self._learners, self.worlds_and_data = [x[0] for x in started], [x[1] for x in started]

    def learner(self, i: int) -> Learner:
        """The state of member `i`, until `advance` is called again."""
        return jax.tree.map(lambda x: np.asarray(x[i % self._width]), self._learners[i // self._width])

    def maps(self, i: int) -> ProbeMaps:
        """The attention maps of member `i` for its probe batch."""
        lane, member = divmod(i, self._width)
        sets = self.worlds_and_data[lane].evaluation
        return probe_maps(self._members[lane], self._learners[lane].parameters, sets, jnp.array(member))

    def put(self, learners: Sequence[Learner]) -> None:
        """Replace the states of all members."""
        self._learners = [jax.tree.map(lambda *x: jnp.asarray(np.stack(x)), *learners[lane]) for lane in self._lanes]

    def advance(self, until: Sequence[int], active: Sequence[bool], repeats: Sequence[bool]) -> list[Row | None]:
        """Train each active member until its step, and evaluate it there; None for the others."""
        orders = [(until[lane], active[lane], repeats[lane]) for lane in self._lanes]
        with ThreadPoolExecutor(len(cores())) as threads:  # if interrupted, it waits for the running lanes
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


def _start(lanes: Sequence[Run]) -> list[tuple[Learner, WorldAndData]]:
    """Begin all lanes; in parallel, compile the program that trains, by a call with no active member."""
    none = jnp.zeros(len(jax.tree.leaves(lanes[0])[0]), bool)
    shapes = jax.eval_shape(begin, lanes[0])
    blank = jax.device_put(jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes))
    with ThreadPoolExecutor(1) as thread:
        compiled = thread.submit(advance, lanes[0], *blank, jnp.zeros(none.shape, jnp.int32), none, none)
        started = [begin(members) for members in lanes]
        compiled.result()
    return started


def at_once() -> float:
    """Members that train at the same time on this machine: one per core, on an accelerator all."""
    return len(cores()) if _on_cpu() else math.inf


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"
