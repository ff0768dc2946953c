"""Runs on text: their ids, their stop rule, their schedules, workers that have no text, and the networks that learn from it."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daybreak.lab.compute import messages
from daybreak.models import Transformer
from daybreak.tasks import SingleLocation, Text, corpus
from daybreak.training import Optimizer, Run, Schedule, Stop, canonical, from_json, to_json, train
from daybreak.training.presets import PRESETS

NAME, SIZE = corpus.add(np.random.default_rng(1).integers(0, 12, 3000))
MODEL = Transformer(layers=1, heads=2, width=8, head_width=4, mlp=0, norm="pre", positions="rotary", causal=True)


def _run(**settings) -> Run:
    usual = {
        "task": Text(NAME, SIZE, T=12, q=0.5),
        "model": MODEL,
        "optimizer": Optimizer(name="adamw", learning_rate=0.01, clip=1.0, warmup=3),
        "stop": Stop(budget=8, every=2, level=0.99, watch="attention"),
        "batch": 4,
        "evaluation": 8,
    }
    return Run(**usual | settings)


def test_settings_that_were_added_later_are_left_out_at_their_defaults() -> None:
    plain = to_json(Run(SingleLocation(), Transformer()))
    assert "watch" not in plain["stop"]
    assert "warmup" not in plain["optimizer"]
    text = to_json(_run())
    assert text["stop"]["watch"] == "attention"
    assert text["optimizer"]["warmup"] == 3
    assert "held_out" not in text["task"]
    assert text["task"]["text"] == NAME
    assert from_json(json.loads(canonical(_run()))).id == _run().id


def test_the_id_depends_on_the_text_and_not_on_its_path(tmp_path) -> None:
    ids = []
    for path, content in (("a.txt", "one two three. "), ("b.txt", "one two three. "), ("c.txt", "one two four. ")):
        (tmp_path / path).write_text(content * 400)
        ids.append(_run(task=Text(str(tmp_path / path), 300, T=12)).id)
    assert ids[0] == ids[1] != ids[2]


def test_a_record_has_the_probes_and_ends_by_attention() -> None:
    low, high = train([_run(stop=Stop(budget=8, every=2, level=x, watch="attention")) for x in (0.01, 0.99)])
    assert high.outcome == "censored"
    assert low.outcome == "emerged"
    assert low.steps.tolist() == [0]
    for name in ("attention", "entropy", "previous_token", "duplicate_token"):
        assert high.curves[name].shape == (5, 1, 2)
    for name in ("in_context_score", "second_copy_loss", "clean_accuracy", "train_loss"):
        assert high.curves[name].shape == (5,)


def test_a_schedule_takes_the_repetition_away() -> None:
    """Until the switch data repeat, afterwards none: a run that never repeats ends elsewhere, one that always does too."""
    switched, constant = train([_run(schedule=Schedule(name="switch", switch_at=4))])[0], train([_run()])[0]
    assert switched.curves["repetition"].tolist() == [1, 1, 0, 0, 0]
    assert switched.curves["clean_loss"][2] == pytest.approx(constant.curves["clean_loss"][2], rel=1e-5)
    assert switched.curves["clean_loss"][4] != pytest.approx(constant.curves["clean_loss"][4], rel=1e-6)


def test_warm_up_grows_linearly_and_then_stays() -> None:
    """Steps of SGD on a constant gradient."""
    parameters, gradient = jnp.zeros(1), jnp.ones(1)
    warm, plain = (Optimizer(name="sgd", learning_rate=0.5, warmup=x) for x in (4, 0))
    for optimizer, expected in ((warm, [0.25, 0.5, 0.75, 1, 1]), (plain, [1] * 5)):
        x, state, sizes = parameters, optimizer.init(parameters), []
        for _ in expected:
            y, state = optimizer.step(gradient, state, x)
            sizes.append(float(x[0] - y[0]) / 0.5)
            x = y
        np.testing.assert_allclose(sizes, expected, rtol=1e-6)
    assert jax.tree.leaves(plain.init(parameters)) == []  # old checkpoints have no step in the optimizer's state


def test_a_job_takes_the_text_with_it(monkeypatch) -> None:
    """To a worker that has neither the file nor a cache."""
    job = messages.Job((_run(), dataclasses.replace(_run(), seed=1)), {_run().id: b"abc"}, 30.0)
    data = messages.encode(job)
    before = corpus.corpus(NAME, SIZE)
    monkeypatch.setattr(corpus, "_KNOWN", {})
    got = messages.decode(data)
    assert got == job
    after = corpus.corpus(NAME, SIZE)
    assert after is not before
    assert (after.tokens == before.tokens).all()
    assert after.words == before.words
    assert (
        len(messages.encode(messages.Job((PRESETS["text-induction"],), {}, 1.0))) < 2000
    )  # the shipped one stays at home


def test_the_preset_is_what_the_guide_says() -> None:
    run = PRESETS["text-induction"]
    assert isinstance(run.model, Transformer)
    assert isinstance(run.task, Text)
    assert (run.model.layers, run.model.mlp, run.model.positions, run.task.T, run.batch) == (2, 0, "rotary", 64, 16)
    assert run.stop.watch == "attention"
    assert run.task.probe_length is None  # 32, and no training distance is: attention by position does not count
    assert max(run.task._distances) < run.task._probe_length
    assert from_json(to_json(run)).id == run.id
