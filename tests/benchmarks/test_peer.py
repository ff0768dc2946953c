"""The PyTorch peer gives what Daybreak gives: outputs, gradients, steps, and the distribution of its samples."""

import dataclasses
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.models import MinimalAttention, Transformer
from daybreak.tasks import Example, MarkovChain, Recall, SingleLocation, Text
from daybreak.training import Optimizer, Run
from daybreak.training.presets import PRESETS

torch = pytest.importorskip("torch", reason="the peer needs PyTorch: the extra `bench`")
peer = pytest.importorskip("benchmarks.peer")
torch.set_num_threads(1)  # small tensors, and other tests run at the same time

REGRESSION = Run(
    SingleLocation(T=7, d=3),
    Transformer(heads=2, width=16, head_width=4, mlp=32),
    Optimizer(learning_rate=1e-2),
    batch=5,
)
RECALL = Run(
    Recall(N=3, V=8),
    Transformer(heads=2, width=16, head_width=4, mlp=32, norm="pre", causal=True),
    Optimizer(learning_rate=1e-2),
    batch=5,
)
MARKOV = Run(
    MarkovChain(d=6, L=1, generated=4, train=20),
    MinimalAttention(heads=2),
    Optimizer(name="adamw", learning_rate=1e-2),
    batch=5,
)
TEXT = Run(
    Text(T=12, q=0.5, passage=3, copies=3),
    Transformer(heads=2, width=16, head_width=4, mlp=0, norm="pre", positions="rotary", causal=True),
    Optimizer(name="adamw", learning_rate=1e-2, clip=0.05),
    batch=5,
)
FULL = Run(
    MarkovChain(d=6, L=1, generated=4, train=20),
    dataclasses.replace(PRESETS["paper-b-full"].model, heads=2, width=12, head_width=4, mlp=8, dropout=0.0),
    Optimizer(name="adamw", learning_rate=1e-2, clip=0.05),
    batch=5,
)


def _transformer(run: Run, parameters: dict[str, Any]) -> Any:
    """The peer of a Transformer, with Daybreak's parameters."""
    model, interface = run.model, run.interface
    assert isinstance(model, Transformer)
    embed = (
        torch.nn.Linear(interface.features, model.width)
        if interface.tokens is None
        else torch.nn.Embedding(interface.tokens, model.width)
    )
    network = peer.Transformer(
        embed,
        interface.outputs,
        interface.length,
        layers=model.layers,
        heads=model.heads,
        width=model.width,
        head_width=model.head_width,
        mlp=model.mlp,
        norm=model.norm == "pre",
        causal=model.causal,
        rotary=model.positions == "rotary",
        read_all=len(interface.reads) == interface.length,
    )
    network.load_state_dict(_state(parameters, tokens=interface.tokens is not None), strict=False)
    return network


def _state(parameters: dict[str, Any], tokens: bool) -> dict[str, Any]:
    """Daybreak's parameters, or gradients, under the peer's names and in its layout."""

    def linear(name: str, *parts: dict[str, Any]) -> dict[str, Any]:
        weight = np.concatenate([np.asarray(part["weight"]) for part in parts], axis=1).T
        bias = np.concatenate([np.asarray(part["bias"]) for part in parts])
        return {f"{name}.weight": weight, f"{name}.bias": bias}

    def norm(name: str, part: dict[str, Any]) -> dict[str, Any]:
        return {f"{name}.weight": np.asarray(part["scale"]), f"{name}.bias": np.asarray(part["shift"])}

    state = linear("readout", parameters["readout"])
    if tokens:
        state["embed.weight"] = np.asarray(parameters["embed"]["weight"])
    else:
        state |= linear("embed", parameters["embed"])
    if "norm" in parameters:
        state |= norm("norm", parameters["norm"])
    for key, block in parameters.items():
        if not key.startswith("block"):
            continue
        name = f"blocks.{key.removeprefix('block')}"
        state |= linear(f"{name}.qkv", block["query"], block["key"], block["value"])
        state |= linear(f"{name}.out", block["out"])
        if "up" in block:
            state |= linear(f"{name}.mlp.0", block["up"]) | linear(f"{name}.mlp.2", block["down"])
        for part in ("norm1", "norm2"):
            state |= norm(f"{name}.{part}", block[part]) if part in block else {}
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in state.items()}


def _full(run: Run, parameters: dict[str, Any]) -> Any:
    """The peer of paper B's full model, with Daybreak's parameters."""
    model, interface = run.model, run.interface
    assert isinstance(model, Transformer)
    sizes = {name: getattr(model, name) for name in ("heads", "width", "head_width", "mlp", "dropout")}
    network = peer.FullModel(interface.tokens, interface.length, interface.reads[0], **sizes)
    network.load_state_dict(_full_state(parameters))
    return network


def _full_state(parameters: dict[str, Any]) -> dict[str, Any]:
    block = parameters["block0"]
    joined = np.concatenate([np.asarray(block[part]["weight"]) for part in ("query", "key", "value")], axis=1)
    state = {"qkv": joined, "out": block["out"]["weight"], "mlp.0": block["up"]["weight"]}
    state |= {"mlp.2": block["down"]["weight"], "readout": parameters["readout"]["weight"]}
    state = {f"{name}.weight": np.asarray(x).T for name, x in state.items()}
    for name in ("norm1", "norm2"):
        state |= {f"{name}.weight": block[name]["scale"], f"{name}.bias": block[name]["shift"]}
    state |= {"embed.weight": parameters["embed"]["weight"], "positions": parameters["positions"]}
    return {name: torch.tensor(np.ascontiguousarray(x)) for name, x in state.items()}


def _minimal(run: Run, parameters: Any) -> Any:
    interface = run.interface
    assert isinstance(run.model, MinimalAttention)
    network = peer.MinimalAttention(interface.tokens, interface.length, interface.reads[0], heads=run.model.heads)
    network.load_state_dict(_minimal_state(parameters), strict=False)
    return network


def _minimal_state(parameters: Any) -> dict[str, Any]:
    return {"W": torch.tensor(np.asarray(parameters.W)), "V": torch.tensor(np.asarray(parameters.V))}


RUNS = {"regression": REGRESSION, "recall": RECALL, "markov": MARKOV, "text": TEXT, "full": FULL}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
def test_equal_parameters_give_equal_outputs_gradients_and_steps(run: Run) -> None:
    parameters, examples = _start(run)
    made = _full if run is FULL else _minimal if isinstance(run.model, MinimalAttention) else _transformer
    model = made(run, parameters)

    @jax.jit
    def step(parameters, state):
        def loss(parameters):
            outputs = jax.vmap(lambda x: run.model.apply(parameters, x, run.interface).values)(examples.inputs)
            return jnp.mean(jax.vmap(run.task.loss)(outputs, examples)), outputs

        gradient, outputs = jax.grad(loss, has_aux=True)(parameters)
        return outputs, gradient, *run.optimizer.step(gradient, state, parameters)

    inputs, targets = (_tensor(x) for x in (examples.inputs, examples.target))
    kind = torch.optim.AdamW if run.optimizer.name == "adamw" else torch.optim.Adam
    optimizer = kind(model.parameters(), lr=run.optimizer.learning_rate, fused=True)
    score = peer.regression_loss if run.interface.tokens is None else peer.token_loss
    training = peer.Training(
        model, score, lambda: (inputs, targets), optimizer, compiled=False, clip=run.optimizer.clip
    )
    state = jax.jit(run.optimizer.init)(parameters)
    for _ in range(3):
        ours, gradient, parameters, state = step(parameters, state)
        np.testing.assert_allclose(model(inputs).detach().numpy().reshape(ours.shape), ours, rtol=1e-3, atol=1e-4)
        training.step()
        if run.optimizer.clip:  # PyTorch clips in place
            norm = np.sqrt(sum(float(jnp.sum(x**2)) for x in jax.tree.leaves(gradient)))
            assert norm > run.optimizer.clip
            gradient = jax.tree.map(lambda x, norm=norm: x * run.optimizer.clip / norm, gradient)
        expected = {"gradient": _named(run, gradient), "parameter": _named(run, parameters)}
        assert set(expected["parameter"]) == {name for name, _ in model.named_parameters()}
        for name, value in model.named_parameters():
            for what, theirs in (("gradient", value.grad), ("parameter", value.data)):
                ours = expected[what][name]
                if name.endswith(
                    "qkv.bias"
                ):  # softmax ignores the keys' bias: its gradient is rounding, which Adam amplifies
                    theirs, ours = (torch.cat([x.chunk(3)[0], x.chunk(3)[2]]) for x in (theirs, ours))
                close = 1e-4 * float(abs(ours).max())
                np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=close, err_msg=f"{what} {name}")


def _start(run: Run) -> tuple[Any, Example]:
    """Parameters and a batch. The parameters are noise: the values of `init` do not matter here, and it is slow to compile."""
    random = np.random.default_rng(0)
    shapes = jax.eval_shape(lambda key: run.model.init(key, run.interface), jax.random.key(0))
    parameters = jax.tree.map(lambda x: jnp.asarray(random.normal(0, 0.2, x.shape), jnp.float32), shapes)

    @jax.jit
    def draw(key):
        return jax.vmap(run.task.sample, (0, None))(jax.random.split(key, run.batch), run.task.world(key))

    return parameters, draw(jax.random.key(0))


def _named(run: Run, tree: Any) -> dict[str, Any]:
    if run is FULL:
        return _full_state(tree)
    if isinstance(run.model, MinimalAttention):
        return _minimal_state(tree)
    return _state(tree, run.interface.tokens is not None)


def _tensor(x: Any) -> Any:
    tensor = torch.tensor(np.asarray(x))
    return tensor if tensor.is_floating_point() else tensor.long()


def test_single_location_samples_have_the_task_in_them() -> None:
    task = SingleLocation(T=9, d=4, B=3, p=0.3)
    world = task.world(jax.random.key(0))
    W, repeated = (torch.tensor(np.asarray(x)) for x in (world.W, world.repeated))
    torch.manual_seed(0)
    inputs, targets = peer.single_location(W, repeated, T=9, B=3, p=0.3, batch=4000)
    assert inputs.shape == (4000, 9, 5)
    flagged = inputs[:, :, -1] == 1
    assert (flagged.sum(1) == 3).all()
    tokens = inputs[:, :, :-1][flagged].view(4000, 3, 4)
    assert (tokens == tokens[:, :1]).all()
    torch.testing.assert_close(tokens[:, 0] @ W.T, targets)
    fraction = (tokens[:, 0] == repeated).all(1).float().mean()
    assert fraction == pytest.approx(0.3, abs=0.03)
    assert inputs[:, :, :-1][~flagged].var() == pytest.approx(1 / 4, rel=0.03)
    assert flagged.float().mean(0) == pytest.approx(np.full(9, 1 / 3), abs=0.04)


def test_recall_samples_have_the_task_in_them() -> None:
    """Every answer follows its key, and the query occurs with the task's frequency."""
    N, V, B, batch = 4, 9, 2.0, 4000
    torch.manual_seed(0)
    inputs, targets = (x.numpy() for x in peer.recall(N=N, V=V, B=B, batch=batch))
    assert inputs.shape == (batch, 2 * N + 1)
    keys, values, query = inputs[:, :-1:2], inputs[:, 1:-1:2], inputs[:, -1:]
    placed = keys == query
    assert placed.any(1).all()
    assert (values[placed] == np.broadcast_to(targets[:, None], placed.shape)[placed]).all()
    for row, held, row_values in zip(keys[:200], placed[:200], values[:200], strict=True):
        assert len(set(row[~held])) == len(row[~held])
        assert len(set(row_values[~held])) == len(row_values[~held])
    assert placed.sum(1).mean() == pytest.approx(B / (1 - (1 - B / N) ** N), abs=0.06)
    assert np.bincount(query[:, 0], minlength=V) / batch == pytest.approx(np.full(V, 1 / V), abs=0.03)


def test_text_samples_have_the_task_in_them() -> None:
    """As many sequences repeat as asked, each at one distance among all that fit, and only from the places given."""
    tokens, places = torch.arange(100_000), torch.arange(500, 90_000)
    torch.manual_seed(0)
    inputs, targets = peer.text(tokens, places, T=64, q=0.5, passage=10, copies=4, batch=2000)
    assert (inputs[:, 1:] == targets[:, :-1]).all()
    whole = torch.cat([inputs, targets[:, -1:]], dim=1)
    assert ((whole >= 500) & (whole < 90_064)).all()
    repeated = torch.tensor([len(set(row)) < 65 for row in whole.tolist()])
    assert repeated.float().mean() == pytest.approx(0.5, abs=0.04)
    plain = whole[~repeated]
    assert (plain.diff(dim=1) == 1).all()
    distances = set()
    for row in whole[repeated][:300].tolist():
        first = next(i for i, x in enumerate(row) if row.count(x) == 4)
        again = [i for i, x in enumerate(row) if x == row[first]]
        assert len({b - a for a, b in itertools.pairwise(again)}) == 1
        distances.add(again[1] - again[0])
        assert row[again[3] : again[3] + 10] == row[first : first + 10]
    assert distances == set(range(10, 19))


def test_every_epoch_shows_every_sequence_once() -> None:
    sample = peer.Epochs(torch.arange(12)[:, None], torch.arange(12)[:, None], batch=4)
    epochs = [torch.cat([sample()[0] for _ in range(3)])[:, 0] for _ in range(2)]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(12))
    assert epochs[0].tolist() != epochs[1].tolist()
