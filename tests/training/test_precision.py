"""The precision of a run: a part of its identity, refused where it cannot be had, and without effect on how a run is resumed."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import jax
import numpy as np
import pytest

from daybreak.errors import RequestError
from daybreak.lab import Lab
from daybreak.lab.sweeps import sweep
from daybreak.models import MinimalAttention, Transformer
from daybreak.tasks import MarkovChain, SingleLocation
from daybreak.training import Optimizer, Run, Stop, from_json, hardware, to_json, train
from daybreak.training.train import evaluations
from tests.lab.made import SOURCE

RUN = Run(
    SingleLocation(T=8, d=4),
    Transformer(layers=1, heads=2, width=16, head_width=8, mlp=32),
    Optimizer(learning_rate=0.01),
    Stop(budget=60, every=20, level=0),
)
HALF = replace(RUN, precision="bfloat16")
needs_bfloat16 = pytest.mark.skipif(not hardware.has_bfloat16(), reason="the hardware has no bfloat16")


def test_precision_names_a_run_and_older_runs_keep_their_ids() -> None:
    assert "precision" not in to_json(RUN)
    assert from_json(to_json(HALF)) == HALF
    assert HALF.id != RUN.id


def test_a_model_without_such_products_is_refused() -> None:
    with pytest.raises(
        RequestError, match="precision = 'bfloat16' is not allowed: the model has products in float32 only"
    ):
        Run(MarkovChain(d=5, K=1, L=1), MinimalAttention(), precision="bfloat16")


@needs_bfloat16
def test_training_is_near_that_in_float32_but_not_equal() -> None:
    single, half = (train([run])[0].curves["clean_loss"] for run in (RUN, HALF))
    assert single[0] == half[0], "evaluations have float32, and the start is the same"
    assert single[-1] != half[-1]
    np.testing.assert_allclose(half, single, rtol=0.02)


@needs_bfloat16
def test_a_run_in_bfloat16_goes_on_to_the_same_bits() -> None:
    (whole,) = train([HALF])
    half_way = next(islice(evaluations([HALF]), 1, None)).checkpoint(0)
    again = [progress.steps for progress in evaluations([HALF], {HALF.id: half_way})]
    assert again == [[40], [60]], "it is trained again from the checkpoint on"
    (resumed,) = train([HALF], {HALF.id: half_way})
    assert (resumed.curves["clean_loss"] == whole.curves["clean_loss"]).all()


def test_sweeps_have_it_as_an_axis_and_labs_as_a_column(tmp_path: Path) -> None:
    runs = sweep.runs('preset = "paper-a-regression"\nprecision = ["float32", "bfloat16"]\n', "here")
    assert [run.precision for run in runs] == ["float32", "bfloat16"]
    lab = Lab(tmp_path / "lab").open()
    (record,) = train([RUN])
    for run in (RUN, HALF):
        lab.save(run, record, **SOURCE)
    assert sorted(lab.query()["precision"].to_pylist()) == ["bfloat16", "float32"]


def test_hardware_without_bfloat16_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if jax.default_backend() != "cpu":
        pytest.skip("reads the features of a processor")
    about = tmp_path / "cpuinfo"
    monkeypatch.setattr(hardware, "_CPU", about)
    for flags, has in (("fpu avx2 avx512f", False), ("fpu avx512f avx512_bf16", True), ("amx_bf16 amx_tile", True)):
        about.write_text(f"processor : 0\nmodel name : a\nflags : {flags}\n\nprocessor : 1\nflags : none\n")
        assert hardware.has_bfloat16() is has
    about.unlink()
    assert not hardware.has_bfloat16(), "not known of other systems"
    with pytest.raises(
        RequestError, match="not allowed on this machine: its CPU is not known to multiply bfloat16"
    ) as refused:
        train([HALF])
    assert str(refused.value).count("\n") == 0
