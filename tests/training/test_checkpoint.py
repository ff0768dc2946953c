"""Checkpoints: what is packed comes back bit for bit, and what is damaged is never taken up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load

from daybreak.models import Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import DamagedCheckpoint, Optimizer, Run, Stop, evaluations, train
from daybreak.training.checkpoint import pack, unpack

LEARNER = {"weight": np.arange(6, dtype=np.float32).reshape(2, 3), "step": np.array(7)}
CURVES = {"clean_loss": np.array([0.5, 0.25], np.float32), "attention": np.ones((2, 1, 2), np.float32)}
PACKED = pack("a" * 16, LEARNER, CURVES)


def test_what_is_packed_comes_back() -> None:
    learner, curves, _ = unpack("a" * 16, LEARNER, PACKED)
    for name, x in LEARNER.items():
        np.testing.assert_array_equal(learner[name], x)
    assert curves.keys() == CURVES.keys()
    np.testing.assert_array_equal(curves["attention"], CURVES["attention"])


def test_any_reader_of_the_format_finds_the_weights() -> None:
    np.testing.assert_array_equal(load(PACKED)["learner.weight"], LEARNER["weight"])


@given(st.integers(0, len(PACKED) - 1))
def test_a_truncated_checkpoint_is_refused(length: int) -> None:
    with pytest.raises(DamagedCheckpoint, match="run aaaaaaaaaaaaaaaa is unusable"):
        unpack("a" * 16, LEARNER, PACKED[:length])


@given(st.integers(0, len(PACKED) - 1), st.integers(0, 7))
def test_a_flipped_bit_is_noticed_or_harmless(at: int, bit: int) -> None:
    """Harmless: white space of the header. Whatever is accepted is what was packed."""
    flipped = bytearray(PACKED)
    flipped[at] ^= 1 << bit
    try:
        learner, curves, _ = unpack("a" * 16, LEARNER, bytes(flipped))
    except DamagedCheckpoint:
        return
    np.testing.assert_array_equal(learner["weight"], LEARNER["weight"])
    np.testing.assert_array_equal(curves["clean_loss"], CURVES["clean_loss"])


@pytest.mark.parametrize(
    ("run_id", "like", "why"),
    [("b" * 16, LEARNER, "belongs to run"), ("a" * 16, {"weight": np.zeros((3, 3))}, "do not fit the run's model")],
)
def test_the_checkpoint_of_another_run_is_refused(run_id: str, like: dict, why: str) -> None:
    with pytest.raises(DamagedCheckpoint, match=why):
        unpack(run_id, like, PACKED)


def _run(seed: int, budget: int = 40) -> Run:
    return Run(
        SingleLocation(T=6, d=3),
        Transformer(heads=2, width=16, head_width=8, mlp=32, dropout=0.1),
        Optimizer(learning_rate=1e-3),
        Stop(budget=budget, every=10, level=0.0),
        seed=seed,
        batch=8,
        evaluation=32,
    )


def test_an_interrupted_run_resumes_to_the_same_record_bit_for_bit() -> None:
    """Stopped after some of its evaluations, the last one among them, and taken up alone or in other company."""
    runs = [_run(0), _run(1)]
    whole = train(runs)
    kept = [{run.id: progress.checkpoint(i) for i, run in enumerate(runs)} for progress in evaluations(runs)]
    for checkpoints in (kept[0], kept[2], kept[-1], {runs[0].id: kept[1][runs[0].id], runs[1].id: kept[3][runs[1].id]}):
        for record, again in zip(whole, train(runs, checkpoints), strict=True):
            assert again.outcome == record.outcome
            np.testing.assert_array_equal(again.steps, record.steps)
            for name, curve in record.curves.items():
                np.testing.assert_array_equal(again.curves[name], curve, err_msg=name)
    (alone,) = train([runs[1]], kept[1])
    for name, curve in whole[1].curves.items():
        np.testing.assert_array_equal(alone.curves[name], curve, err_msg=name)


def test_a_damaged_checkpoint_stops_a_cohort_before_it_trains() -> None:
    run = _run(0)
    with pytest.raises(DamagedCheckpoint) as caught:
        train([run], {run.id: b"rubbish"})
    assert caught.value.run_id == run.id
