"""Verdicts on text, for runs whose behaviour was planted: what holds, what fails, and what is not decided."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from daybreak import studies
from daybreak.lab import Lab, Saved
from daybreak.studies import TrainedData
from daybreak.studies._pairs import difference
from daybreak.training import Record, Run
from tests.lab.made import SOURCE


@dataclass(frozen=True)
class World:
    """How runs behave.

    Args:
        steps: until the induction head; beyond the budget there is none.
        sharp: share of the plateau that the rise takes.
        previous: when the first layer turns to the previous token, as a multiple of the plateau.
        loss: on plain text at the end, for a share q at the end of training.
        context: the in-context score at the end, for the same.
        kept: induction score at the end.
        adaptive_loss: what is added to the loss of adaptive runs.
    """

    steps: Callable[[Run], float] = lambda run: 2000 * run.task.q**-0.3 if run.task.q else np.inf  # pyright: ignore
    sharp: float = 0.1
    previous: float = 0.9
    loss: Callable[[float], float] = lambda q: 3.4 + 0.1 * max(q - 0.1, 0)
    context: Callable[[float], float] = lambda q: -0.2 - 0.1 * q
    kept: float = 0.6
    adaptive_loss: float = 0.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def record(self, run: Run) -> Record:
        """The curves of a run."""
        end = self.steps(run) * np.exp(0.02 * self.rng.normal())
        last = run.stop.budget if run.stop.margin > 1 else int(min(1.2 * end, run.stop.budget))
        steps = np.arange(0, last + 1, run.stop.every)
        score = _rise(steps, end, self.sharp) * 0.6
        score[steps > end * 1.05] *= self.kept / 0.6
        seed = 0.05 * np.sin(run.seed)  # what pairs share
        adaptive = run.schedule.name == "adaptive"
        q = 0.0 if adaptive else float(run.task.q)  # pyright: ignore
        one = np.ones(steps.size)
        previous = _rise(steps, self.previous * end if np.isfinite(end) else np.inf, self.sharp)
        return Record(
            steps=steps,
            curves={
                "attention": np.stack([0 * score, score], axis=1)[:, :, None] + 0.005,
                "previous_token": np.stack([previous, 0 * score], axis=1)[:, :, None] + 0.01,
                "clean_loss": (self.loss(q) + adaptive * self.adaptive_loss + seed + 0.002 * self.rng.normal()) * one,
                "train_loss": 3 * one,
                "in_context_score": (self.context(q) + seed + 0.002 * self.rng.normal()) * one,
            },
            outcome="completed",
        )


def _rise(steps: np.ndarray, at: float, sharp: float) -> np.ndarray:
    """From 0 to 1, ½ at a step; from a twelfth to a half in about this share of it."""
    if not np.isfinite(at):
        return np.zeros(steps.size)
    return 1 / (1 + np.exp(-2.4 / sharp * (steps / at - 1)))


def _verdicts(name: str, world: World, folder: Path) -> dict[str, str]:
    training = studies.find(name).data
    assert isinstance(training, TrainedData)
    lab = Lab(folder / name).open()
    return _judged(name, training.tables([_kept(lab, run, world) for run in training.runs("laptop")]))


def _kept(lab: Lab, run: Run, world: World) -> Saved:
    lab.save(run, world.record(run), **SOURCE)
    return lab.load(run.id)


def _judged(name: str, tables: dict) -> dict[str, str]:
    study = studies.find(name)
    findings = study.judge(tables)
    study.draw(tables, findings)
    return {claim.id: claim.verdict for claim in findings.claims}


def test_what_text_induction_says_of_a_world_in_which_it_all_holds(tmp_path: Path) -> None:
    assert _verdicts("text-induction", World(), tmp_path) == dict.fromkeys(
        ("L1", "L2", "L3", "L4", "L5", "L6"), "holds"
    )


def test_what_it_says_of_a_world_in_which_nothing_does(tmp_path: Path) -> None:
    world = World(
        steps=lambda run: 3000 * run.task.q**0.3 if run.task.q else 500,  # pyright: ignore
        sharp=0.6,
        previous=1.3,
        loss=lambda q: 3.4 + 2 * q,
        context=lambda q: -0.2 + q,
    )
    assert _verdicts("text-induction", world, tmp_path) == dict.fromkeys(("L1", "L2", "L3", "L4", "L5", "L6"), "fails")


def test_runs_that_never_emerge_decide_only_the_price(tmp_path: Path) -> None:
    found = _verdicts("text-induction", World(steps=lambda run: np.inf), tmp_path)
    assert found == dict.fromkeys(("L1", "L2", "L3", "L4"), "undecided") | dict.fromkeys(("L5", "L6"), "holds")


def _power(T: float, batch: float, width: float, V: float) -> Callable[[Run], float]:
    def steps(run: Run) -> float:
        task, model = run.task, run.model
        settings = (task.T / 64, run.batch / 16, model.width / 128, task.vocabulary / 1000)  # pyright: ignore
        return 3000 * float(np.prod(np.power(settings, (T, batch, width, V))))

    return steps


@pytest.mark.parametrize(
    ("exponents", "expected"),
    [
        ((-0.5, -0.5, 0.0, 0.4), ("holds", "fails", "holds", "holds")),
        ((0.8, -0.5, -0.6, -0.4), ("fails", "holds", "fails", "fails")),
    ],
)
def test_exponents_of_text_are_found(exponents, expected, tmp_path: Path) -> None:
    found = _verdicts("text-laws", World(steps=_power(*exponents)), tmp_path)
    assert tuple(found[name] for name in ("L7", "L8", "L9", "L10")) == expected


def test_schedules_on_text(tmp_path: Path) -> None:
    names = ("L11", "L12", "L13")
    assert _verdicts("text-schedules", World(), tmp_path / "a") == dict.fromkeys(names, "holds")

    def late(run: Run) -> float:
        return 4000 if run.schedule.name == "adaptive" else 2000

    found = _verdicts("text-schedules", World(steps=late, kept=0.1, adaptive_loss=0.1), tmp_path / "b")
    assert found == dict.fromkeys(names, "fails")
    assert _verdicts("text-schedules", World(steps=lambda run: np.inf), tmp_path / "c") == dict.fromkeys(
        names, "undecided"
    )


def test_forecasts_of_a_slow_rise_are_good_and_of_a_step_there_are_none_alone(tmp_path: Path) -> None:
    found = _verdicts("text-forecasts", World(), tmp_path)
    assert (found["L14"], found["L15"], found["L16"]) == ("fails", "holds", "holds"), (
        "nothing is seen at half of a sharp rise"
    )


def test_pairs_share_what_their_seed_brings() -> None:
    rng = np.random.default_rng(0)
    seeds = np.tile(np.arange(5), 2)
    table = {"seed": seeds, "loss": 10.0 * seeds + np.repeat([0.0, 0.3], 5) + 0.01 * rng.normal(size=10)}
    second = np.repeat([False, True], 5)
    found = difference(table, second, ~second, "loss")
    assert found.interval.low < 0.3 < found.interval.high
    assert found.interval.high - found.interval.low < 0.1
