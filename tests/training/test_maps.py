"""Attention maps around the transition: a bounded number, dense where it counts, whatever the budget or an interruption."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from daybreak.models import ToyAttention, Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Optimizer, Run, Stop, evaluations
from daybreak.training.maps import MapHistory, ProbeMaps, decode, encode
from daybreak.training.train import Progress

TOY = Run(
    task=SingleLocation(T=8, d=4, position="fixed", feature=False),
    model=ToyAttention(),
    optimizer=Optimizer(name="sgd", learning_rate=1.0),
    stop=Stop(budget=400, every=1, level=0.1, margin=0.5),
    batch=16,
    evaluation=16,
)


def _history(stop: Stop, last: int, emerged: int | None = None) -> list[int]:
    history = MapHistory(stop)
    for step in range(0, last + 1, stop.every):
        known = emerged if emerged is not None and step >= emerged else None
        if history.wants(step, known):
            history.add(step, known, ProbeMaps((np.zeros((1, 1, 1, 2), np.float16),), np.zeros((1, 1, 2), bool), [0]))
    return history.steps


@given(st.integers(1, 20), st.integers(0, 2000))
def test_the_number_of_steps_is_bounded(every: int, count: int) -> None:
    emerged = every * count
    margin = 0.2
    steps = _history(Stop(every=every, level=0.1, margin=margin), int(emerged * (1 + margin)), emerged)
    assert steps == sorted(set(steps))
    assert len(steps) <= 24 + 9
    assert {0, emerged} <= set(steps)


def test_they_are_dense_before_emergence_and_sparse_long_before() -> None:
    steps = np.array(_history(Stop(every=10, level=0.1, margin=0.2), 12_000, 10_000))
    ages, gaps = 10_000 - steps[steps <= 10_000], np.diff(steps[steps <= 10_000])
    assert ages.size == 24
    assert gaps[-1] == 10
    assert np.all(gaps[1:-1] <= np.maximum(ages[1:-2], 10)), "a gap is never longer than what is left"
    assert np.count_nonzero(ages <= 1000) >= 8
    assert np.all(np.diff(steps[steps >= 10_000]) == 250)


def test_without_a_level_they_are_spread_evenly() -> None:
    steps = _history(Stop(every=10, level=0.0), 5000)
    assert len(steps) == 24
    assert np.diff(steps).max() <= 4 * np.diff(steps).min()


def _end(run: Run, resume: dict[str, bytes] | None = None) -> Progress:
    *_, last = evaluations([run], resume, keep_maps=True)
    return last


def test_they_show_attention_that_turns_from_uniform_to_sparse_and_survive_an_interruption() -> None:
    whole = _end(TOY)
    maps = decode(encode(whole.maps(0)))
    assert whole.outcomes == ["emerged"]
    (layer,) = maps.layers
    assert layer.shape == (maps.steps.size, 8, 1, 1, 8)
    np.testing.assert_allclose(layer[0], 1 / 8, rtol=1e-3)
    to_relevant = (layer[:, :, 0] * maps.relevant).sum(axis=(2, 3)).mean(axis=1)
    kept = np.isin(whole.record(0).steps, maps.steps)
    np.testing.assert_allclose(to_relevant, whole.record(0).curves["attention"][kept, 0, 0], atol=2e-3)
    assert maps.steps.size < whole.steps[0], "some were dropped"
    middle = next(x for x in evaluations([TOY], keep_maps=True) if 3 * x.steps[0] > 2 * whole.steps[0])
    resumed = _end(TOY, {TOY.id: middle.checkpoint(0)})
    assert encode(resumed.maps(0)) == encode(whole.maps(0))


def test_training_is_the_same_with_and_without_them() -> None:
    """Of a network with layers that have a row for each position, and two examples that fit."""
    run = Run(
        SingleLocation(T=6, d=3),
        Transformer(heads=2, width=16, head_width=8, mlp=32),
        stop=Stop(budget=30, every=10, level=0.0),
        batch=8,
        evaluation=2,
    )
    *_, plain = evaluations([run])
    maps = _end(run)
    for name, curve in plain.record(0).curves.items():
        np.testing.assert_array_equal(maps.record(0).curves[name], curve, err_msg=name)
    kept = decode(encode(maps.maps(0)))
    assert kept.steps.tolist() == [0, 10, 20, 30]
    assert [x.shape for x in kept.layers] == [(4, 2, 2, 6, 6), (4, 2, 2, 1, 6)]
    assert [kept.at_reads(i).shape for i in (0, 1)] == [(4, 2, 2, 1, 6)] * 2
    assert kept.reads.tolist() == list(run.interface.reads)
