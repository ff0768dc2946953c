"""An unfinished run as bytes: a safetensors file with the id of the run and a digest of its contents.

Arrays have names such as `learner.parameters.block0.query.weight`, so that any reader of the format can inspect them.
"""

import hashlib
import json
import struct
from typing import Any, final

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


def pack(run_id: str, learner: PyTree, curves: Arrays) -> bytes:
    """The state of a run, and its curves so far."""
    arrays = _named(learner) | {f"curves.{name}": np.asarray(x, order="C") for name, x in curves.items()}
    header = {"schema": SCHEMA, "run": run_id, "digest": _digest(run_id, arrays)}
    return save(arrays, {"daybreak": json.dumps(header)})


def unpack(run_id: str, like: PyTree, data: bytes) -> tuple[PyTree, Arrays]:
    """State and curves from bytes; the state has the tree structure of `like`."""
    arrays = _checked(run_id, data)
    wanted = _named(like)
    if {name: x.shape for name, x in wanted.items()} != {k: x.shape for k, x in arrays.items() if k in wanted}:
        raise DamagedCheckpoint(run_id, "its parameters do not fit the run's model")
    learner = jax.tree.unflatten(jax.tree.structure(like), [arrays[name] for name in wanted])
    return learner, {name.removeprefix("curves."): x for name, x in arrays.items() if name not in wanted}


def curves(run_id: str, data: bytes) -> Arrays:
    """The curves so far."""
    arrays = _checked(run_id, data)
    return {name.removeprefix("curves."): x for name, x in arrays.items() if name.startswith("curves.")}


def _checked(run_id: str, data: bytes) -> Arrays:
    header, arrays = _read(run_id, data)
    if header.get("schema") != SCHEMA:
        raise DamagedCheckpoint(run_id, f"it has schema {header.get('schema')!r}, and this version reads {SCHEMA}")
    if header.get("run") != run_id:
        raise DamagedCheckpoint(run_id, f"it belongs to run {header.get('run')!r}")
    if header.get("digest") != _digest(run_id, arrays):
        raise DamagedCheckpoint(run_id, "its digest does not match its contents")
    return arrays


def _named(learner: PyTree) -> Arrays:
    leaves = jax.tree.leaves_with_path(learner)
    keys = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves]
    return {f"learner.{key}": np.asarray(x, order="C") for key, (_, x) in zip(keys, leaves, strict=True)}


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
