"""A model is probed and left exactly as it was found: modes, random numbers, compiler, whatever happens in between."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from daybreak.errors import RequestError


@contextmanager
def unchanged(model: torch.nn.Module) -> Iterator[None]:
    """Inside: eval mode, no gradients, no autocast, nothing compiled. After it: as before, also if the inside raises.

    Flags are set on each module directly: `train()` and `eval()` may be overridden and do more. `inference_mode` would leave
    tensors behind (cached positions, say) that cannot take part in training.
    """
    parts = [*model.modules(), *_wrapped_by_lens(model)]
    training = {part: part.training for part in parts}
    with ExitStack() as stack:
        stack.enter_context(_random_state())
        stack.enter_context(torch.no_grad())
        for kind in {"cpu", *(one.device.type for one in model.parameters())}:
            if torch.amp.is_autocast_available(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if "torch._dynamo" in sys.modules:  # or nothing is compiled, and importing it would take seconds
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        try:
            for part in training:
                part.training = False
            yield
        finally:
            for part, was in training.items():
                part.training = was


def _wrapped_by_lens(model: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """Modules of the model inside a TransformerLens bridge, which does not list them as its own; dropout is among them."""
    inner = getattr(model, "original_model", None)
    yield from inner.modules() if isinstance(inner, torch.nn.Module) else ()


@contextmanager
def _random_state() -> Iterator[None]:
    """Generators of the processor and of every accelerator that is in use."""
    cpu = torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None
    try:
        yield
    finally:
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)


def unwrapped(model: Any) -> torch.nn.Module:
    """The model inside `torch.compile` and data parallelism. One whose weights are spread over processes is refused."""
    if not isinstance(model, torch.nn.Module):
        raise RequestError(f"a {type(model).__name__} cannot be watched: give a torch.nn.Module.")
    while True:
        if hasattr(model, "_orig_mod"):
            model = model._orig_mod
        elif isinstance(model, torch.nn.parallel.DistributedDataParallel | torch.nn.DataParallel):
            model = model.module
        else:
            break
    if any(_spread(one) for one in model.parameters()) or any(
        type(part).__name__ == "FullyShardedDataParallel" for part in model.modules()
    ):
        raise RequestError(
            "the weights of the model are spread over processes (FSDP, ZeRO-3), and a probe runs in one: "
            "its attention is not read."
        )
    return model


def _spread(parameter: torch.nn.Parameter) -> bool:
    """Whether a parameter is only a part: a DTensor, or one that DeepSpeed has taken away."""
    return hasattr(parameter, "device_mesh") or hasattr(parameter, "ds_id")
