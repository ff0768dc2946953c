"""Schedules of repetition: which examples repeat at which step, and a run keeps its id and its record."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.models import MinimalAttention, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, Recall, SingleLocation
from daybreak.training import Optimizer, Run, Schedule, Stop, evaluations, from_json, to_json, train
from daybreak.training.schedule import with_repetition

TINY = Transformer(heads=2, width=16, head_width=8, mlp=32)
ADAPTIVE = Schedule(name="adaptive")


def _run(schedule: Schedule = ADAPTIVE, **changes) -> Run:
    settings = {
        "task": SingleLocation(T=6, d=3, B=3, p=0.5),
        "model": TINY,
        "optimizer": Optimizer(learning_rate=0.01),
        "stop": Stop(budget=60, every=10, level=0.0),
        "batch": 8,
        "evaluation": 32,
        "schedule": schedule,
    }
    return Run(**settings | changes)


def _fraction(schedule: Schedule, step: int, repeats: bool = True) -> float:
    return float(schedule.fraction(jnp.array(step), jnp.array(repeats)))


def test_fractions() -> None:
    assert [_fraction(Schedule(), step) for step in (0, 10_000)] == [1, 1]
    assert [_fraction(Schedule("switch", 30), step) for step in (0, 29, 30, 99)] == [1, 1, 0, 0]
    assert [_fraction(Schedule("ramp", 40), step) for step in (0, 10, 30, 40, 99)] == [1, 0.75, 0.25, 0, 0]
    assert [_fraction(ADAPTIVE, 5, repeats) for repeats in (True, False)] == [1, 0]


@pytest.mark.parametrize("task", [SingleLocation(T=6, d=3, B=3, p=0.9), Recall(N=4, V=8, B=3, p=0.9)], ids=type)
def test_an_example_repeats_as_the_task_says_or_not_at_all(task) -> None:
    world = task.world(jax.random.key(0))
    plain = replace(task, B=1.0, p=0.0)
    for seed in range(5):
        key = jax.random.key(seed)
        for repeats, same in ((True, task), (False, plain)):
            shown = jax.jit(lambda repeats, key=key: with_repetition(task, repeats).sample(key, world))(
                jnp.array(repeats)
            )
            for x, y in zip(shown, same.sample(key, world), strict=True):
                np.testing.assert_allclose(x, y, atol=1e-6)


def test_a_switch_is_the_constant_run_until_then() -> None:
    """Record for record the same before step 30, another after it; and the record says what was shown."""
    (constant,), (switched,) = train([_run(Schedule())]), train([_run(Schedule("switch", 30))])
    np.testing.assert_allclose(
        switched.curves["clean_loss"][:4], constant.curves["clean_loss"][:4], rtol=2e-5, atol=1e-6
    )
    assert not np.allclose(switched.curves["clean_loss"][5:], constant.curves["clean_loss"][5:], rtol=1e-3)
    assert switched.curves["repetition"].tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert "repetition" not in constant.curves


def test_a_ramp_shows_less_and_less() -> None:
    (record,) = train([_run(Schedule("ramp", 40))])
    np.testing.assert_allclose(record.curves["repetition"], [1, 0.75, 0.5, 0.25, 0, 0, 0])
    clean, repeated = record.curves["clean_loss"], record.curves["repeated_loss"]
    expected = record.curves["repetition"] * repeated + (1 - record.curves["repetition"]) * clean
    np.testing.assert_allclose(record.curves["train_loss"], expected, rtol=1e-6)


def test_an_adaptive_run_repeats_then_emerges() -> None:
    """The toy model, whose plateau on repeated data is shorter: repetition is taken away once, and the clean loss falls."""
    run = Run(
        task=SingleLocation(T=32, d=16, B=8, position="fixed", feature=False),
        model=ToyAttention(),
        optimizer=Optimizer(name="sgd", learning_rate=1.0),
        stop=Stop(budget=2000, every=5, level=0.1, margin=0.2),
        batch=32,
        schedule=ADAPTIVE,
    )
    (record,) = train([run])
    shown = record.curves["repetition"]
    assert record.outcome == "emerged"
    assert np.all(np.diff(shown) <= 0)
    assert (shown[0], shown[-1]) == (1, 0)
    at = int(np.argmin(shown))
    loss = record.curves["repeated_loss"]
    assert loss[at - 1] <= 0.2 * loss[0]
    like_training, clean = record.curves["train_loss"], record.curves["clean_loss"]
    np.testing.assert_array_equal(like_training, np.where(shown == 1, loss, clean))
    assert np.all(clean[at:] != loss[at:]), "the data that are no longer trained on give another loss"


@pytest.mark.parametrize(
    "schedule", [ADAPTIVE, Schedule("switch", 30), Schedule("ramp", 40), Schedule("budget")], ids=lambda x: x.name
)
def test_it_survives_an_interruption_and_company_does_not_change_it(schedule: Schedule) -> None:
    run = _run(schedule, stop=Stop(budget=120, every=5, level=0.01))
    (whole,) = train([run])
    seen = next(progress for progress in evaluations([run]) if progress.steps == [60])
    (resumed,) = train([run], resume={run.id: seen.checkpoint(0)})
    first, _ = train([run, replace(run, seed=1, task=SingleLocation(T=6, d=3, B=2))])
    for name, curve in whole.curves.items():
        np.testing.assert_array_equal(curve, resumed.curves[name], err_msg=name)
        np.testing.assert_allclose(curve, first.curves[name], rtol=2e-4, atol=1e-5, err_msg=name)


def test_it_is_part_of_the_run() -> None:
    runs = [
        _run(x) for x in (Schedule(), ADAPTIVE, Schedule("switch", 30), Schedule("switch", 31), Schedule("ramp", 30))
    ]
    assert len({run.id for run in runs}) == len(runs)
    assert all(from_json(to_json(run)).id == run.id for run in runs)
    assert "schedule" not in to_json(runs[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Schedule("switch"), "switch_at = 0"),
        (lambda: Schedule("adaptive", 10), "switch_at = 10.*'switch' and 'ramp'"),
        (lambda: Schedule("switch", -3), "switch_at = -3"),
        (lambda: Schedule("switch", float("nan")), "switch_at = nan"),
        (lambda: Schedule("adaptive", restore_below=1.0), "restore_below = 1.0"),
        (lambda: _run(task=SingleLocation(T=6, d=3)), "at B = 1, p = 0: the task has no repetition"),
        (lambda: Run(MarkovChain(L=2), MinimalAttention(), schedule=ADAPTIVE), "at q = 0: the task has no repetition"),
        (lambda: _run(Schedule("budget")), "level = 0"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        make()
