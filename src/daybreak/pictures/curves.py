"""Learning curves: losses, accuracies and attention of one or several runs over the steps of training."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daybreak.pictures.style import NEUTRAL, OURS, PAPER, look, panels, shades
from daybreak.training import Record

_PROBES = {
    "value_to_key": "attention of a value to its key",
    "block_mass": "attention to each block, by head",
    "kl": "KL to the truncated truths",
    "previous_token": "attention to the previous token",
    "second_copy_loss": "loss on the second copy of random tokens",
    "in_context_score": "in-context score: late minus early loss",
}
_OTHERS = 6  # curves that are drawn of a run that has none of ours
_KINDS = {"block_mass": "block", "kl": "blocks 1 to"}  # what the last index of a probe counts; of others it is the head


def learning_curves(
    records: Mapping[str, Record],
    plateaus: Mapping[str, tuple[float, float]] | None = None,
    attention: str = "attention to relevant positions",
) -> Figure:
    """Draw what was measured along runs, by label.

    One run: clean and training-like data, every head, and the probes of its task. Several runs: clean data, and of each run
    the head that attends most to relevant positions at the end. A run that has none of these curves: the curves that it has.

    Args:
        records: by their label in the legend.
        plateaus: the two evaluations between which the plateau of each ended, without those that did not emerge.
        attention: what attention to relevant positions is called: `Task.attention_name`.
    """
    usual = {"loss": "clean_loss", "accuracy": "clean_accuracy", "attention": "attention"}
    kinds = [kind for kind, name in usual.items() if any(name in record.curves for record in records.values())]
    titles = [attention if kind == "attention" else kind for kind in kinds]
    alone = next(iter(records.values())) if len(records) == 1 else None
    probes = {} if alone is None else {name: title for name, title in _PROBES.items() if name in alone.curves}
    if alone is not None and not titles:
        probes = {name: name for name in list(alone.curves)[:_OTHERS]}
    with look():
        figure, axes = panels([*titles, *probes.values()], width=4.2, columns=3 if probes else None)
        drawn = dict(zip(kinds, axes, strict=False))
        if alone is None:
            _several(drawn, records)
        else:
            _one(drawn, alone)
            for name, ax in zip(probes, axes[len(titles) :], strict=True):
                _probe(ax, alone, name)
        for ax in axes:
            ax.set(xlabel="step")
            if alone is not None and "repetition" in alone.curves:
                _shade(ax, alone)
            for i, bracket in enumerate((plateaus or {}).values()):
                label = None if i else "plateau ends"
                ax.axvspan(*bracket, facecolor=NEUTRAL, edgecolor=NEUTRAL, alpha=0.35, lw=0.8, label=label)
            ax.legend()
        for kind, ax in drawn.items():
            if kind != "loss":
                ax.set(ylim=(0, 1.03))
            elif (
                ax.dataLim.ymax >= 5 * ax.dataLim.ymin
            ):  # a loss of text falls by half: its log axis would have no plain ticks
                ax.set(yscale="log")
        return figure


def _one(axes: dict[str, Axes], record: Record) -> None:
    for score, ax in axes.items():
        if score == "attention":
            _probe(ax, record, "attention")
            continue
        ax.plot(record.steps, record.curves[f"clean_{score}"], color=OURS, label="clean")
        if f"train_{score}" in record.curves:
            ax.plot(record.steps, record.curves[f"train_{score}"], "--", color=PAPER, label="like training")


def _shade(ax: Axes, record: Record) -> None:
    """Shade the steps at which a schedule repeated."""
    repeated = record.curves["repetition"] > 0
    full_height = ax.get_xaxis_transform()
    ax.fill_between(
        record.steps, 0, 1, where=repeated, transform=full_height, color=NEUTRAL, alpha=0.12, lw=0, label="repetition"
    )


def _probe(ax: Axes, record: Record, name: str) -> None:
    """A line for every number of a probe; a colour for each layer, block of the task or reference."""
    curve, steps = _measured(record, name)
    if curve.ndim == 1:
        ax.plot(steps, curve, color=OURS, lw=1.0, label=name)
        return
    values, kind = (np.moveaxis(curve, -1, 1), _KINDS[name]) if name in _KINDS else (curve, "layer")
    for i, colour in enumerate(shades(values.shape[1])):
        lines = values[:, i].reshape(len(steps), -1)
        for j, line in enumerate(lines.T):
            ax.plot(steps, line, color=colour, lw=1.0, label=None if j else f"{kind} {i + 1}")


def _measured(record: Record, name: str) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """A curve where it was measured: an observed run has curves of different spacing."""
    curve = record.curves[name]
    there = ~np.isnan(curve).reshape(len(curve), -1).all(axis=1)
    return curve[there], record.steps[there]


def _several(axes: dict[str, Axes], records: Mapping[str, Record]) -> None:
    for (label, record), colour in zip(records.items(), shades(len(records)), strict=True):
        for score, ax in axes.items():
            if f"clean_{score}" in record.curves:
                ax.plot(record.steps, record.curves[f"clean_{score}"], color=colour, lw=1.2, label=label)
        if "attention" in record.curves:
            attention = record.curves["attention"].reshape(len(record.steps), -1)
            best = attention[:, attention[-1].argmax()]
            axes["attention"].plot(record.steps, best, color=colour, lw=1.2, label=label)
