"""Runs are plain data, named by content, and bad ones are refused."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from daybreak.errors import RequestError, UnknownKind
from daybreak.models import MinimalAttention, ToyAttention, Transformer
from daybreak.tasks import MarkovChain, SingleLocation
from daybreak.training import Optimizer, Run, Stop, from_json, shape, to_json, train
from daybreak.training.run import _plain

RUNS = [
    Run(SingleLocation(T=8, d=4, B=2), Transformer(), Optimizer(learning_rate=3e-4), Stop(budget=7), seed=5),
    Run(MarkovChain(L=2, weights=(0.7, 0.3)), MinimalAttention(epsilon=0.0), Optimizer(name="adamw", clip=1.0)),
]


@pytest.mark.parametrize("run", RUNS)
def test_json_round_trip_keeps_the_name(run: Run) -> None:
    again = from_json(json.loads(json.dumps(to_json(run))))
    assert again == run
    assert again.id == run.id
    assert len(run.id) == 16


def test_names_differ_where_runs_do() -> None:
    base = Run(SingleLocation(T=8, d=4), Transformer())
    others = [
        Run(SingleLocation(T=8, d=4), Transformer(), seed=1),
        Run(SingleLocation(T=8, d=4, p=0.1), Transformer()),
        Run(SingleLocation(T=8, d=4), Transformer(), batch=16),
        Run(SingleLocation(T=8, d=4), Transformer(), Optimizer(learning_rate=2e-4)),
    ]
    assert len({run.id for run in (base, *others)}) == 5
    assert [shape(run) == shape(base) for run in others] == [True, True, False, True]


def test_a_name_does_not_depend_on_how_a_number_was_written() -> None:
    one, other = (Run(SingleLocation(T=8, d=4, B=B), Transformer()) for B in (2, np.float64(2.0)))
    assert one.id == other.id


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Optimizer(learning_rate=float("nan")), "learning_rate = nan is not allowed"),
        (lambda: Optimizer(learning_rate=-1.0), "learning_rate = -1.0 is not allowed"),
        (lambda: Optimizer(name="lion"), "optimizer name = 'lion' is unknown"),  # type: ignore[arg-type]
        (lambda: Stop(budget=0), "budget = 0 is not allowed"),
        (lambda: Stop(level=-1), "level = -1 is not allowed"),
        (lambda: Run(SingleLocation(T=8, d=4), Transformer(), batch=0), "batch = 0 is not allowed"),
        (lambda: from_json({"schema": 99}), "schema 99 of a run"),
        (lambda: from_json({"schema": 0}), "schema = 0 is not allowed"),
    ],
)
def test_bad_requests(make, said: str, as_a_user) -> None:
    with pytest.raises(RequestError, match=said):
        make()


def test_a_setting_that_came_later_leaves_the_names_of_older_runs_alone() -> None:
    @dataclass(frozen=True)
    class Rule:
        rate: float = 0.1
        decay: float = field(default=0.0, metadata={"later": True})

    assert _plain(Rule()) == {"rate": 0.1}
    assert _plain(Rule(decay=0.5)) == {"rate": 0.1, "decay": 0.5}


@pytest.mark.parametrize(("task", "model"), [(SingleLocation(), MinimalAttention()), (MarkovChain(), ToyAttention())])
def test_a_run_whose_model_cannot_learn_its_task_cannot_be_made(task, model) -> None:
    with pytest.raises(RequestError, match="is not allowed with this task"):
        Run(task, model)


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 50))
@example(20, 5)
@example(3, 50)
def test_a_run_is_evaluated_at_the_steps_of_its_stop_rule(budget: int, every: int) -> None:
    stop = Stop(budget=budget, every=every, level=0.0)
    (record,) = train([Run(SingleLocation(T=4, d=2), ToyAttention(), stop=stop, batch=2, evaluation=2)])
    assert record.steps.tolist() == list(stop.steps())
    assert record.steps[0] == 0
    assert record.steps[-1] == budget
    assert set(np.diff(record.steps)[:-1]) <= {every}
    assert np.diff(record.steps)[-1] <= every


@pytest.mark.parametrize("seed", [2**31, -(2**31), 99999999999999999999])
def test_a_seed_that_no_network_can_be_drawn_from_is_refused(seed: int) -> None:
    with pytest.raises(RequestError, match=f"seed = {seed} is not allowed: it must lie between"):
        Run(SingleLocation(T=8, d=4), Transformer(), seed=seed)
    assert Run(SingleLocation(T=8, d=4), Transformer(), seed=2**31 - 1).seed == 2**31 - 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"task": {"name": "needle"}}, "task 'needle'"),
        ({"model": {"name": "mamba", "width": 3}}, "model 'mamba'"),
        ({"model": {}}, "model"),
        ({"optimizer": {"name": "adam", "shampoo": 1}}, "setting 'shampoo' of the optimizer"),
        ({"rounding": "stochastic"}, "setting 'rounding' of the run"),
    ],
)
def test_what_is_not_known_here_is_named(change: dict, what: str) -> None:
    with pytest.raises(UnknownKind, match=f"{what} is not known here: install the extension .* or update") as unknown:
        from_json(to_json(Run(SingleLocation(T=4, d=2), Transformer())) | change)
    assert unknown.value.what == what
