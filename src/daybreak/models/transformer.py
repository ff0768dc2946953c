"""The Transformer: as many blocks of attention and MLP as asked for, with every choice the papers make a setting."""

from typing import Any, Literal, final, get_args
from zlib import crc32

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from daybreak.errors import RequestError
from daybreak.models import _layers
from daybreak.models._model import Ends, Inputs, Model, Output

Parameters = dict[str, Any]
Norm = Literal["none", "pre", "post"]
Positions = Literal["sinusoidal", "learned", "one-hot", "none"]
Activation = Literal["relu", "gelu"]
Initialisation = Literal["torch", "xavier", "orthogonal"]


@final
class Transformer(Model[Parameters]):
    """Embedding, blocks of attention and MLP, and a linear read-out (paper A, table 1; paper B, §2).

    Only what is read is computed: the last block has one row per read position, keys and values apart. Tokens are
    gathered from the embedding, never multiplied as one-hot vectors. Attention maps exist only when asked for.
    """

    layers: int = eqx.field(static=True, default=2)  # Blocks.
    heads: int = eqx.field(static=True, default=4)  # Attention heads of a block.
    width: int = eqx.field(static=True, default=256)  # Size of the residual stream.
    head_width: int = eqx.field(static=True, default=64)  # Size of queries, keys and values of a head.
    mlp: int = eqx.field(static=True, default=1024)  # Hidden units of a block's MLP; 0 for none.
    norm: Norm = eqx.field(static=True, default="none")  # Layer norm: none, before each part, or after its residual.
    residual: bool = eqx.field(static=True, default=True)  # Whether each part adds to its input or replaces it.
    positions: Positions = eqx.field(static=True, default="sinusoidal")  # How a position is told.
    causal: bool = eqx.field(static=True, default=False)  # Whether a position sees only itself and what stands before.
    activation: Activation = eqx.field(static=True, default="relu")  # Of the MLP.
    bias: bool = eqx.field(static=True, default=True)  # Whether linear maps have biases.
    weights: Initialisation = eqx.field(static=True, default="torch")  # Initial weights of attention and MLP.
    ends: Initialisation = eqx.field(static=True, default="torch")  # Initial weights of embedding and read-out.
    dropout: float = eqx.field(static=True, default=0.0)  # Share dropped of each part's output in training.
    embedding_scale: float = 1.0  # Factor on the initial embedding.
    position_scale: float = 1.0  # Factor on sinusoidal positions, and size of learned ones at the start.
    readout_scale: float = 1.0  # Factor on the initial read-out.

    def __check_init__(self):
        for name in ("layers", "heads", "width", "head_width"):
            _refuse(name, getattr(self, name), getattr(self, name) < 1, "it must be at least 1")
        _refuse("mlp", self.mlp, self.mlp < 0, "it must be at least 0")
        _refuse("dropout", self.dropout, not 0 <= self.dropout < 1, "it must lie in [0, 1)")
        choices = {
            "norm": Norm,
            "positions": Positions,
            "activation": Activation,
            "weights": Initialisation,
            "ends": Initialisation,
        }
        for name, allowed in choices.items():
            *others, last = (repr(x) for x in get_args(allowed))
            value = getattr(self, name)
            _refuse(name, repr(value), value not in get_args(allowed), f"choose {', '.join(others)} or {last}")

    def init(self, key: PRNGKeyArray, ends: Ends) -> Parameters:
        """Draw all parameters; each from a key of its own name, so that a setting changes only what it concerns."""
        stream = self._stream_width(ends)
        inside = self.heads * self.head_width
        made: Parameters = {
            "embed": self._embedding(_key(key, "embed"), ends),
            "readout": self._linear(_key(key, "readout"), stream, ends.outputs, self.ends, self.readout_scale),
        }
        if self.positions == "learned":
            noise = jax.random.normal(_key(key, "positions"), (ends.length, self.width))
            made["positions"] = self.position_scale * noise
        for i in range(self.layers):
            name = f"block{i}"
            block = {
                part: self._linear(_key(key, f"{name}.{part}"), stream, inside, self.weights)
                for part in ("query", "key", "value")
            }
            block["out"] = self._linear(_key(key, f"{name}.out"), inside, stream, self.weights)
            if self.mlp:
                block["up"] = self._linear(_key(key, f"{name}.up"), stream, self.mlp, self.weights)
                block["down"] = self._linear(_key(key, f"{name}.down"), self.mlp, stream, self.weights)
            if self.norm != "none":
                block |= {
                    part: _layers.norm_parameters(stream) for part in (("norm1", "norm2") if self.mlp else ("norm1",))
                }
            made[name] = block
        if self.norm == "pre":
            made["norm"] = _layers.norm_parameters(stream)
        return made

    def apply(
        self,
        parameters: Parameters,
        inputs: Inputs,
        ends: Ends,
        *,
        key: PRNGKeyArray | None = None,
        attention: bool = False,
    ) -> Output:
        """Outputs at the read positions of one sequence."""
        x = self._embed(parameters, inputs, ends)
        everywhere, reads = np.arange(ends.length), np.array(ends.reads)
        maps = []
        for i in range(self.layers):
            rows = reads if i == self.layers - 1 else everywhere
            x, weights = self._block(
                parameters[f"block{i}"], x, rows, None if key is None else jax.random.fold_in(key, i)
            )
            maps.append(weights)
        if self.norm == "pre":
            x = _layers.layer_norm(parameters["norm"], x)
        return Output(_layers.linear(parameters["readout"], x), tuple(maps) if attention else None)

    def _block(self, block: Parameters, x: Float[Array, "length width"], rows: np.ndarray, key: PRNGKeyArray | None):
        """One block, computed at the given rows; keys and values at every position."""
        keys = (None, None) if key is None else tuple(jax.random.split(key))
        all_rows = rows.size == x.shape[0]
        before = _layers.layer_norm(block["norm1"], x) if self.norm == "pre" else x
        stream, asking = (x, before) if all_rows else (x[rows], before[rows])
        mask = np.arange(x.shape[0])[None, :] <= rows[:, None] if self.causal else None
        attended, weights = _layers.attend(block, asking, before, self.heads, mask)
        x = self._add(block.get("norm1"), stream, _layers.drop(attended, self.dropout, keys[0]))
        if not self.mlp:
            return x, weights
        before = _layers.layer_norm(block["norm2"], x) if self.norm == "pre" else x
        hidden = _layers.linear(block["up"], before)
        hidden = jax.nn.relu(hidden) if self.activation == "relu" else jax.nn.gelu(hidden)
        out = _layers.linear(block["down"], hidden)
        return self._add(block.get("norm2"), x, _layers.drop(out, self.dropout, keys[1])), weights

    def _add(self, norm: Parameters | None, x: Float[Array, "rows width"], part: Float[Array, "rows width"]):
        out = x + part if self.residual else part
        return _layers.layer_norm(norm, out) if self.norm == "post" and norm is not None else out

    def _stream_width(self, ends: Ends) -> int:
        return self.width + ends.length if self.positions == "one-hot" else self.width

    def _embedding(self, key: PRNGKeyArray, ends: Ends) -> Parameters:
        size = ends.features if ends.tokens is None else ends.tokens
        assert size is not None  # noqa: S101
        if ends.tokens is None:
            return self._linear(key, size, self.width, self.ends, self.embedding_scale)
        how = "normal" if self.ends == "torch" else self.ends  # PyTorch draws embeddings and linear maps differently
        weight = _layers.linear_parameters(key, size, self.width, how, bias=False)["weight"]
        return {"weight": self.embedding_scale * weight}

    def _embed(self, parameters: Parameters, inputs: Inputs, ends: Ends) -> Float[Array, "length stream"]:
        weights = parameters["embed"]["weight"]
        x = weights[inputs] if ends.tokens is not None else _layers.linear(parameters["embed"], inputs)
        match self.positions:
            case "sinusoidal":
                return x + self.position_scale * _layers.sinusoids(ends.length, self.width)
            case "learned":
                return x + parameters["positions"]
            case "one-hot":
                return jnp.concatenate([x, jnp.eye(ends.length)], axis=1)
            case "none":
                return x

    def _linear(
        self, key: PRNGKeyArray, fan_in: int, fan_out: int, how: Initialisation, scale: Any = 1.0
    ) -> Parameters:
        made = _layers.linear_parameters(key, fan_in, fan_out, how, self.bias)
        return jax.tree.map(lambda x: scale * x, made)


def _key(key: PRNGKeyArray, name: str) -> PRNGKeyArray:
    return jax.random.fold_in(key, crc32(name.encode()))


def _refuse(name: str, value: Any, at_fault: bool, why: str) -> None:
    if at_fault:
        raise RequestError(f"{name} = {value} is not allowed: {why}.")
