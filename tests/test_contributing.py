"""The code in CONTRIBUTING.md works as it is written there."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from daybreak.models import Transformer
from daybreak.studies import reproduce
from daybreak.training import Optimizer, Run, Stop, train

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()


@pytest.fixture
def written(tmp_path: Path):
    """The example under a heading, as a module."""

    def module(heading: str) -> ModuleType:
        found = re.search(rf"^## {heading}$.*?```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
        assert found is not None
        file = tmp_path / "example.py"
        file.write_text(found[1])
        assert found[1].count("\n") < 60
        spec = spec_from_file_location("example", file)
        assert spec is not None
        assert spec.loader is not None
        made = module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return module


def test_the_task_is_learned_by_a_transformer_whose_attention_finds_the_needle(written) -> None:
    model = Transformer(layers=2, heads=1, width=32, head_width=32, mlp=0, positions="one-hot")
    stop = Stop(budget=600, every=100, level=0.95)
    run = Run(written("Add a task").Needle(T=5, V=4), model, Optimizer(learning_rate=3e-3), stop, batch=64)
    (record,) = train([run])
    assert record.outcome == "emerged"
    assert record.curves["attention"][0].max() < 0.4
    assert record.curves["attention"][-1].max() > 0.7


def test_the_model_is_trained_on_it(written) -> None:
    task, model = written("Add a task").Needle(T=5, V=4), written("Add a model").Bag()
    run = Run(task, model, Optimizer(learning_rate=3e-2), Stop(budget=200, every=200, level=0.0), batch=64)
    (record,) = train([run])
    loss = record.curves["clean_loss"]
    assert loss[0] == pytest.approx(task.guess().loss, abs=0.02)
    assert loss[-1] < loss[0] - 0.03, "the answer is one of the tokens that are there"
    assert record.curves["attention"][-1] < 0.5, "without positions it cannot be known which"


def test_the_study_is_carried_out(written, tmp_path: Path) -> None:
    done = reproduce(written("Add a study").STUDY, "smoke", tmp_path)
    assert [claim.verdict for claim in done.findings.claims] == ["holds"]
