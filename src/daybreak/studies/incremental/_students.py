"""What both versions of figure 3 share: divergence of a model from its references, the claims on them, and the picture."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from daybreak import measure, pictures
from daybreak.studies._study import Claim, Findings, Table, Tables
from daybreak.studies.incremental._picture import median_seed_first, shade
from daybreak.studies.incremental._trained import by_seed, to_be_confirmed, verdict_over_seeds
from daybreak.training import Run

SEQUENCES = 1000  # of the validation set, on which a model is compared with students
_KINDS = (("truths", "kl", "truncated truths"), ("students", "student", "context-limited students"))


def divergence(run: Run, parameters: PyTree, other: Run, reference: PyTree, inputs: Int[Array, "n length"]) -> float:
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


def nearest(tables: Tables, prefix: str, paper: str, where: str) -> Findings:
    """The claims that the nearest reference is that of one block, then of two, then of three.

    Args:
        tables: with `curves`, which has `kl_n` and `student_n` for n = 1, 2, 3.
        prefix: of the claims' ids.
        paper: what the paper gives.
        where: model and setting, for the note.
    """
    lines = tables["curves"]
    claims = []
    for name, kind, what in _KINDS:
        found = [_stages(one, kind) for one in by_seed(lines)]
        claims.append(
            Claim(
                id=f"{prefix}-{name}",
                sentence=f"Of {what}, the nearest is the one of one block, then of two, then of three.",
                paper=paper,
                ours="; ".join(
                    " → ".join("/".join(map(str, near)) for near in one.truths) or "no stage" for one in found
                )
                + ", one seed each",
                verdict=verdict_over_seeds(np.array([one.in_order(3) for one in found])),
                note=f"{where} For each stage of the excess loss the reference of least KL("
                f"reference ‖ model), and with a stroke those within {measure.APART} nats of it, which are not told apart. Holds for a "
                f"seed if it has three stages, and 1, 2, 3 are among them in this order.{to_be_confirmed(lines)}",
            )
        )
    return Findings(tuple(claims))


def _stages(one: Table, kind: str) -> measure.Staircase:
    return measure.staircase(one["step"], one["kl_3"], [one[f"{kind}_{n}"] for n in (1, 2, 3)])


def draw(tables: Tables, findings: Findings):
    """Divergence from truths and from students, all seeds, the median one bold."""
    figure, axes = pictures.panels(["divergence from truncated truths", "divergence from limited students"], width=4.2)
    seeds = median_seed_first(tables["curves"])
    for ax, (_, kind, _) in zip(axes, _KINDS, strict=True):
        for n, colour in enumerate(pictures.shades(3)):
            for i, rows in enumerate(seeds):
                label, width = (f"n = {n + 1}", 1.6) if i == 0 else (None, 0.5)
                ax.plot(rows["step"], rows[f"{kind}_{n + 1}"], color=colour, lw=width, label=label)
        shade(ax, seeds[0])
        ax.set(xlabel="step", ylabel="nats", ylim=(0, None))
    axes[0].plot([], [], color=pictures.NEUTRAL, label=f"bold and shaded: seed {seeds[0]['seed'][0]}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure
