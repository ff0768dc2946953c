"""The code in CONTRIBUTING.md and docs/guides/own.md works as it is written there."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from daybreak import models, tasks
from daybreak.models import Transformer
from daybreak.studies import reproduce
from daybreak.training import Optimizer, Run, Stop, train
from tests import own

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()


def test_the_task_is_learned_by_a_transformer_whose_attention_finds_the_needle(tmp_path: Path) -> None:
    task = tasks.find("needle.py:Needle", own.write(tmp_path))
    model = Transformer(layers=2, heads=1, width=32, head_width=32, mlp=0, positions="one-hot")
    stop = Stop(budget=600, every=100, level=0.95)
    run = Run(task(T=5, V=4), model, Optimizer(learning_rate=3e-3), stop, batch=64)
    (record,) = train([run])
    assert record.outcome == "emerged"
    assert record.curves["attention"][0].max() < 0.4
    assert record.curves["attention"][-1].max() > 0.7


def test_the_model_is_trained_on_it(tmp_path: Path) -> None:
    own.write(tmp_path)
    task, model = tasks.find("needle.py:Needle", tmp_path)(T=5, V=4), models.find("bag.py:Bag", tmp_path)()
    run = Run(task, model, Optimizer(learning_rate=3e-2), Stop(budget=200, every=200, level=0.0), batch=64)
    (record,) = train([run])
    loss = record.curves["clean_loss"]
    assert loss[0] == pytest.approx(task.guess().loss, abs=0.02)
    assert loss[-1] < loss[0] - 0.03, "the answer is one of the tokens that are there"
    assert record.curves["attention"][-1] < 0.5, "without positions it cannot be known which"


def test_the_study_is_carried_out(tmp_path: Path) -> None:
    found = re.search(r"^## Add a study$.*?```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    (tmp_path / "example.py").write_text(found[1])
    spec = spec_from_file_location("example", tmp_path / "example.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    done = reproduce(module.STUDY, "smoke", tmp_path)
    assert [claim.verdict for claim in done.findings.claims] == ["holds"]


@pytest.mark.parametrize("code", [own.NEEDLE, own.BAG])
def test_an_example_is_short(code: str) -> None:
    assert 10 < code.count("\n") < 60
