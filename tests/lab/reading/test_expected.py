"""How long runs are expected to train: planted plateaus of a lab, a published law, or nothing."""

from pathlib import Path

import pytest

from daybreak.lab import Lab
from daybreak.lab.reading.expected import expected_steps
from daybreak.models import ToyAttention, Transformer
from daybreak.tasks import SingleLocation
from daybreak.training import Run, Schedule, Stop
from tests.lab import made


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path / "lab").open()
    for seed, middle in enumerate((200.0, 300.0, 700.0)):
        lab.save(made.run(seed), made.record(middle), **made.SOURCE)
    for seed in range(2):
        lab.save(made.run(seed, d=32), made.record(2000.0, outcome="censored"), **made.SOURCE)
    return lab


def test_the_median_of_runs_of_the_same_kind_and_the_margin(lab: Lab) -> None:
    plateau = lab.load(made.run(1).id).result.plateau
    assert plateau is not None
    new = [made.run(7), made.run(8, stop=Stop(budget=100, every=5)), made.run(9, stop=Stop(margin=0.0))]
    expected = expected_steps(lab, new)
    assert [expected.steps[run.id] for run in new] == pytest.approx([1.2 * plateau.length, 100, plateau.length])
    assert expected.source == "runs of this kind in the lab"


def test_runs_that_mostly_did_not_emerge_are_expected_to_use_their_budget(lab: Lab) -> None:
    run = made.run(7, d=32)
    assert expected_steps(lab, [run]).steps == {run.id: run.stop.budget}


def test_without_such_runs_the_published_law(lab: Lab) -> None:
    run = Run(SingleLocation(T=32, d=16), Transformer())
    expected = expected_steps(lab, [run])
    assert expected.steps == {run.id: pytest.approx(1.2 * 0.76 * 16**1.29 * 32**0.8)}
    assert expected.source == "paper A, figure 3"
    both = expected_steps(lab, [run, made.run(7)])
    assert both.source == "paper A, figure 3 and runs of this kind in the lab"


def test_what_is_not_known_is_not_guessed(lab: Lab) -> None:
    other = Run(SingleLocation(T=32, d=16), ToyAttention())  # with Adam: no paper has that
    scheduled = Run(SingleLocation(T=32, d=16, B=2), Transformer(), schedule=Schedule("switch", 50.0))
    assert expected_steps(lab, [other, scheduled]).steps == {}
    whole = made.run(7, stop=Stop(budget=50, level=0.0))
    assert expected_steps(lab, [whole]).steps == {whole.id: 50.0}


def test_in_a_lab_that_does_not_exist_there_is_the_law(tmp_path: Path) -> None:
    run = Run(SingleLocation(T=32, d=16), Transformer())
    assert expected_steps(Lab(tmp_path / "none"), [run]).source == "paper A, figure 3"
    assert not list(tmp_path.iterdir())
