"""The model of the examples and the model of `daybreak train text`, from the same weights: outputs, attention, and ten training steps."""

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from tests.watch.run_script import ROOT

sys.path.append(str(ROOT / "examples" / "watch"))
import language  # pyright: ignore
import model as example  # pyright: ignore

from daybreak.tasks import Text, corpus
from daybreak.training.presets import PRESETS
from daybreak.watch.attention import attention

run = PRESETS["text-induction"]
interface = run.task.interface
torch.manual_seed(0)
twin = example.Language(interface.tokens)
data = language.Passages(Text(T=language.CONTEXT), 0.5, 0)
pieces = torch.stack([piece for _, piece in zip(range(10 * language.BATCH), data, strict=False)])


def linear(part: Any, rows: slice = slice(None)) -> dict[str, Any]:
    return {"weight": jnp.asarray(part.weight[rows].detach().numpy().T), "bias": jnp.asarray(part.bias[rows].detach())}


def norm(part: Any) -> dict[str, Any]:
    return {"scale": jnp.asarray(part.weight.detach()), "shift": jnp.asarray(part.bias.detach())}


def ours() -> dict[str, Any]:
    """The parameters of the twin as our model has them."""
    w = language.WIDTH
    parts = {"query": slice(0, w), "key": slice(w, 2 * w), "value": slice(2 * w, 3 * w)}
    blocks = {
        f"block{i}": {name: linear(layer.qkv, rows) for name, rows in parts.items()}
        | {"out": linear(layer.out), "norm1": norm(layer.norm)}
        for i, layer in enumerate(twin.layers)
    }
    embedding = {"weight": jnp.asarray(twin.embedding.weight.detach())}
    return blocks | {"embed": embedding, "readout": linear(twin.read_out), "norm": norm(twin.norm)}


def drawn() -> dict[str, list[float]]:
    """Standard deviations of all initial weights, of our model and of the twin."""
    init = run.model.init(jax.random.key(0), interface)
    pairs = zip(jax.tree.leaves_with_path(init), jax.tree.leaves_with_path(ours()), strict=True)
    return {jax.tree_util.keystr(path): [float(a.std()), float(b.std())] for (path, a), (_, b) in pairs}


def loss(parameters: Any, batch: Any) -> Any:
    out = run.model.apply(parameters, batch[:, :-1], interface).values
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(out), batch[:, 1:, None], axis=-1))


def repetition(piece: np.ndarray) -> list[int]:
    """How many tokens occur more than once, and at which distances they do; distances are equal if there is one."""
    tokens, counts = np.unique(piece, return_counts=True)
    apart = {x for token in tokens[counts > 1] for x in np.diff(np.flatnonzero(piece == token)).tolist()}
    return [int(np.sum(counts == language.COPIES)), int(np.sum(counts > 1)), *apart]


scales, parameters = drawn(), ours()
tokens = pieces[: language.BATCH, :-1]
output = run.model.apply(parameters, jnp.asarray(tokens.numpy()), interface, attention=True)
maps = zip(output.attention or (), attention(twin, tokens.numpy()), strict=True)
result: dict[str, Any] = {
    "scales": scales,
    "outputs": float(np.abs(np.asarray(output.values) - twin(tokens).detach().numpy()).max()),
    "attention": max(float(np.abs(np.asarray(a) - b).max()) for a, b in maps),
}
optimizer = torch.optim.AdamW(twin.parameters(), language.LEARNING_RATE, weight_decay=language.DECAY)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, language.rate)
state, losses = run.optimizer.init(parameters), []
for batch in pieces.split(language.BATCH):
    value, gradient = jax.value_and_grad(loss)(parameters, jnp.asarray(batch.numpy()))
    parameters, state = run.optimizer.step(gradient, state, parameters)
    own = language.loss_of(twin, batch)
    optimizer.zero_grad()
    own.backward()
    torch.nn.utils.clip_grad_norm_(twin.parameters(), language.CLIP)
    optimizer.step()
    schedule.step()
    losses.append([float(value), own.item()])
result["losses"] = losses
name, count = corpus.add(np.arange(60_000))  # a text whose tokens are their places
places = language.Passages(Text(name, count, T=language.CONTEXT), 0.5, 0)
many = torch.stack([piece for _, piece in zip(range(2000), places, strict=False)]).numpy()
result["places"] = {
    "trained": np.unique(many).tolist(),
    "held_out": np.unique(places.held_out().numpy()).tolist(),
    "repeats": [repetition(piece) for piece in many],
}
print(json.dumps(result))
