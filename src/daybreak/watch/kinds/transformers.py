"""Hugging Face models: attention through the interfaces that transformers has for it.

Since version 5 no model falls back to eager attention, and `output_attentions` gives nothing under fused attention. A function
that is registered under a name of ours is used for the probe batch only: it calls the eager attention of the model's own family
(grouped queries, soft caps and learned sinks are its business), and hands the weights on. The mask is registered under the same
name, because a model without one attends to the future.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

_NAME = "daybreak_probe"
_USE: ContextVar[Callable[[torch.Tensor], None]] = ContextVar("use")


def fits(model: Any) -> bool:
    """Whether it is a Hugging Face model whose attention can be switched."""
    modeling = sys.modules.get("transformers.modeling_utils")  # nobody has such a model without having imported it
    return (
        modeling is not None and isinstance(model, modeling.PreTrainedModel) and bool(_switches(model))  # pyright: ignore[reportAttributeAccessIssue]
    )


@contextmanager
def reading(model: Any, use: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Switch the model's attention to ours, and back to what each of its parts had."""
    _register()
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}
    had = [
        (config, config._attn_implementation_internal)
        for config in configs.values()
        if hasattr(config, "_attn_implementation_internal")
    ]
    token = _USE.set(use)
    try:
        model.set_attn_implementation(_NAME)
        yield
    finally:
        _USE.reset(token)
        for config, name in had:
            config._attn_implementation_internal = name


def forward(model: Any, tokens: torch.Tensor) -> Any:
    """The model's output, without a cache of keys."""
    return model(input_ids=tokens, use_cache=False)


def context(model: Any) -> int | None:
    """The longest sequence that the model takes, if its configuration states it."""
    return getattr(model.config, "max_position_embeddings", None)


def special(model: Any) -> set[int]:
    """Ids that stand for something else than text: start, end, padding."""
    names = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "sep_token_id", "cls_token_id")
    values = [getattr(model.config, name, None) for name in names]
    return {one for value in values for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)}


def _switches(model: Any) -> bool:
    can = getattr(model, "_can_set_attn_implementation", None)
    return can is None or can()


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, eager_mask)


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention as the family of the model computes it eagerly; the weights are handed on."""
    options["dropout"] = 0.0
    output, weights = _eager(module)(module, query, key, value, attention_mask, **options)
    _USE.get()(weights)
    return output, weights


def _eager(module: Any) -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """`eager_attention_forward` of the file that defines the module, or of the one whose class it extends."""
    files = (sys.modules.get(kind.__module__) for kind in type(module).__mro__)
    own = (getattr(file, "eager_attention_forward", None) for file in files)
    return next((function for function in own if function is not None), _plain)


def _plain(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax of scaled products plus mask, for families without an eager form of their own."""
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    logits = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if attention_mask is not None:
        logits = logits + attention_mask
    weights = torch.softmax(logits, dim=-1, dtype=torch.float32).to(query.dtype)
    return (weights @ value).transpose(1, 2).contiguous(), weights
