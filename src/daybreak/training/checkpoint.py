"""An unfinished run as bytes: a safetensors file with the id of the run and a digest of its contents.

Arrays have names such as `learner.parameters.block0.query.weight`, so that any reader of the format can inspect them.
"""

import hashlib
import json
import struct
from typing import Any, NamedTuple, final

import jax
import numpy as np
from jaxtyping import PyTree
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

SCHEMA = 2
Arrays = dict[str, NDArray[Any]]


@final
class DamagedCheckpoint(Exception):  # noqa: N818
    """Bytes that are not a checkpoint of the run. The run can be started again."""

    def __init__(self, run_id: str, why: str):
        super().__init__(f"the checkpoint of run {run_id} is unusable: {why}.")
        self.run_id = run_id


class Unpacked(NamedTuple):
    """A checkpoint: the state of a run, its curves so far, and its attention maps if they are kept."""

    learner: PyTree
    curves: Arrays
    maps: Arrays


def pack(run_id: str, learner: PyTree, curves: Arrays, maps: Arrays | None = None) -> bytes:
    """The state of a run, its curves so far, and the attention maps kept so far."""
    return _sealed(run_id, _under("learner", named(learner)) | _under("curves", curves) | _under("maps", maps or {}))


def unpack(run_id: str, like: PyTree, data: bytes) -> Unpacked:
    """A checkpoint from bytes; the state has the tree structure of `like`."""
    arrays = _checked(run_id, data)
    wanted, leaves = named(like), _part("learner", arrays)
    if {name: x.shape for name, x in wanted.items()} != {name: x.shape for name, x in leaves.items()}:
        raise DamagedCheckpoint(run_id, "its parameters do not fit the run's model")
    learner = jax.tree.unflatten(jax.tree.structure(like), [leaves[name] for name in wanted])
    return Unpacked(learner, _part("curves", arrays), _part("maps", arrays))


def curves(run_id: str, data: bytes) -> Arrays:
    """The curves so far."""
    return _part("curves", _checked(run_id, data))


def relabelled(data: bytes, old: str, new: str) -> bytes:
    """The state of a run as a checkpoint of another one, which differs from it only in its budget."""
    return _sealed(new, _checked(old, data))


def named(tree: PyTree) -> Arrays:
    """The leaves of a tree by their names."""
    return {name: _plain(x) for name, x in zip(names(tree), jax.tree.leaves(tree), strict=True)}


def names(tree: PyTree) -> list[str]:
    """The names of the leaves of a tree: their paths, such as `block0.query.weight`."""
    return [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in jax.tree.leaves_with_path(tree)]


def _plain(x: Any) -> NDArray[Any]:
    return np.asarray(x, order="C")


def _under(part: str, arrays: Arrays) -> Arrays:
    return {f"{part}.{name}": _plain(x) for name, x in arrays.items()}


def _part(part: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(f"{part}."): x for name, x in arrays.items() if name.startswith(f"{part}.")}


def _sealed(run_id: str, arrays: Arrays) -> bytes:
    header = {"schema": SCHEMA, "run": run_id, "digest": _digest(run_id, arrays)}
    return save(arrays, {"daybreak": json.dumps(header)})


def _checked(run_id: str, data: bytes) -> Arrays:
    header, arrays = _read(run_id, data)
    if header.get("schema") != SCHEMA:
        raise DamagedCheckpoint(run_id, f"it has schema {header.get('schema')!r}, and this version reads {SCHEMA}")
    if header.get("run") != run_id:
        raise DamagedCheckpoint(run_id, f"it belongs to run {header.get('run')!r}")
    if header.get("digest") != _digest(run_id, arrays):
        raise DamagedCheckpoint(run_id, "its digest does not match its contents")
    return arrays


def _read(run_id: str, data: bytes) -> tuple[dict[str, Any], Arrays]:
    try:
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["daybreak"])
        return dict(header), load(data)
    except (struct.error, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise DamagedCheckpoint(run_id, f"it cannot be read ({error})") from None


def _digest(run_id: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(run_id.encode())
    for name, x in sorted(arrays.items()):
        digest.update(f"{name} {x.dtype} {x.shape}".encode())
        digest.update(x.tobytes())
    return digest.hexdigest()
