"""How often a run is evaluated by default: often enough that it can be forecast at half of its plateau."""

import pytest

from daybreak.lab.reading.spacing import spacing
from daybreak.models import ToyAttention, Transformer
from daybreak.tasks import Recall, SingleLocation
from daybreak.training import Optimizer, Run

TOY = {"position": "fixed", "feature": False}


@pytest.mark.parametrize(
    ("T", "d", "every"), [(8, 4, 2), (16, 8, 5), (32, 16, 20), (24, 16, 10), (64, 32, 20), (256, 64, 20)]
)
def test_about_ten_evaluations_come_before_half_of_the_plateau(T: int, d: int, every: int) -> None:
    assert spacing(Run(SingleLocation(T=T, d=d), Transformer())) == every


def test_repetition_shortens_it_and_a_run_without_a_law_has_the_default() -> None:
    assert spacing(Run(SingleLocation(T=64, d=32, B=8), Transformer())) == 10
    assert spacing(Run(SingleLocation(T=64, d=32, p=0.5), Transformer())) == 20
    toy = Run(SingleLocation(T=16, d=16, **TOY), ToyAttention(), Optimizer(name="sgd", learning_rate=1.0))
    assert spacing(toy) == 2
    assert spacing(Run(Recall(N=8, V=64), Transformer(layers=4, causal=True))) == 20
