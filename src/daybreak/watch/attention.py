"""Attention of any PyTorch model on a probe batch, layer by layer, while training keeps its own fast attention.

`read` hands the map of each layer to a function at once and keeps none, so that memory is that of one layer.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from daybreak.watch._unchanged import unchanged, unwrapped
from daybreak.watch.kinds import lens, plain, transformers

AttentionFunction = Callable[[torch.nn.Module, torch.Tensor], Iterable[torch.Tensor]]
"""From a model and tokens (batch, length) to the attention of each layer, (batch, head, query, key): a list or a generator."""


class Outputs(NamedTuple):
    """What a forward pass gave besides attention; None where the model does not have it."""

    logits: torch.Tensor | None  # (batch, length, vocabulary)
    hidden: torch.Tensor | None  # (batch, length, width): what the output layer reads


def kind_of(model: torch.nn.Module) -> ModuleType:
    """The module of `kinds` that reads such a model."""
    return next(kind for kind in (transformers, lens, plain) if kind.fits(model))


def read(
    model: Any, tokens: np.ndarray, use: Callable[[torch.Tensor], None], *, function: AttentionFunction | None = None
) -> Outputs:
    """Pass tokens through the model, and hand the attention of each layer to `use`. The model is left as it was found.

    Args:
        model: any module; `torch.compile` and data parallelism around it are looked through.
        tokens: ids, (batch, length).
        use: gets (batch, head, query, key) of each layer, in order.
        function: the user's own way to the maps, instead of ours.
    """
    if function is None:
        return _forward(unwrapped(model), tokens, use)
    inner = unwrapped(model)
    with unchanged(inner), _checked_ids(inner):
        for weights in function(inner, _on_device(inner, tokens)):
            use(weights)
    return outputs(inner, tokens)


def attention(model: Any, tokens: np.ndarray, function: AttentionFunction | None = None) -> list[np.ndarray]:
    """The attention maps of all layers, each (batch, head, query, key)."""
    maps: list[np.ndarray] = []
    read(model, tokens, lambda weights: maps.append(as_array(weights)), function=function)
    return maps


def outputs(model: Any, tokens: np.ndarray) -> Outputs:
    """Logits and hidden states alone, with the model's own attention; None for a model that does not take tokens alone."""
    try:
        return _forward(unwrapped(model), tokens, None)
    except Exception:
        return Outputs(None, None)


def _forward(model: torch.nn.Module, tokens: np.ndarray, use: Callable[[torch.Tensor], None] | None) -> Outputs:
    ids = _on_device(model, tokens)
    square = (ids.shape[1], ids.shape[1])

    def use_if_self_attention(weights: torch.Tensor) -> None:
        if use is not None and weights.shape[0] == ids.shape[0] and weights.shape[-2:] == square:
            use(weights)

    kind = kind_of(model)
    reading = nullcontext() if use is None else kind.reading(model, use_if_self_attention)
    with unchanged(model), _checked_ids(model), _last_linear(model) as linear, reading:
        logits = _logits(kind.forward(model, ids), ids)
    return Outputs(logits, next((x for x, y in linear if logits is not None and y == logits.shape), None))


def _on_device(model: torch.nn.Module, tokens: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(tokens, dtype=torch.long, device=device_of(model))


def as_array(x: torch.Tensor) -> np.ndarray:
    """A tensor of any device and precision as an array of float32."""
    return x.detach().float().cpu().numpy()


def device_of(model: torch.nn.Module) -> torch.device:
    """Where the model's first parameter is."""
    return next((one.device for one in model.parameters()), torch.device("cpu"))


def _logits(output: Any, ids: torch.Tensor) -> torch.Tensor | None:
    """Logits in a tensor, a dataclass with `logits`, a dict, or a tuple, if they are there."""
    candidates = [
        output,
        getattr(output, "logits", None),
        output.get("logits") if isinstance(output, dict) else None,
        *(output if isinstance(output, tuple | list) else ()),
    ]
    return next((x for x in candidates if torch.is_tensor(x) and x.ndim == 3 and x.shape[:2] == ids.shape), None)


@contextmanager
def _last_linear(model: torch.nn.Module) -> Iterator[list[tuple[torch.Tensor, torch.Size]]]:
    """The input and the shape of the output of the linear layer that was called last, which in a language model is the read-out."""
    last: list[tuple[torch.Tensor, torch.Size]] = []

    def keep(module: Any, given: Any, result: Any) -> None:
        if torch.is_tensor(result) and given:
            last[:] = [(given[0], result.shape)]

    linear = [part for part in model.modules() if isinstance(part, torch.nn.Linear)]
    handles = [part.register_forward_hook(keep) for part in linear]
    try:
        yield last
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _checked_ids(model: torch.nn.Module) -> Iterator[None]:
    """Refuse an id or position outside an embedding before it is looked up: on a GPU the look-up would end the whole process."""

    def check(module: torch.nn.Embedding, given: Any) -> None:
        if given and torch.is_tensor(given[0]) and given[0].numel() and int(given[0].max()) >= module.num_embeddings:
            raise IndexError(f"index {int(given[0].max())} in an embedding of {module.num_embeddings} rows")

    handles = [x.register_forward_pre_hook(check) for x in model.modules() if isinstance(x, torch.nn.Embedding)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
