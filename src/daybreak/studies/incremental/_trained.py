"""What studies of trained models share: the published run, its seeds, and the stages of their curves.

Stages are those of `measure.staircase` in every study, with its constants: plateaus of the excess loss after a burn-in, each lower than
the one before by 5 % of the first, for four evaluations or more; truths that differ by less than 0.15 nats are not told apart. This rule
was written on 2026-11-18, before the runs of the campaign (`NEW_SEEDS`, `PUBLISHED` steps), and after the runs of seeds 0 to 4 had been
seen. So verdicts on those seeds say in their note that they are to be confirmed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from daybreak import measure
from daybreak._types import Bools
from daybreak.lab import Saved
from daybreak.models import Transformer
from daybreak.studies._study import Scale, Table, Verdict, select, stack
from daybreak.tasks import MarkovChain
from daybreak.training import Record, Run, Stop
from daybreak.training.presets import PRESETS

SEEDS = range(5)
"""Seeds whose runs were seen before the rule for stages was written."""
NEW_SEEDS = range(5, 15)
"""Seeds of the campaign, which nobody had looked at when the rule was written."""
PUBLISHED = PRESETS["paper-b-minimal"].stop
"""The paper's 2 000 steps."""
HOLD = 8
"""Evaluations in a row for which all heads must attend most to a block."""
MINIMAL = replace(PRESETS["paper-b-minimal"], stop=Stop(budget=800, every=10, level=0.0))


def changed(run: Run, *, task: dict[str, Any] | None = None, model: dict[str, Any] | None = None, **rest: Any) -> Run:
    """A run with other settings of its task, its model, or its own."""
    parts = {"task": replace(run.task, **(task or {})), "model": replace(run.model, **(model or {}))}
    return replace(run, **parts, **rest)


def seeded(run: Run, scale: Scale, seeds: Iterable[int] = SEEDS) -> list[Run]:
    """A run for each seed; at smoke scale one tiny run of the same kind."""
    if scale != "smoke":
        return [replace(run, seed=seed) for seed in seeds]
    small = {"width": 12, "head_width": 4, "mlp": 8} if isinstance(run.model, Transformer) else {}
    sizes = {"d": 6, "generated": 4, "train": min(run.task.sizes.train, 40), "validation": 30}
    stop = Stop(budget=40, every=5, level=0.0)
    return [changed(run, task=sizes, model=small, stop=stop, batch=min(run.batch, 20))]


def records(saved: Sequence[Saved]) -> Iterator[tuple[Run, Record, MarkovChain]]:
    """Each run with what was measured and the chain it learned."""
    for x in saved:
        assert x.record is not None  # noqa: S101
        assert isinstance(x.run.task, MarkovChain)  # noqa: S101
        yield x.run, x.record, x.run.task


def curves(saved: Sequence[Saved], **settings: Any) -> Table:
    """Records below each other: excess loss, divergence from each truncated truth, attention of the last layer.

    The divergence from the whole truth is the excess over the Bayes loss, in expectation over the next token.

    Args:
        saved: the runs.
        settings: further columns that distinguish them besides the seed, one value per run.
    """
    tables = []
    for i, (run, record, task) in enumerate(records(saved)):
        kl, blocks, lags = (record.curves[name] for name in ("kl", "block_mass", "lag_mass"))
        heads = blocks.shape[2]
        rows = {"id": np.full(len(record.steps), run.id)}
        rows |= {name: np.full(len(record.steps), values[i]) for name, values in settings.items()}
        rows |= {"seed": np.full(len(record.steps), run.seed), "step": record.steps}
        rows |= {"loss": record.curves["clean_loss"], "train_loss": record.curves["train_loss"], "excess": kl[:, -1]}
        rows |= {f"kl_{n + 1}": kl[:, n] for n in range(task.K)}
        rows |= {f"head{h + 1}_block{k + 1}": blocks[:, -1, h, k] for h in range(heads) for k in range(task.K)}
        rows |= {f"head{h + 1}_lag{j + 1}": lags[:, -1, h, j] for h in range(heads) for j in range(task.order)}
        rows["overlap"] = measure.overlap(lags[:, -1])
        tables.append(rows)
    return stack(*tables)


def by_seed(table: Table) -> list[Table]:
    """The curves of each seed."""
    return [select(table, table["seed"] == seed) for seed in np.unique(table["seed"])]


def without_heads(table: Table) -> Table:
    """Curves without the attention of each head, where many runs are kept."""
    return {name: column for name, column in table.items() if not name.startswith("head")}


def staircase(one: Table) -> measure.Staircase:
    """The stages of the curves of one run."""
    return measure.staircase(one["step"], one[f"kl_{count(one)}"], [one[f"kl_{n + 1}"] for n in range(count(one))])


def count(table: Table) -> int:
    """How many truncated truths there are."""
    return next(n for n in range(len(table) + 1) if f"kl_{n + 1}" not in table)


def stages(curves: Table, *settings: str) -> Table:
    """Stages of each run, one row per run, from the curves of all.

    Columns: the `settings` that distinguish runs besides the seed; `seed`; `budget`, the last step; `stages`, their number; `second` and
    `third`, the step of the transition to that stage, or the last step if there is none; `in_order`, whether there are as many
    as truths and none is contradicted; `apart`, steps from the second transition to the third, 0 if the run reaches the last truth
    with a stage less; `contradicted`, how many stages are; `best_step`, `best_stage`, `best_excess` where the validation loss is least.

    Args:
        curves: what `curves` gives.
        settings: names of columns.
    """
    keys = np.stack([curves[name] for name in (*settings, "seed")])
    _, firsts = np.unique(keys, axis=1, return_index=True)
    rows = []
    for key in keys[:, np.sort(firsts)].T:
        one = select(curves, np.all(keys == key[:, None], axis=0))
        found, K, last = staircase(one), count(one), float(one["step"][-1])
        at = [*found.transitions, last, last]
        merged = 1 < found.number < K and found.truths[-1] == (K,)
        best = int(np.argmin(one["loss"])) if "loss" in one else int(np.argmin(one[f"kl_{K}"]))
        rows.append(
            {name: one[name][0] for name in (*settings, "seed")}
            | {"budget": int(last), "stages": found.number, "second": at[0], "third": at[1]}
            | {"in_order": found.in_order(K), "apart": 0.0 if merged else at[1] - at[0]}
            | {"contradicted": found.standings.count("contradicted")}
            | {"best_step": int(one["step"][best]), "best_stage": found.at(float(one["step"][best]))}
            | {"best_excess": float(one[f"kl_{K}"][best])}
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def to_be_confirmed(rows: Table) -> str:
    """What a note says of a verdict on runs that were seen before the rule for stages was written."""
    if np.all(np.isin(rows["seed"], NEW_SEEDS)):
        return ""
    return (
        " Stages by `measure.staircase`. This rule was changed on 2026-11-18, after these runs had been seen: the verdict is to be "
        f"confirmed on new seeds, {NEW_SEEDS[0]} and up."
    )


def verdict_over_seeds(flags: Bools) -> Verdict:
    """A claim holds if four fifths of the seeds show it, fails if fewer than half do."""
    fraction = float(np.mean(flags))
    return "holds" if fraction >= 0.8 else "fails" if fraction < 0.5 else "undecided"


def median_and_range(values: Any, form: str = "{:.0f}") -> str:
    """Median and range over seeds, as a claim states them."""
    low, middle, high = (form.format(x) for x in np.quantile(np.asarray(values, float), (0, 0.5, 1)))
    return f"{middle} ({low}–{high})"


def transition_steps(rows: Table, name: str) -> str:
    """Median and range over seeds of a transition; one that did not occur is a bound, not a number."""
    last = rows["budget"].max()
    shown = [f"{x:.0f}" if x < last else f"not by {last}" for x in np.quantile(rows[name], (0, 0.5, 1))]
    low, middle, high = shown
    return middle if low == high else f"{middle} ({low}–{high})"
