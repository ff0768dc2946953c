"""Learning curves: losses, accuracies and attention of one or several runs over the steps of training."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daybreak.pictures.style import NEUTRAL, OURS, PAPER, look, panels, shades
from daybreak.training import Record


def learning_curves(records: Mapping[str, Record], plateaus: Mapping[str, float] | None = None) -> Figure:
    """Draw what was measured along runs, by label.

    Of one run all is drawn: clean and training-like data, and every head. Of several, clean data and for each the head that
    attends most to relevant positions at the end.

    Args:
        records: by the label that the legend gives them.
        plateaus: where the plateau of each ended, for those in which it did.
    """
    with look():
        titles = ["loss", "attention to relevant positions"]
        if any("clean_accuracy" in record.curves for record in records.values()):
            titles.insert(1, "accuracy")
        figure, axes = panels(titles, width=4.2)
        draw = _one if len(records) == 1 else _several
        draw(dict(zip(titles, axes, strict=True)), records)
        for ax in axes:
            ax.set(xlabel="step")
            for i, end in enumerate((plateaus or {}).values()):
                ax.axvline(end, color=NEUTRAL, lw=0.8, ls=":", label=None if i else "plateau ends")
            ax.legend()
        for ax in axes[1:]:
            ax.set(ylim=(0, 1.03))
        axes[0].set(yscale="log")
        return figure


def _one(axes: dict[str, Axes], records: Mapping[str, Record]) -> None:
    (record,) = records.values()
    for score, ax in list(axes.items())[:-1]:
        ax.plot(record.steps, record.curves[f"clean_{score}"], color=OURS, label="clean")
        ax.plot(record.steps, record.curves[f"train_{score}"], "--", color=PAPER, label="like training")
    attention = record.curves["attention"]
    _, layers, heads = attention.shape
    for layer, colour in enumerate(shades(layers)):
        for head in range(heads):
            label = f"layer {layer + 1}" if head == 0 else None
            axes["attention to relevant positions"].plot(
                record.steps, attention[:, layer, head], color=colour, lw=1.0, label=label
            )


def _several(axes: dict[str, Axes], records: Mapping[str, Record]) -> None:
    for (label, record), colour in zip(records.items(), shades(len(records)), strict=True):
        for score, ax in list(axes.items())[:-1]:
            if f"clean_{score}" in record.curves:
                ax.plot(record.steps, record.curves[f"clean_{score}"], color=colour, lw=1.2, label=label)
        attention = record.curves["attention"].reshape(len(record.steps), -1)
        best = attention[:, attention[-1].argmax()]
        axes["attention to relevant positions"].plot(record.steps, best, color=colour, lw=1.2, label=label)
