"""A cohort in training: its members in lanes.

On an accelerator all members form one lane, under `vmap`. On a CPU every member is a lane, and one lane per core trains at
the same time: much of a step uses one core only, so another member can use the others. Lanes have equal shapes, so one
compiled program serves all.

With several devices, a lane has as many members on each device as it would have on one. Lanes then train one after the
other, each on all devices. Copies of the last member that never train fill the last lane.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from numpy.typing import NDArray

from daybreak._machine import cores
from daybreak.training.cohort import Learner, WorldAndData, advance, begin, check_alike, stack
from daybreak.training.devices import lay_out, local_mesh, take
from daybreak.training.hardware import check_hardware
from daybreak.training.maps import ProbeMaps, probe_maps
from daybreak.training.run import Run

Row = dict[str, NDArray[np.floating] | np.floating]
_Of = TypeVar("_Of")  # each member


@final
class Lanes:
    """The states of the members of a cohort.

    Args:
        runs: of equal shape.
        width: members of a lane on each device; by default 1 on a CPU, otherwise all, in equal parts.
    """

    def __init__(self, runs: Sequence[Run], width: int | None = None):
        check_alike(runs)
        check_hardware(runs)
        self._mesh = local_mesh()
        devices = 1 if self._mesh is None else self._mesh.size
        self._size = devices * (width or (1 if _on_cpu() else math.ceil(len(runs) / devices)))
        self._lanes = [slice(i, i + self._size) for i in range(0, len(runs), self._size)]
        self._members = [lay_out(stack(self._fill(runs[lane], runs[-1])), self._mesh) for lane in self._lanes]
        started = _start(self._members, self._mesh)
        self._learners, self.worlds_and_data = [x[0] for x in started], [x[1] for x in started]

    def learner(self, i: int) -> Learner:
        """The state of member `i`, until `advance` is called again."""
        lane, member = divmod(i, self._size)
        learners = self._learners[lane]
        if self._mesh is None:
            return jax.tree.map(lambda x: np.asarray(x[member]), learners)
        return jax.tree.map(lambda x: np.asarray(x)[0], take(learners, member, self._mesh))

    def maps(self, i: int) -> ProbeMaps:
        """The attention maps of member `i` for its probe batch."""
        lane, member = divmod(i, self._size)
        arguments = self._members[lane], self._learners[lane].parameters, self.worlds_and_data[lane].evaluation
        if self._mesh is not None:  # one device computes all maps, so that this is compiled once
            first = self._mesh.devices[0]
            arguments, member = jax.device_put(take(arguments, member, self._mesh), first), 0
        return probe_maps(*arguments, jnp.array(member))

    def put(self, learners: Sequence[Learner]) -> None:
        """Replace the states of all members."""
        lanes = [self._fill(learners[lane], learners[-1]) for lane in self._lanes]
        self._learners = [lay_out(jax.tree.map(lambda *x: np.stack(x), *lane), self._mesh) for lane in lanes]

    def advance(self, until: Sequence[int], active: Sequence[bool], repeats: Sequence[bool]) -> list[Row | None]:
        """Train each active member until its step, and evaluate it there; None for the others."""
        orders = [(until[lane], active[lane], repeats[lane]) for lane in self._lanes]
        threads_at_once = len(cores()) if self._mesh is None else 1
        with ThreadPoolExecutor(threads_at_once) as threads:  # if interrupted, it waits for the running lanes
            lanes = threads.map(self._advance, range(len(orders)), orders)
            return [row for lane in lanes for row in lane]

    def _advance(self, lane: int, orders: tuple[Sequence[int], Sequence[bool], Sequence[bool]]) -> list[Row | None]:
        until, active, repeats = orders
        if not any(active):
            return [None] * len(active)
        fill = self._fill
        arrays = np.array(fill(until, 0), np.int32), np.array(fill(active, False)), np.array(fill(repeats, False))
        self._learners[lane], rows = advance(
            self._members[lane],
            self._learners[lane],
            self.worlds_and_data[lane],
            *lay_out(arrays, self._mesh),
            mesh=self._mesh,
        )
        rows = {name: np.asarray(x) for name, x in rows.items()}
        return [{name: x[i] for name, x in rows.items()} if is_on else None for i, is_on in enumerate(active)]

    def _fill(self, members: Sequence[_Of], by: _Of) -> list[_Of]:
        """As many as a lane has places, if there are several devices: each must have equally many."""
        missing = 0 if self._mesh is None else self._size - len(members)
        return [*members, *[by] * missing]


def _start(lanes: Sequence[Run], mesh: Mesh | None) -> list[tuple[Learner, WorldAndData]]:
    """Begin all lanes; in parallel, compile the program that trains, by a call with no active member."""
    members = len(jax.tree.leaves(lanes[0])[0])
    shapes = jax.eval_shape(begin, lanes[0], mesh=mesh)
    blank = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)
    orders = np.zeros(members, np.int32), np.zeros(members, bool), np.zeros(members, bool)
    with ThreadPoolExecutor(1) as thread:
        compiled = thread.submit(advance, lanes[0], *lay_out((*blank, *orders), mesh), mesh=mesh)
        started = [begin(members, mesh=mesh) for members in lanes]
        compiled.result()
    return started


def at_once() -> float:
    """Members that train at the same time in this process: on a CPU one per core, or one per simulated device; otherwise all."""
    if not _on_cpu():
        return math.inf
    mesh = local_mesh()
    return len(cores()) if mesh is None else mesh.size


def _on_cpu() -> bool:
    return jax.default_backend() == "cpu"
