"""What studies of trained models share: the published run, its seeds, and the stages of its records."""

from collections.abc import Iterator, Sequence
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

SEEDS = 5
HOLD = 8
"""Evaluations in a row for which a reference must be nearest: in the first steps, far from all, the nearest one changes."""
MINIMAL = replace(PRESETS["paper-b-minimal"], stop=Stop(budget=800, every=10, level=0.0))


def changed(run: Run, *, task: dict[str, Any] | None = None, model: dict[str, Any] | None = None, **rest: Any) -> Run:
    """A run with other settings of its task, its model, or its own."""
    parts = {"task": replace(run.task, **(task or {})), "model": replace(run.model, **(model or {}))}
    return replace(run, **parts, **rest)


def seeded(run: Run, scale: Scale) -> list[Run]:
    """A run for each of five seeds; at smoke scale one tiny run of the same kind."""
    if scale != "smoke":
        return [replace(run, seed=seed) for seed in range(SEEDS)]
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
        rows = {name: np.full(len(record.steps), values[i]) for name, values in settings.items()}
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


def stages(saved: Sequence[Saved], **settings: Any) -> Table:
    """Stages of each run by its nearest truncated truth, one row per run.

    Columns: `second` and `third`, the step from which p^(2), p^(3) was nearest, or the last step if it never was; `last`, the reference
    nearest at the end; `in_order`, whether they were nearest one after the other and none twice; `plateaus`
    of the excess loss; and `best_step`, `best_stage`, `best_excess` where the validation loss was least.
    """
    rows = []
    for i, (run, record, task) in enumerate(records(saved)):
        kl = record.curves["kl"]
        nearest = measure.nearest_reference(record.steps, kl.T, hold=HOLD)
        order = [span.reference + 1 for span in nearest.spans]
        starts = {span.reference + 1: span.start for span in reversed(nearest.spans)}
        best = int(np.argmin(record.curves["clean_loss"]))
        rows.append(
            {name: values[i] for name, values in settings.items()}
            | {"seed": run.seed, "budget": run.stop.budget}
            | {word: starts.get(n, float(record.steps[-1])) for n, word in ((2, "second"), (3, "third"))}
            | {"last": order[-1], "in_order": order == list(range(1, task.K + 1))}
            | {"plateaus": len(measure.stages(record.steps, kl[:, -1]))}
            | {"best_step": record.steps[best], "best_stage": nearest.index[best] + 1, "best_excess": kl[best, -1]}
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def verdict_over_seeds(flags: Bools) -> Verdict:
    """A claim holds if four fifths of the seeds show it, fails if fewer than half do."""
    fraction = float(np.mean(flags))
    return "holds" if fraction >= 0.8 else "fails" if fraction < 0.5 else "undecided"


def median_and_range(values: Any, form: str = "{:.0f}") -> str:
    """Median and range over seeds, as a claim states them."""
    low, middle, high = (form.format(x) for x in np.quantile(np.asarray(values, float), (0, 0.5, 1)))
    return f"{middle} ({low}–{high})"
