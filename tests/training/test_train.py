"""Cohorts: a member is what it would be alone, records do not depend on grouping, and the toy model obeys its theory."""

import jax.numpy as jnp
import numpy as np
import pytest

from daybreak import measure, theory
from daybreak.errors import RequestError
from daybreak.models import MinimalAttention, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation
from daybreak.training import Optimizer, Run, Stop, cohort, train

TINY = Transformer(heads=2, width=16, head_width=8, mlp=32)
SHORT = Stop(budget=50, every=10, level=0.0)


def _run(**changes) -> Run:
    settings = {"task": SingleLocation(T=6, d=3), "model": TINY, "stop": SHORT, "batch": 8, "evaluation": 32}
    return Run(**settings | changes)


def _programs() -> int:
    return cohort.advance._cache_size()  # pyright: ignore[reportAttributeAccessIssue]


def test_a_member_is_what_it_would_be_alone() -> None:
    """To the last bit after 50 steps, though seeds, learning rates, repetition and initial scales differ."""
    runs = [
        _run(seed=3),
        _run(seed=4, optimizer=Optimizer(learning_rate=3e-3)),
        _run(seed=4, task=SingleLocation(T=6, d=3, B=2, p=0.5)),
        _run(seed=3, model=Transformer(heads=2, width=16, head_width=8, mlp=32, readout_scale=0.1)),
    ]
    together = train(runs)
    for run, record in zip(runs, together, strict=True):
        (alone,) = train([run])
        np.testing.assert_array_equal(record.steps, alone.steps)
        for name, curve in record.curves.items():
            np.testing.assert_array_equal(curve, alone.curves[name], err_msg=name)
    ends = [record.curves["clean_loss"][-1] for record in together]
    assert len(set(np.round(ends, 6).tolist())) == 4


def test_how_steps_are_grouped_does_not_matter() -> None:
    (coarse,), (fine,) = train([_run()]), train([_run(stop=Stop(budget=50, every=5, level=0.0))])
    for name, curve in coarse.curves.items():
        np.testing.assert_array_equal(curve, fine.curves[name][::2], err_msg=name)


def test_one_program_for_all_scalars_lengths_and_sizes_of_a_cohort() -> None:
    train([_run(seed=s) for s in (0, 1, 2)])
    before = _programs()
    train(
        [_run(seed=9, task=SingleLocation(T=6, d=3, B=3, p=0.1), optimizer=Optimizer(learning_rate=1e-2)), _run(seed=8)]
    )
    assert _programs() == before


def test_a_run_that_diverges_does_not_harm_the_others() -> None:
    wild = _run(optimizer=Optimizer(name="sgd", learning_rate=1e6))
    tame = _run(optimizer=Optimizer(name="sgd", learning_rate=1e-3))
    lost, kept = train([wild, tame])
    assert lost.outcome == "diverged"
    assert lost.steps[-1] < 50
    assert kept.outcome == "completed", "it has no level, and ended as asked"
    np.testing.assert_array_equal(kept.curves["clean_loss"], train([tame])[0].curves["clean_loss"])


def test_the_trained_toy_model_emerges_when_its_theory_says() -> None:
    """SGD of rate one on sampled sequences against the flow of the full model, for each of two seeds within 10 %."""
    T, d = 16, 32
    run = Run(
        task=SingleLocation(T=T, d=d, position="fixed", feature=False),
        model=ToyAttention(),
        optimizer=Optimizer(name="sgd", learning_rate=1.0),
        stop=Stop(budget=1000, every=5, level=0.1, margin=0.5),
        batch=64,
        evaluation=256,
    )
    for record in train([run, Run(run.task, run.model, run.optimizer, run.stop, 1, run.batch, run.evaluation)]):
        assert record.outcome == "emerged"
        plateau = measure.plateau(record.steps, record.curves["clean_loss"], level=0.1)
        assert plateau.length == pytest.approx(float(theory.plateau(T, d)), rel=0.1)
        assert record.steps[-1] >= 1.5 * plateau.bracket[0]
        attention = record.curves["attention"][:, 0, 0]
        assert attention[0] == pytest.approx(1 / T, rel=1e-5)
        assert attention[-1] > 0.8


@pytest.mark.parametrize(
    ("task", "model", "optimizer"),
    [
        (Recall(N=3, V=8), TINY, Optimizer(learning_rate=1e-2)),
        (SingleLocation(T=6, d=3), TINY, Optimizer(name="sgd", learning_rate=0.1, momentum=0.5)),
        (
            MarkovChain(d=5, L=1, generated=4, train=40, validation=30),
            MinimalAttention(epsilon=0.1),
            Optimizer(name="adamw", learning_rate=1e-2, clip=1.0),
        ),
    ],
)
def test_every_task_and_optimizer_learns_something(task, model, optimizer: Optimizer) -> None:
    stop, before = Stop(budget=80, every=40, level=0.0), _programs()
    (record,) = train([_run(task=task, model=model, optimizer=optimizer, stop=stop, batch=16)])
    assert _programs() == before + 1  # what is compiled while worlds are drawn is what trains
    assert record.curves["train_loss"][-1] < record.curves["train_loss"][0]
    accuracies = set() if task.guess().accuracy is None else {"clean_accuracy", "train_accuracy"}
    probes = {"attention", "entropy", *task.circuits()} | ({"kl"} if isinstance(task, MarkovChain) else set())
    assert set(record.curves) == {"clean_loss", "train_loss"} | probes | accuracies


def test_runs_of_different_shape_are_refused() -> None:
    with pytest.raises(RequestError, match="differ only in seed"):
        train([_run(), _run(batch=9)])
    with pytest.raises(RequestError, match="at least one run"):
        train([])


def test_in_parts_a_gradient_is_the_same() -> None:
    def gradient(part):
        x, y = part
        return {"slope": jnp.mean(x * y), "offset": jnp.mean(y)}

    data = jnp.arange(12.0), jnp.arange(12.0)[::-1] ** 2
    for parts in (1, 2, 3, 6):
        found = cohort._mean(gradient, data, parts)
        for name, whole in gradient(data).items():
            np.testing.assert_allclose(found[name], whole, rtol=1e-6)


def test_a_training_set_smaller_than_a_batch_is_taken_whole() -> None:
    """Every step sees all of it, so a batch of its size and a larger one are the same run."""
    task = MarkovChain(d=5, L=1, generated=4, train=12, validation=10)
    model, stop = MinimalAttention(epsilon=0.1), Stop(budget=20, every=10, level=0.0)
    small, large = (train([_run(task=task, model=model, stop=stop, batch=batch)])[0] for batch in (12, 500))
    np.testing.assert_allclose(small.curves["clean_loss"], large.curves["clean_loss"], rtol=1e-6)
