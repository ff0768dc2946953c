"""Any other PyTorch model: the calls by which PyTorch computes attention are read while the probe batch passes.

- `nn.MultiheadAttention`, alone or in `nn.TransformerEncoder`: asked for its weights, per head.
- `F.scaled_dot_product_attention`, which never forms the weights: they are computed from its arguments.
- a softmax over a square of the length of the sequence: hand-written attention.

Training never sees this: PyTorch's own fast attention is used there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_SOFTMAX = (functional.softmax, torch.softmax, torch.Tensor.softmax)


def fits(model: Any) -> bool:
    """Every module does: whether it has attention shows when it is read."""
    return isinstance(model, torch.nn.Module)


@contextmanager
def reading(model: Any, use: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Read the calls of a forward pass, with PyTorch's shortcut for whole encoder layers off."""
    shortcut = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with _Calls(use):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(shortcut)


def forward(model: Any, tokens: torch.Tensor) -> Any:
    """The model's output."""
    return model(tokens)


@final
class _Calls(TorchFunctionMode):
    """Hands the attention weights of the calls that compute them to a function."""

    def __init__(self, use: Callable[[torch.Tensor], None]):
        super().__init__()
        self._use = use

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.multi_head_attention_forward:
            # Its own softmax is not seen here: calls from inside a call do not come by again.
            output, weights = func(*args, **kwargs | {"need_weights": True, "average_attn_weights": False})
            self._use(weights if weights.ndim == 4 else weights[None])
            return output, weights if kwargs.get("need_weights", True) else None
        if func is functional.scaled_dot_product_attention:
            output, weights = _attention(*args, **kwargs)
            if weights.shape[-1] == weights.shape[-2]:
                self._use(weights.reshape(weights.shape[0], -1, *weights.shape[-2:]))
            return output
        result = func(*args, **kwargs)
        if func in _SOFTMAX and result.ndim == 4 and result.shape[-1] == result.shape[-2] and _over_last(args, kwargs):
            self._use(result)
        return result


def _over_last(args: Any, kwargs: Any) -> bool:
    return (kwargs["dim"] if "dim" in kwargs else args[1] if len(args) > 1 else None) in (-1, 3)


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What `F.scaled_dot_product_attention` documents, without dropout; output and weights."""
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (x.repeat_interleave(groups, dim=-3) for x in (key, value))
    logits = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        past = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).tril()
        logits = logits.masked_fill(~past, -torch.inf)
    if attn_mask is not None:
        logits = logits.masked_fill(~attn_mask, -torch.inf) if attn_mask.dtype == torch.bool else logits + attn_mask
    weights = torch.softmax(logits, dim=-1, dtype=torch.float32).to(query.dtype)
    return weights @ value, weights
