"""TransformerLens models: their own hook points hold the attention pattern (`TransformerBridge`, and `HookedTransformer` before 4)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


def fits(model: Any) -> bool:
    """Whether it has the hook points of TransformerLens."""
    return hasattr(model, "hook_dict") and hasattr(model, "hooks") and bool(_patterns(model))


@contextmanager
def reading(model: Any, use: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Hooks on the attention pattern of every layer. Those that the user has added stay."""

    def hook(weights: torch.Tensor, hook: Any) -> None:
        use(weights)

    with model.hooks(fwd_hooks=[(name, hook) for name in _patterns(model)]):
        yield


def forward(model: Any, tokens: torch.Tensor) -> Any:
    """The model's logits."""
    return model(tokens, return_type="logits")


def context(model: Any) -> int | None:
    """The longest sequence that the model takes."""
    return getattr(model.cfg, "n_ctx", None)


def _patterns(model: Any) -> list[str]:
    return [name for name in model.hook_dict if name.endswith("attn.hook_pattern")]
