"""Attention maps of a run around its transition: of a few clean examples, at a bounded number of steps."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree
from numpy.typing import NDArray
from safetensors.numpy import load, save

from daybreak.training.evaluate import EvaluationSets
from daybreak.training.run import Run, Stop

_BEFORE = 24  # steps until emergence at which maps are kept
_AFTER = 8  # about as many after it, spread over the margin
_EXAMPLES = 8  # of the probe batch, at most
_BYTES = 1 << 20  # of the maps of one step, at most, if that leaves one example: 32 MB of a run in all


class Maps(NamedTuple):
    """Attention maps of a fixed probe batch at some steps of a run.

    Args:
        steps: of training, increasing.
        layers: one array per layer, (steps, examples, heads, rows, positions), in half precision. A layer that is computed only
            where it is read has one row per read position.
        relevant: which positions matter for each read position, (examples, reads, positions).
        reads: the read positions.
    """

    steps: NDArray[np.int64]
    layers: list[NDArray[np.float16]]
    relevant: NDArray[np.bool_]
    reads: NDArray[np.int32]

    def at_reads(self, layer: int) -> NDArray[np.float16]:
        """The maps of a layer, only of the rows that are read: (steps, examples, heads, reads, positions)."""
        maps = self.layers[layer]
        return maps if maps.shape[3] == self.reads.size else maps[:, :, :, self.reads]


class ProbeMaps(NamedTuple):
    """The maps of one step, and the relevant positions of the probe batch."""

    layers: tuple[Any, ...]  # of (examples, heads, rows, length)
    relevant: Any  # (examples, reads, length)
    reads: Any


@jax.jit
def probe_maps(cohort: Run, parameters: PyTree, sets: EvaluationSets, member: Int[Array, ""]) -> ProbeMaps:
    """The attention of one member of a cohort to its probe batch: that of the task, or the first clean examples of its tests."""
    run, parameters, sets = jax.tree.map(lambda x: x[member], (cohort, parameters, sets))
    clean = jax.tree.map(lambda x: x[0], sets.examples) if sets.probe is None else sets.probe

    def attention(inputs: Any) -> tuple[Array, ...]:
        patterns = run.model.apply(parameters, inputs, run.interface, attention=True).attention
        return tuple(x.astype(jnp.float16) for x in patterns or ())

    one = sum(x.size * x.dtype.itemsize for x in jax.eval_shape(attention, clean.inputs[0]))
    count = max(1, min(_EXAMPLES, _BYTES // max(one, 1)))
    reads = jnp.array(run.interface.reads, jnp.int32)
    return ProbeMaps(jax.vmap(attention)(clean.inputs[:count]), clean.relevant[:count], reads)


@final
class MapHistory:
    """The maps of one run so far.

    Until the run emerges, recent steps are dense and older ones are thinned: the distance between two grows with their age.
    So the steps are dense around the transition, whenever it comes. Afterwards a few are added until the end. Where nothing
    tells a transition, at level 0, all steps have about the same distance. Which steps are kept is a function of the
    evaluations: an interruption or a longer budget does not change it.
    """

    def __init__(self, stop: Stop):
        self._stop = stop
        self.steps: list[int] = []
        self._maps: list[ProbeMaps] = []

    def wants(self, step: int, emerged: int | None) -> bool:
        """Whether the maps of an evaluation are to be added."""
        every = self._stop.every
        if step % every:
            return False  # the last row of a budget that is not a multiple
        if emerged is None or step <= emerged:
            return True
        stride = max(1, math.ceil(emerged * self._stop.margin / every / _AFTER))
        return (step - emerged) // every % stride == 0

    def add(self, step: int, emerged: int | None, maps: ProbeMaps) -> None:
        """Add the maps of an evaluation, and thin those before."""
        self.steps.append(step)
        self._maps.append(jax.tree.map(np.asarray, maps))
        if (emerged is None or step <= emerged) and len(self.steps) > _BEFORE:
            self._drop(min(range(1, len(self.steps) - 1), key=self._loss))

    def _loss(self, i: int) -> float:
        """How much is lost with a step: the gap that it leaves, relative to its age if only the transition counts."""
        gap, age = self.steps[i + 1] - self.steps[i - 1], self.steps[-1] - self.steps[i]
        return gap / age if self._stop.level else gap

    def _drop(self, i: int) -> None:
        del self.steps[i], self._maps[i]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        if not self.steps:
            return {}
        layers = zip(*(maps.layers for maps in self._maps), strict=True)
        return {
            "step": np.array(self.steps, np.int64),
            "relevant": self._maps[0].relevant,
            "reads": self._maps[0].reads,
            **{f"layer{i}": np.stack(x) for i, x in enumerate(layers)},
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """As `arrays` gave it."""
        maps = from_arrays(arrays)
        self.steps = maps.steps.tolist()
        layers = [tuple(x[i] for x in maps.layers) for i in range(len(self.steps))]
        self._maps = [ProbeMaps(x, maps.relevant, maps.reads) for x in layers]


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Maps:
    """Maps from their arrays by name."""
    count = sum(name.startswith("layer") for name in arrays)
    layers = [arrays[f"layer{i}"] for i in range(count)]
    return Maps(arrays["step"], layers, arrays["relevant"], arrays["reads"])


def encode(history: MapHistory) -> bytes:
    """Maps as a safetensors file."""
    return save(history.arrays())


def decode(data: bytes) -> Maps:
    """Maps from a safetensors file."""
    return from_arrays(load(data))
