"""Attention that turns from uniform to sparse: the loss of a run, and below it the maps of one head at a few steps."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daybreak.pictures.style import NEUTRAL, OURS, PAPER, look
from daybreak.training import Record
from daybreak.training.maps import Maps

_STEPS = 5  # maps in the row


def attention_picture(record: Record, maps: Maps, plateau: float | None = None) -> Figure:
    """Draw the clean loss, and the maps of the head that attends most to relevant positions at the end, at about five steps.

    A map shows where the read position attends to: a row for each example, with a ring at the relevant positions. Where a task is
    read at several positions, it has a row for each of them, of one example.

    Args:
        record: of the run.
        maps: that the run has kept.
        plateau: where the plateau ended; None if it did not.
    """
    attention = record.curves["attention"]
    layer, head = (int(i) for i in divmod(int(attention[-1].argmax()), attention.shape[2]))
    chosen = _steps(maps.steps, np.interp(maps.steps, record.steps, attention[:, layer, head]))
    with look():
        figure = Figure(figsize=(9.0, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(2, len(chosen), height_ratios=(1.1, 1))
        _loss(figure.add_subplot(grid[0, :]), record, maps.steps[chosen], plateau)
        axes = [figure.add_subplot(grid[1, i]) for i in range(len(chosen))]
        one_read = maps.reads.size == 1
        part = np.s_[:, :, 0] if one_read else np.s_[:, 0]
        every = np.asarray(maps.at_reads(layer)[chosen, :, head], np.float64)[part]
        images = [
            ax.imshow(shown, vmin=0, vmax=1, cmap="viridis", aspect="auto", interpolation="nearest")
            for ax, shown in zip(axes, every, strict=True)
        ]
        for ax, step in zip(axes, maps.steps[chosen], strict=True):
            if one_read:
                _rings(ax, maps.relevant[:, 0])
            ax.set_title(f"step {step:,}", loc="left")
            ax.set(xlabel="position", yticks=[])
        axes[0].set(ylabel="example" if one_read else "read position")
        figure.colorbar(images[0], ax=axes, label=f"attention, layer {layer + 1} head {head + 1}", pad=0.01)
        return figure


def _steps(steps: NDArray[np.integer], attention: NDArray[np.floating]) -> list[int]:
    """Indices at which attention is nearest to evenly spaced values, from its start to its end: dense where it turns."""
    values = np.linspace(attention[0], attention[-1], _STEPS)
    chosen = {0, len(steps) - 1, *(int(np.abs(attention - x).argmin()) for x in values[1:-1])}
    while len(chosen) < min(_STEPS, len(steps)):  # a turn between two evaluations: fill the widest gap
        gap, start = max((b - a, a) for a, b in pairwise(sorted(chosen)))
        chosen.add(start + gap // 2)
    return sorted(chosen)


def _loss(ax: Axes, record: Record, steps: NDArray[np.integer], plateau: float | None) -> None:
    ax.plot(record.steps, record.curves["clean_loss"], color=OURS, label="clean loss")
    at = np.searchsorted(record.steps, steps)
    ax.plot(steps, record.curves["clean_loss"][at], "o", color=PAPER, ms=5, label="maps below")
    ax.plot([], [], "o", mfc="none", mec=NEUTRAL, ms=7, label="relevant position")
    if plateau is not None:
        ax.axvline(plateau, color=NEUTRAL, lw=0.8, ls=":", label="plateau ends")
    ax.set(yscale="log", xlabel="step", xlim=(0, None))
    ax.set_title("Attention turns from uniform to sparse", loc="left")
    ax.legend()


def _rings(ax: Axes, relevant: NDArray[np.bool_]) -> None:
    rows, columns = np.nonzero(relevant)
    ax.plot(columns, rows, "o", mfc="none", mec="white", ms=7, mew=1.2)
