"""Staircases: stages as shaded stretches, and what a head attends to over the steps of training."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from daybreak._types import ArrayLike
from daybreak.pictures.style import shades


def shade_stages(ax: Axes, stages: Iterable[tuple[int, float, float]], count: int) -> None:
    """Shade the steps of each stage, given as (number from 0, first step, last step), of `count` stages; a legend can name them."""
    colours = shades(count)
    for number, start, end in stages:
        ax.axvspan(start, end, color=colours[number], alpha=0.15, lw=0, label=f"stage {number + 1}")


def attention_map(ax: Axes, steps: ArrayLike, attention: ArrayLike, *, most: float = 1.0) -> QuadMesh:
    """Attention to each lag as a heat map, steps to the right and lags downwards, newest on top; what it gives is for a colour bar.

    Args:
        ax: where to draw.
        steps: of each row.
        attention: one row per step, one column per lag.
        most: attention of the brightest colour.
    """
    x, lags = np.asarray(steps, float), np.asarray(attention, float)
    edges = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
    places = np.arange(lags.shape[1] + 1) + 0.5
    mesh = ax.pcolormesh(edges, places, lags.T, vmin=0, vmax=most, cmap="viridis", rasterized=True)
    ax.set(ylim=(lags.shape[1] + 0.5, 0.5), yticks=np.arange(1, lags.shape[1] + 1), xlabel="step")
    return mesh
