"""Training with and without Watch, and what a probe leaves behind: prints what differs."""

import json
import sys
from contextlib import suppress
from typing import Any

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from daybreak.watch import Watch
from daybreak.watch.attention import read
from tests.watch.scripts.models import Language, train

LAB = sys.argv[1]
PLAIN: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0, "vocab_size": 40, "n_positions": 64}
MAKE: dict[str, Any] = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=16, **PLAIN)),
    "fused": lambda: Language("fused"),
    "encoder": lambda: Language("encoder"),
    "compiled": lambda: torch.compile(Language("fused"), backend="eager"),
}


def made(name: str) -> Any:
    torch.manual_seed(0)
    return MAKE[name]()


def weights(name: str, watched: bool) -> tuple[torch.Tensor, int]:
    model = made(name)
    inner = getattr(model, "_orig_mod", model)
    model.config = getattr(inner, "config", None)
    if not watched:
        return _train(model, inner, lambda step, loss: None), 0
    with Watch(model, LAB, name, {"seed": 0}, every=3) as watch:
        trained = _train(model, inner, lambda step, loss: watch.step(step, loss=loss))
    return trained, len(watch._record.curve("induction")[0])


def _train(model: Any, inner: Any, after: Any) -> torch.Tensor:
    if model is inner:
        return train(model, 20, after)
    torch.manual_seed(1)  # the same loop, through the compiled module
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(20):
        x = torch.randint(40, (4, 32))
        loss = torch.nn.functional.cross_entropy(model(x)[:, :-1].transpose(1, 2), x[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(step, loss)
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def left_behind() -> dict[str, Any]:
    """A probe that raises in the middle, in the middle of mixed precision and gradients."""
    model = made("fused")
    model.layers[0].dropout.training = False  # a part that the user has frozen
    flags = [part.training for part in model.modules()]
    x = torch.randint(40, (4, 32))
    model(x).sum().backward()
    grads = [one.grad.clone() for one in model.parameters()]
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)

    def fails(weights: torch.Tensor) -> None:
        torch.rand(7)
        raise RuntimeError("in the middle")

    said = ""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        try:
            read(model, x.numpy(), fails)
        except RuntimeError as error:
            said = str(error)
        autocast = model(x).dtype == torch.bfloat16
    torch.manual_seed(5)
    with suppress(RuntimeError):
        read(model, x.numpy(), fails)
    return {
        "said": said,
        "flags": flags == [part.training for part in model.modules()],
        "random": bool(torch.equal(expected, torch.rand(3))),
        "grads": all(torch.equal(a, b.grad) for a, b in zip(grads, model.parameters(), strict=True)),
        "autocast": autocast,
        "grad_mode": torch.is_grad_enabled(),
        "hooks": sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()),
        "shortcut": torch.backends.mha.get_fastpath_enabled(),
    }


result: dict[str, Any] = {}
for name in MAKE:
    (bare, _), (watched, rows) = weights(name, False), weights(name, True)
    result[name] = {"same": bool(torch.equal(bare, watched)), "rows": rows}
result["left_behind"] = left_behind()
print(json.dumps(result))
