"""The network that a run ended with: its parameters as a file, and as a function of inputs."""

from dataclasses import dataclass
from typing import Any, final

import jax
import numpy as np
from jaxtyping import PyTree
from numpy.typing import ArrayLike, NDArray
from safetensors.numpy import load, save

from daybreak.errors import RequestError
from daybreak.models import Output
from daybreak.tasks import Example
from daybreak.training.checkpoint import named, names
from daybreak.training.cohort import begin, stack
from daybreak.training.run import Run


def encode(parameters: PyTree) -> bytes:
    """Parameters as a safetensors file, with names such as `block0.query.weight`."""
    return save(named(parameters))


@final
@dataclass(frozen=True)
class TrainedModel:
    """A network with its parameters. Called with inputs, it gives its outputs at the read positions.

    Args:
        run: that it was trained by.
        parameters: at the end of that run, in the structure of the model's `init`.
    """

    run: Run
    parameters: PyTree

    @classmethod
    def decode(cls, run: Run, data: bytes) -> "TrainedModel":
        """The network of a run, from a file that `encode` made."""
        like = jax.eval_shape(lambda: run.model.init(jax.random.key(0), run.interface))
        arrays = load(data)
        return cls(run, jax.tree.unflatten(jax.tree.structure(like), [arrays[name] for name in names(like)]))

    def __call__(self, inputs: ArrayLike) -> NDArray[np.float32]:
        """Outputs, (…, reads, outputs), for sequences with any leading axes: (…, length, features), or tokens (…, length)."""
        return np.asarray(self._apply(inputs).values)

    def attention(self, inputs: ArrayLike) -> list[NDArray[np.float32]]:
        """Attention maps of the layers, each (…, heads, rows, positions); the last layer only has the rows that are read."""
        return [np.asarray(x) for x in self._apply(inputs).attention or ()]

    def examples(self) -> Example:
        """The clean examples that the run was evaluated on: inputs, targets and relevant positions."""
        _, world_and_data = begin(stack([self.run]))
        return jax.tree.map(lambda x: np.asarray(x[0, 0]), world_and_data.evaluation.examples)

    def _apply(self, inputs: ArrayLike) -> Output:
        given, face = np.asarray(inputs), self.run.interface
        one = (face.length,) if face.features is None else (face.length, face.features)
        if given.shape[-len(one) :] != one:
            raise RequestError(
                f"inputs of shape {given.shape} are not allowed: the network takes sequences of shape {one}."
            )
        leading = given.shape[: given.ndim - len(one)]
        typed = given.astype(np.int32 if face.features is None else np.float32).reshape(-1, *one)
        outputs = _outputs(self.run, self.parameters, typed)
        return jax.tree.map(lambda x: x.reshape(*leading, *x.shape[1:]), outputs)


@jax.jit
def _outputs(run: Run, parameters: PyTree, inputs: Any) -> Output:
    return jax.vmap(lambda x: run.model.apply(parameters, x, run.interface, attention=True))(inputs)
