"""The Transformer: blocks of attention and MLP, with a setting for every choice that the papers make."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, final
from zlib import crc32

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, PRNGKeyArray

from daybreak._check import as_int, check_bool, check_choice, check_whole, is_plain
from daybreak.errors import RequestError, refuse
from daybreak.interface import Interface
from daybreak.models import _attention, _layers
from daybreak.models._model import Inputs, Model, Output
from daybreak.models._products import Precision

Parameters = dict[str, Any]
Norm = Literal["none", "pre", "post"]
Positions = Literal["sinusoidal", "learned", "one-hot", "none", "rotary"]
Activation = Literal["relu", "gelu"]
Initialisation = Literal["torch", "xavier", "orthogonal"]
FirstAttention = Literal["learned", "previous"]
_MOST_LAYERS = 1000  # each is traced and compiled on its own


@final
class Transformer(Model[Parameters]):
    """Embedding, blocks of attention and MLP, and a linear read-out (paper A, table 1; paper B, §2).

    Only what is read is computed: the last block has one row per read position, except for its keys and values. Tokens
    are gathered from the embedding, never multiplied as one-hot vectors.

    Example:
        >>> interface = Interface(length=8, features=5, outputs=4, reads=(7,))
        >>> paper_a = jax.eval_shape(lambda: Transformer().init(jax.random.key(0), interface))  # shapes only
        >>> f"{sum(x.size for x in jax.tree.leaves(paper_a)):,} parameters"
        '1,580,036 parameters'
    """

    precisions: ClassVar[tuple[Precision, ...]] = ("float32", "bfloat16")
    rows_at_once: ClassVar[int] = 1 << 10  # vectors are wide here: those of 1 024 positions fit the cache of a core

    layers: int = eqx.field(static=True, converter=as_int, default=2)  # Blocks.
    heads: int = eqx.field(static=True, converter=as_int, default=4)  # Attention heads of a block.
    width: int = eqx.field(static=True, converter=as_int, default=256)  # Size of the residual stream.
    # Size of queries, keys and values of a head.
    head_width: int = eqx.field(static=True, converter=as_int, default=64)
    mlp: int = eqx.field(static=True, converter=as_int, default=1024)  # Hidden units of a block's MLP; 0 for none.
    norm: Norm = eqx.field(static=True, default="none")  # Layer norm: none, before each part, or after its residual.
    residual: bool = eqx.field(static=True, default=True)  # Whether each part adds to its input or replaces it.
    positions: Positions = eqx.field(static=True, default="sinusoidal")  # How positions are encoded.
    causal: bool = eqx.field(static=True, default=False)  # Whether a position sees only itself and those before it.
    activation: Activation = eqx.field(static=True, default="relu")  # Of the MLP.
    bias: bool = eqx.field(static=True, default=True)  # Whether linear maps have biases.
    weights: Initialisation = eqx.field(static=True, default="torch")  # Initial weights of attention and MLP.
    ends: Initialisation = eqx.field(static=True, default="torch")  # Initial weights of embedding and read-out.
    dropout: float = eqx.field(static=True, default=0.0)  # Fraction dropped of each part's output in training.
    embedding_scale: float = 1.0  # Factor on the initial embedding.
    position_scale: float = 1.0  # Factor on sinusoidal positions, and size of learned ones at the start.
    readout_scale: float = 1.0  # Factor on the initial read-out.
    # Where the first block attends: learned, or given as the position before each, so that one hop of recall is there from the start.
    first_attention: FirstAttention = eqx.field(static=True, default="learned", metadata={"later": True})
    # Newest positions that a causal model may attend to, in each block; 0 for all.
    window: int = eqx.field(static=True, converter=as_int, default=0, metadata={"later": True})

    def __check_init__(self):
        check_whole("layers", self.layers, 1, "it", _MOST_LAYERS)
        for name in ("heads", "width", "head_width"):
            check_whole(name, getattr(self, name), 1, "it")
        check_whole("mlp", self.mlp, 0, "it")
        for name in ("residual", "causal", "bias"):
            check_bool(name, getattr(self, name))
        for name in ("dropout", "embedding_scale", "position_scale", "readout_scale"):
            is_plain(name, getattr(self, name))
        refuse("dropout", self.dropout, not 0 <= self.dropout < 1, "it must lie in [0, 1)")
        choices = {
            "norm": Norm,
            "positions": Positions,
            "activation": Activation,
            "weights": Initialisation,
            "ends": Initialisation,
            "first_attention": FirstAttention,
        }
        for name, allowed in choices.items():
            check_choice(name, getattr(self, name), allowed)
        check_whole("window", self.window, 0, "the window (0: all positions)")
        why = "the newest positions are those before a position, so only a causal model has a window"
        refuse("window", self.window, self.window > 0 and not self.causal, why)
        odd = self.positions == "rotary" and self.head_width % 2 == 1
        refuse("head_width", self.head_width, odd, "rotary positions turn pairs of entries, so it must be even")

    def check(self, interface: Interface) -> None:
        """A task whose answers are the next inputs needs a causal model."""
        if interface.causal and not self.causal:
            raise RequestError(
                "causal = False is not allowed with this task: each answer is the next input, which the model would see."
            )

    def init(self, key: PRNGKeyArray, interface: Interface) -> Parameters:
        """Draw all parameters. The key of each depends on its name, so that a setting changes only what it concerns."""
        stream, inside = self._stream_width(interface), self.heads * self.head_width
        shapes = {
            "query": (stream, inside),
            "key": (stream, inside),
            "value": (stream, inside),
            "out": (inside, stream),
        }
        if self.mlp:
            shapes |= {"up": (stream, self.mlp), "down": (self.mlp, stream)}
        unused = {"query", "key"} if self.first_attention == "previous" else set()
        parts = {i: [x for x in shapes if i > 0 or x not in unused] for i in range(self.layers)}
        kinds = {f"block{i}.{part}": (*shapes[part], self.weights) for i in parts for part in parts[i]}
        drawn = _linears(key, kinds | {"readout": (stream, interface.outputs, self.ends)}, self.bias)
        parameters: Parameters = {
            "embed": self._embedding(_key(key, "embed"), interface),
            "readout": _scaled(drawn["readout"], self.readout_scale),
        }
        if self.positions == "learned":
            noise = jax.random.normal(_key(key, "positions"), (interface.length, self.width))
            parameters["positions"] = self.position_scale * noise
        for i in range(self.layers):
            parameters[f"block{i}"] = {part: drawn[f"block{i}.{part}"] for part in parts[i]}
            if self.norm != "none":
                norms = ("norm1", "norm2") if self.mlp else ("norm1",)
                parameters[f"block{i}"] |= {part: _layers.norm_parameters(stream) for part in norms}
        if self.norm == "pre":
            parameters["norm"] = _layers.norm_parameters(stream)
        return parameters

    def apply(
        self,
        parameters: Parameters,
        inputs: Inputs,
        interface: Interface,
        *,
        key: Key[Array, "*sequences"] | None = None,
        attention: bool = False,
    ) -> Output:
        """Outputs at the read positions of one sequence, or of many: inputs and key may have an axis of sequences."""
        x: Any = self._embed(parameters, inputs, interface)
        everywhere, reads = np.arange(interface.length), np.array(interface.reads)
        patterns = []
        for i in range(self.layers):
            rows = reads if i == self.layers - 1 else everywhere
            given = i == 0 and self.first_attention == "previous"
            x, pattern = self._block(parameters[f"block{i}"], x, rows, partial(self._drop, key, i), given)
            patterns.append(pattern)
        if self.norm == "pre":
            x = _layers.layer_norm(parameters["norm"], x)
        return Output(_layers.linear(parameters["readout"], x), tuple(patterns) if attention else None)

    def batch(
        self, parameters: Parameters, inputs: Inputs, interface: Interface, keys: Key[Array, " sequences"]
    ) -> Float[Array, "sequences reads outputs"]:
        """All sequences at once: products of all their rows, which `vmap` would not make in the backward pass."""
        return self.apply(parameters, inputs, interface, key=keys).values

    def _block(self, block: Parameters, x: Any, rows: np.ndarray, drop: Callable, given: bool) -> _attention.Attended:
        """One block, computed at some rows; keys and values at every position. In the first, x may be `Tokens`.

        If its attention is given, it is to the previous position.
        """
        context = _layers.layer_norm(block["norm1"], x) if self.norm == "pre" else x
        stream = _attention.at(x, rows)
        attended, pattern = (
            _attention.previous(block, context, rows, self.heads)
            if given
            else _attention.attend(
                block, context, rows, self.heads, self.causal, rotary=self.positions == "rotary", window=self.window
            )
        )
        x = self._add(block.get("norm1"), stream, drop(0, attended))
        if not self.mlp:
            return x, pattern
        normal = _layers.layer_norm(block["norm2"], x) if self.norm == "pre" else x
        hidden = _layers.linear(block["up"], normal)
        hidden = jax.nn.relu(hidden) if self.activation == "relu" else jax.nn.gelu(hidden)
        return self._add(block.get("norm2"), x, drop(1, _layers.linear(block["down"], hidden))), pattern

    def _drop(
        self, key: Key[Array, "*sequences"] | None, block: int, part: int, x: Float[Array, "*sequences rows width"]
    ) -> Float[Array, "*sequences rows width"]:
        """Dropout of a part's output, from a key of each sequence, block and part."""
        if key is None or not self.dropout:
            return x

        def one(key: PRNGKeyArray, x: Float[Array, "rows width"]) -> Float[Array, "rows width"]:
            return _layers.drop(x, self.dropout, jax.random.split(jax.random.fold_in(key, block))[part])

        return (jax.vmap(one) if key.ndim else one)(key, x)

    def _add(self, norm: Parameters | None, x: Array, part: Array) -> Float[Array, "*sequences rows width"]:
        out = x + part if self.residual else part
        return _layers.layer_norm(norm, out) if self.norm == "post" and norm is not None else out

    def _stream_width(self, interface: Interface) -> int:
        return self.width + interface.length if self.positions == "one-hot" else self.width

    def _embedding(self, key: PRNGKeyArray, interface: Interface) -> Parameters:
        size = interface.features if interface.tokens is None else interface.tokens
        assert size is not None  # noqa: S101
        if interface.tokens is None:
            parameters = _layers.linear_parameters(key, size, self.width, self.ends, self.bias)
        else:  # PyTorch draws embeddings and linear maps differently
            how = "normal" if self.ends == "torch" else self.ends
            parameters = _layers.linear_parameters(key, size, self.width, how, bias=False)
        return _scaled(parameters, self.embedding_scale)

    def _embed(
        self, parameters: Parameters, inputs: Inputs, interface: Interface
    ) -> Float[Array, "*sequences length stream"] | _attention.Tokens:
        """Token or vector, plus position. `Tokens` if the first block can use them: a norm before it needs vectors."""
        places = jnp.broadcast_to(
            self._places(parameters, interface), (interface.length, self._stream_width(interface))
        )
        if interface.tokens is None:
            x = self._to_stream(_layers.linear(parameters["embed"], inputs), interface)
            return x + jnp.broadcast_to(places, x.shape)
        x = _attention.Tokens(self._to_stream(parameters["embed"]["weight"], interface), places, inputs)
        return x if self.norm != "pre" and interface.tokens <= _attention.MOST_TOKENS else x.vectors()

    def _to_stream(self, x: Float[Array, "*rows width"], interface: Interface) -> Float[Array, "*rows stream"]:
        """Zeros appended where one-hot positions will be added, if there are any."""
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, self._stream_width(interface) - self.width)])

    def _places(self, parameters: Parameters, interface: Interface) -> Any:
        match self.positions:
            case "sinusoidal":
                return self.position_scale * _layers.sinusoids(interface.length, self.width)
            case "learned":
                return parameters["positions"]
            case "one-hot":
                return jnp.pad(jnp.eye(interface.length), ((0, 0), (self.width, 0)))
            case "none" | "rotary":
                return jnp.zeros((1, 1))


def _linears(key: PRNGKeyArray, kinds: dict[str, tuple[int, int, str]], bias: bool) -> dict[str, Parameters]:
    """Linear maps by name, each from its own key; equal kinds are drawn by one program, which is quick to compile."""
    maps = {}
    for kind in dict.fromkeys(kinds.values()):
        names = [name for name in kinds if kinds[name] == kind]
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, np.array([_number(name) for name in names], np.uint32))
        alike = jax.vmap(lambda key, kind=kind: _layers.linear_parameters(key, *kind, bias=bias))(keys)
        maps |= {name: jax.tree.map(lambda x, i=i: x[i], alike) for i, name in enumerate(names)}
    return maps


def _scaled(parameters: Parameters, scale: Any) -> Parameters:
    return jax.tree.map(lambda x: scale * x, parameters)


def _key(key: PRNGKeyArray, name: str) -> PRNGKeyArray:
    return jax.random.fold_in(key, _number(name))


def _number(name: str) -> int:
    return crc32(name.encode())
