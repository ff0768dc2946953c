"""Figure 3 again, for the minimal model: an appendix of our own, as the paper's figure is of the full model (`fig3`).

Students are the same model, trained on the same data, that may attend only to the lags of blocks 1 … n; the last one is the model
itself at its end. They are compared with the model on its validation set, at every evaluation, which takes the parameters of both. A
lab keeps no parameters, so model and students are trained again for this comparison; truncated truths are in the records.

Criterion by the one rule for stages (2026-11-18, before the campaign): a seed has three stages, and on stage n the reference of n blocks
is the nearest, or is not told apart from the nearest.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import PyTree

from daybreak.lab import Saved
from daybreak.studies._study import Scale, Study, Tables, TrainedData, stack
from daybreak.studies.incremental._students import SEQUENCES, divergence, draw, nearest
from daybreak.studies.incremental._trained import MINIMAL, changed, records, seeded
from daybreak.tasks import MarkovChain
from daybreak.training import Run, Stop, cohort, evaluations

_BUDGETS = (400, 700)  # steps for students of one and of two blocks, which have fewer stages to pass


def _runs(scale: Scale) -> list[Run]:
    return seeded(MINIMAL, scale)


def _tables(saved: list[Saved]) -> Tables:
    runs = [x.run for x in saved]
    students = [_end(_limited(runs, n)) for n in (1, 2)]
    path = [[progress.parameters(i) for i in range(len(runs))] for progress in evaluations(runs)]
    _, ground = cohort.begin(cohort.stack(runs))
    lines = []
    for i, (run, record, _) in enumerate(records(saved)):
        inputs = ground.evaluation.examples.inputs[i, 0, :SEQUENCES]
        references = [(limited, parameters[i]) for limited, parameters in students] + [(run, path[-1][i])]
        to_students = np.array(
            [[divergence(run, states[i], *other, inputs) for other in references] for states in path]
        )
        lines.append({"seed": np.full(len(record.steps), run.seed), "step": record.steps})
        for n in range(3):
            lines[-1] |= {f"kl_{n + 1}": record.curves["kl"][:, n], f"student_{n + 1}": to_students[:, n]}
    return {"curves": stack(*lines)}


def _limited(runs: Sequence[Run], n: int) -> list[Run]:
    """The same runs with a context of n blocks."""
    limited = []
    for run in runs:
        assert isinstance(run.task, MarkovChain)  # noqa: S101
        stop = Stop(budget=min(_BUDGETS[n - 1], run.stop.budget), every=run.stop.budget, level=0.0)
        limited.append(changed(run, model={"window": n * run.task.L}, stop=stop))
    return limited


def _end(runs: Sequence[Run]) -> tuple[Run, list[PyTree]]:
    """The first of the runs, and the parameters of each at its end."""
    *_, last = evaluations(runs)
    return runs[0], [last.parameters(i) for i in range(len(runs))]


STUDY = Study(
    name="fig3-minimal",
    paper="incremental",
    title="Minimal model: nearest truncated truth and nearest student",
    minutes={"smoke": 0.3, "laptop": 15, "paper": 15},
    data=TrainedData(_runs, _tables),
    judge=lambda tables: nearest(
        tables, "B3-minimal", "ours, on another model", "Minimal model; the paper's figure is of the full model."
    ),
    draw=draw,
)
