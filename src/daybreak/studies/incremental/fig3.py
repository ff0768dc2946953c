"""Figure 3: the model is nearest to a student with a short context, then with a longer one, then with the whole.

Students are the same model, trained on the same data, that may attend only to the lags of blocks 1 … n; the last one is the model
itself at its end. They are compared with the model on its validation set, at every evaluation, which takes the parameters of both. A
lab keeps no parameters, so model and students are trained again for this comparison; truncated truths are in the records.

Criterion by the one rule for stages (2026-11-18, before the campaign): a seed has three stages, and on stage n the reference of n blocks
is the nearest, or is not told apart from the nearest. The paper's figure is of the full model; there the same criterion applies.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from daybreak import measure, pictures
from daybreak.lab import Saved
from daybreak.studies._study import Claim, Findings, Scale, Study, Table, Tables, TrainedData, stack
from daybreak.studies.incremental._picture import median_seed_first, shade
from daybreak.studies.incremental._trained import (
    MINIMAL,
    by_seed,
    changed,
    records,
    seeded,
    to_be_confirmed,
    verdict_over_seeds,
)
from daybreak.tasks import MarkovChain
from daybreak.training import Run, Stop, cohort, evaluations

_BUDGETS = (400, 700)  # steps for students of one and of two blocks, which have fewer stages to pass
_SEQUENCES = 1000  # of the validation set


def _runs(scale: Scale) -> list[Run]:
    return seeded(MINIMAL, scale)


def _tables(saved: list[Saved]) -> Tables:
    runs = [x.run for x in saved]
    students = [_end(_limited(runs, n)) for n in (1, 2)]
    path = [[progress.parameters(i) for i in range(len(runs))] for progress in evaluations(runs)]
    _, ground = cohort.begin(cohort.stack(runs))
    lines = []
    for i, (run, record, _) in enumerate(records(saved)):
        inputs = ground.evaluation.examples.inputs[i, 0, :_SEQUENCES]
        references = [(limited, parameters[i]) for limited, parameters in students] + [(run, path[-1][i])]
        to_students = np.array(
            [[_divergence(run, states[i], *other, inputs) for other in references] for states in path]
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


def _divergence(run: Run, parameters: PyTree, other: Run, reference: PyTree, inputs: Int[Array, "n length"]) -> float:
    """KL(reference ‖ model), mean over sequences and generated tokens."""
    return float(jnp.mean(_kl(run.model, other.model, run.interface, parameters, reference, inputs)))


@partial(jax.jit, static_argnums=2)
def _kl(
    model, student, interface, parameters: PyTree, reference: PyTree, inputs: Int[Array, "n length"]
) -> Float[Array, " n"]:
    def of_one(x):
        q = jax.nn.log_softmax(model.apply(parameters, x, interface).values, axis=1)
        p = jax.nn.log_softmax(student.apply(reference, x, interface).values, axis=1)
        return jnp.mean(jnp.sum(jnp.exp(p) * (p - q), axis=1))

    return jax.lax.map(of_one, inputs, batch_size=250)


def _judge(tables: Tables) -> Findings:
    lines = tables["curves"]
    claims = []
    for id_, kind, what in (
        ("B3-truths", "kl", "truncated truths"),
        ("B3-students", "student", "context-limited students"),
    ):
        found = [_stages(one, kind) for one in by_seed(lines)]
        claims.append(
            Claim(
                id=id_,
                sentence=f"Of {what}, the nearest is the one of one block, then of two, then of three.",
                paper="seen in the plot",
                ours="; ".join(" → ".join("/".join(map(str, near)) for near in one.truths) for one in found)
                + ", one seed each",
                verdict=verdict_over_seeds(np.array([one.in_order(3) for one in found])),
                note="Minimal model; the paper's figure is of the full model. For each stage of the excess loss the reference of least KL("
                f"reference ‖ model), and with a stroke those within {measure.APART} nats of it, which are not told apart. Holds for a "
                f"seed if it has three stages, and 1, 2, 3 are among them in this order.{to_be_confirmed(lines)}",
            )
        )
    return Findings(tuple(claims))


def _stages(one: Table, kind: str) -> measure.Staircase:
    return measure.staircase(one["step"], one["kl_3"], [one[f"{kind}_{n}"] for n in (1, 2, 3)])


def _draw(tables: Tables, findings: Findings):
    figure, axes = pictures.panels(["divergence from truncated truths", "divergence from limited students"], width=4.2)
    seeds = median_seed_first(tables["curves"])
    for ax, kind in zip(axes, ("kl", "student"), strict=True):
        for n, colour in enumerate(pictures.shades(3)):
            for i, rows in enumerate(seeds):
                label, width = (f"n = {n + 1}", 1.6) if i == 0 else (None, 0.5)
                ax.plot(rows["step"], rows[f"{kind}_{n + 1}"], color=colour, lw=width, label=label)
        shade(ax, seeds[0])
        ax.set(xlabel="step", ylabel="nats", ylim=(0, None))
    axes[0].plot([], [], color=pictures.NEUTRAL, label=f"bold and shaded: seed {seeds[0]['seed'][0]}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure


STUDY = Study(
    name="b-fig3",
    paper="incremental",
    title="Minimal model: nearest truncated truth and nearest student",
    minutes={"smoke": 0.3, "laptop": 15, "paper": 15},
    data=TrainedData(_runs, _tables),
    judge=_judge,
    draw=_draw,
)
