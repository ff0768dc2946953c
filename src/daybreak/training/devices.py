"""Several devices: the members of a lane are laid out over all devices of this process, equally many on each.

Every array of a lane is split along its leading axis of members. Each device runs the same compiled program on its own
members, in loops of its own: devices do not communicate, and none waits for another within a step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int, PyTree

_AXIS = "members"
_MEMBERS = PartitionSpec(_AXIS)


def local_mesh() -> Mesh | None:
    """All devices of this process in one row; None if there is only one.

    Example:
        >>> local_mesh() is None or local_mesh().size == jax.local_device_count()
        True
    """
    devices = jax.local_devices()
    return Mesh(np.array(devices), (_AXIS,)) if len(devices) > 1 else None


def lay_out(members: PyTree, mesh: Mesh | None) -> PyTree:
    """Arrays with a leading axis of members, which the devices share equally; without a mesh, all on the default device."""
    return jax.device_put(members, None if mesh is None else NamedSharding(mesh, _MEMBERS))


def on_each_device(function: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    """A function of members, called on each device with the members that are there."""
    # Without check_vma: constants in the carries of loops would have to be marked as different on each device.
    return jax.shard_map(function, mesh=mesh, in_specs=_MEMBERS, out_specs=_MEMBERS, check_vma=False)


def take(members: PyTree, i: int, mesh: Mesh) -> PyTree:
    """Member `i`, with a leading axis of length 1, on the device that has it."""
    device, row = divmod(i, len(jax.tree.leaves(members)[0]) // mesh.size)
    return jax.tree.map(lambda x: x.addressable_shards[device].data, _rows(members, np.int32(row), mesh))


@partial(jax.jit, static_argnames="mesh")
def _rows(members: PyTree, row: Int[Array, ""] | np.int32, mesh: Mesh) -> PyTree:
    """The member in this row of each device. One program serves all members, and only one of them has to be copied."""
    return on_each_device(lambda tree: jax.tree.map(lambda x: x[row][None], tree), mesh)(members)
