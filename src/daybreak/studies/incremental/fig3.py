"""Figure 3: the full model is nearest to a student with a short context, then with a longer one, then with the whole.

Students are the same network, trained on the same data for the same steps, whose window is the lags of blocks 1 … n, n = 1, 2, 3. A student
is taken at its end. The model is read on its way: runs of the same seed with growing budgets, each of which goes on from
the end of the one before. All are runs of the lab that keep their parameters, so an interruption costs nothing. Between two of
these budgets a divergence from a student is interpolated linearly; truncated truths are in the record, at every evaluation.

Criterion by the one rule for stages (2026-11-18, before any of these runs; five new seeds, 2 000 steps): a seed has three stages, and on
stage n the reference of n blocks is the nearest, or is not told apart from the nearest. Holds if four fifths of the seeds show it.
"""

from collections.abc import Mapping

import jax
import numpy as np

from daybreak.lab import Saved
from daybreak.models import Transformer
from daybreak.studies._study import Scale, Study, Table, Tables, TrainedData, stack
from daybreak.studies.incremental._students import SEQUENCES, divergence, draw, nearest
from daybreak.studies.incremental._trained import NEW_SEEDS, changed, records, seeded
from daybreak.tasks import MarkovChain
from daybreak.training import Run, Stop, cohort
from daybreak.training.presets import PRESETS

_FULL = PRESETS["paper-b-full"]
_BUDGETS = (20, 40, 60, 80, 100, 130, 160, 200, 250, 300, 360, 430, 500, 600, 700, 850, 1000, 1200, 1400, 1700, 2000)
_SMOKE_BUDGETS = (20, 40)


def _runs(scale: Scale) -> list[Run]:
    full = seeded(_FULL, scale, NEW_SEEDS[:5])
    budgets = _SMOKE_BUDGETS if scale == "smoke" else _BUDGETS
    stops = [Stop(budget=budget, every=full[0].stop.every, level=0.0) for budget in budgets]
    students = [_limited(run, n) for n in (1, 2, 3) for run in full]
    return students + [changed(run, stop=stop) for run in full for stop in stops]


def _limited(run: Run, n: int) -> Run:
    """The same run with a context of n blocks."""
    assert isinstance(run.task, MarkovChain)  # noqa: S101
    return changed(run, model={"window": n * run.task.L})


def _tables(saved: list[Saved]) -> Tables:
    by_seed: dict[int, list[Saved]] = {}
    for x in saved:
        by_seed.setdefault(x.run.seed, []).append(x)
    return {"curves": stack(*(_lines(seed, runs) for seed, runs in by_seed.items()))}


def _lines(seed: int, saved: list[Saved]) -> Table:
    """Divergences of the model of a seed from its references at every evaluation."""
    students = [x for x in saved if _window(x.run)]
    path = {x.run.stop.budget: x for x in saved if not _window(x.run)}
    whole = path[max(path)]
    ((_, record, task),) = records([whole])
    lines = {"seed": np.full(len(record.steps), seed), "step": record.steps}
    lines |= {f"kl_{n + 1}": record.curves["kl"][:, n] for n in range(task.K)}
    steps, rows = _to_students(path, students)
    return lines | {f"student_{n + 1}": np.interp(record.steps, steps, row) for n, row in enumerate(rows)}


def _to_students(path: Mapping[int, Saved], students: list[Saved]) -> tuple[list[int], np.ndarray]:
    """The steps at which the model is read, its first one among them, and one row for each student."""
    run = path[max(path)].run
    begun, ground = cohort.begin(cohort.stack([run]))
    inputs = ground.evaluation.examples.inputs[0, 0, :SEQUENCES]
    states = {0: jax.tree.map(lambda x: x[0], begun.parameters)} | {
        step: path[step].model().parameters for step in sorted(path)
    }
    others = [(x.run, x.model().parameters) for x in sorted(students, key=lambda x: _window(x.run))]
    rows = [[divergence(run, state, *other, inputs) for state in states.values()] for other in others]
    return list(states), np.array(rows)


def _window(run: Run) -> int:
    assert isinstance(run.model, Transformer)  # noqa: S101
    return run.model.window


STUDY = Study(
    name="b-fig3",
    paper="incremental",
    title="Full model: nearest truncated truth and nearest student",
    minutes={"smoke": 1, "laptop": 420, "paper": 420},
    data=TrainedData(_runs, _tables, keep=("parameters",)),
    judge=lambda tables: nearest(
        tables, "B3", "seen in the plot", f"Full model as published, {tables['curves']['step'].max()} steps."
    ),
    draw=draw,
)
