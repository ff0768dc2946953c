"""Packing: every run once, equal shapes together, within memory and share, long ones first; costs by hand count."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daybreak.lab.compute import cohorts
from daybreak.lab.compute.cost import cost
from daybreak.models import ToyAttention, Transformer
from daybreak.tasks import MarkovChain, SingleLocation
from daybreak.training import Run, Stop, shape


def _run(T: int = 4, seed: int = 0, budget: int = 10, p: float = 0.0) -> Run:
    return Run(SingleLocation(T=T, d=2, p=p), ToyAttention(), stop=Stop(budget=budget), seed=seed)


@given(
    st.lists(st.builds(_run, st.integers(2, 5), st.integers(0, 9), st.sampled_from([10, 1000])), max_size=60),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e5, 1e12, math.inf]),
    st.sampled_from([1, 2, math.inf]),
)
def test_every_run_is_in_one_cohort(runs: list[Run], workers: int, memory: float, at_once: float) -> None:
    packed = cohorts.pack(runs, workers, memory, at_once)
    assert sorted(run.id for cohort in packed for run in cohort.runs) == sorted(run.id for run in runs)
    for cohort in packed:
        assert len({shape(run) for run in cohort.runs}) == 1
        assert len(cohort.runs) <= cohorts.LARGEST
        assert cohort.each == tuple(cost(run).operations for run in cohort.runs)
        each = cost(cohort.runs[0])
        members, in_training = len(cohort.runs), min(len(cohort.runs), at_once)
        assert members == 1 or in_training * each.workspace + members * each.state <= memory
    lengths = [cohort.operations for cohort in packed]
    assert lengths == sorted(lengths, reverse=True)


def test_one_worker_gets_whole_groups_and_two_get_parts_of_equal_size() -> None:
    long = [_run(seed=seed, budget=10**9) for seed in range(48)]
    assert [len(cohort.runs) for cohort in cohorts.pack(long, 1, 1e12, 1)] == [48]
    assert [len(cohort.runs) for cohort in cohorts.pack(long, 2, 1e12, 1)] == [6] * 8
    short = [_run(seed=seed) for seed in range(48)]
    assert [len(cohort.runs) for cohort in cohorts.pack(short, 2, 1e12, 1)] == [48], "not worth compiling twice"


def test_runs_of_other_budgets_may_share_a_cohort_but_long_ones_stay_together() -> None:
    mixed = [_run(seed=seed, budget=10**9 if seed % 4 == 0 else 10**8) for seed in range(48)]
    packed = cohorts.pack(mixed, 2, 1e12, 1)
    assert [{run.stop.budget for run in cohort.runs} for cohort in packed][:2] == [{10**9}] * 2
    assert len({len(cohort.runs) for cohort in packed}) == 1
    assert len(cohorts.pack([_run(budget=10), _run(budget=20)], 1, 1e12, 1)) == 1


def test_the_memory_of_those_in_training_counts() -> None:
    runs = [_run(seed=seed) for seed in range(12)]
    each = cost(runs[0])
    memory = 12 * each.state + each.workspace
    assert len(cohorts.pack(runs, 1, memory, 1)) == 1
    assert len(cohorts.pack(runs, 1, memory, 2)) > 1
    assert len(cohorts.pack(runs, 1, memory + each.workspace, 2)) == 1
    assert len(cohorts.pack(runs, 1, 12 * (each.state + each.workspace), math.inf)) == 1
    assert len(cohorts.pack(runs, 1, memory, math.inf)) > 1


def test_scalars_share_a_cohort_and_shapes_do_not() -> None:
    assert len(cohorts.pack([_run(p=0.1), _run(p=0.2), _run(seed=3)], 1, 1e12, 1)) == 1
    assert len(cohorts.pack([_run(T=3), _run(T=4)], 1, 1e12, 1)) == 2


def test_operations_and_memory_by_hand() -> None:
    """One layer without MLP, read at the last position: the embedding everywhere, the rest in one row."""
    T, d, width = 64, 16, 32
    run = Run(
        SingleLocation(T=T, d=d),
        Transformer(layers=1, heads=1, width=width, head_width=width, mlp=0, bias=False),
        stop=Stop(budget=1000, every=1000, level=0.0),
        batch=8,
        evaluation=1,
    )
    products = 2 * (T * (d + 1) * width + 4 * width**2 + 2 * T * width + width * d)
    assert cost(run).operations == pytest.approx(3 * 8 * 1000 * products, rel=0.1), "products dominate"
    parameters = (d + 1) * width + 4 * width**2 + width * d
    assert cost(run).state == 4 * (4 * parameters + 2 * T * (d + 1))
    longer = Run(run.task, run.model, stop=Stop(budget=2000, every=1000, level=0.0), batch=8, evaluation=1)
    assert cost(longer).operations == pytest.approx(2 * cost(run).operations, rel=1e-3)
    assert cost(longer).workspace == cost(run).workspace


def test_what_a_batch_shares_is_no_examples_price() -> None:
    """Tokens that are looked up: queries, keys and values of the first block are those of few vectors, whatever the batch."""
    task, width = MarkovChain(d=50, L=2), 64
    reads, length = task.generated, task.interface.length
    model = Transformer(layers=1, heads=1, width=width, head_width=width, mlp=0, bias=False, causal=True)
    run = Run(task, model, stop=Stop(budget=1000, every=1000, level=0.0), batch=3000, evaluation=1)
    products = 2 * (2 * reads * length * width + reads * width**2 + reads * width * task.d)
    assert cost(run).operations == pytest.approx(3 * 3000 * 1000 * products, rel=0.1), "products dominate"
