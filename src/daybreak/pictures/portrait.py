"""A flow line of the toy model: losses, weights and attention over time, and its path over the loss landscape."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daybreak.pictures.style import NEUTRAL, OURS, PAPER, look, panels
from daybreak.theory import ToySetting, Trajectory
from daybreak.theory.reduced import loss_two


def portrait(line: Trajectory, plateau: float) -> Figure:
    """Draw loss, weights, attention and the phase portrait of one flow line, with the end of its plateau.

    With cross-sample repetition the training loss and the repeated direction w̃ are drawn as well; the landscape is that
    of the clean loss for weights along their target.
    """
    _, d, B, p, _ = line.setting
    with look():
        figure, (loss, weights, attention, phase) = panels(["loss", "weights", "attention", "phase portrait"])
        loss.plot(line.t, line.clean_loss, color=OURS, label="clean")
        weights.plot(line.t, line.w / np.sqrt(d), color=OURS, label="w / √d")
        if p > 0:
            loss.plot(line.t, line.loss, "--", color=PAPER, label="training")
            weights.plot(line.t, line.w_tilde, "--", color=PAPER, label="w̃")
        attention.plot(line.t, B * line.alpha, color=OURS, label="Bα")
        for ax in (loss, weights, attention):
            ax.axvline(plateau, color=NEUTRAL, lw=0.8, ls=":", label="plateau ends")
            ax.set(xlabel="flow time", ylim=(0, None))
            ax.legend()
        landscape(phase, line.w, line.delta_a, line.setting)
        return figure


def landscape(ax: Axes, w: NDArray, delta_a: NDArray, setting: ToySetting) -> None:
    """Contours of the loss over (w, Δa), and a flow line across them from its start (a cross)."""
    across, up = np.meshgrid(np.linspace(-0.05, 1.15, 161) * w.max(), np.linspace(-0.5, 1.1 * delta_a.max(), 161))
    loss = loss_two((across, up), setting, np)
    filled = ax.contourf(across, up, loss, levels=np.linspace(0, 0.6, 25), cmap="cividis", extend="max")
    ax.figure.colorbar(filled, ax=ax, label="loss", ticks=np.linspace(0, 0.6, 7))
    ax.plot(w, delta_a, color="white", lw=1.8)
    ax.plot(w[0], delta_a[0], "x", color="white", ms=7, mew=2)
    ax.set(xlabel="w", ylabel="Δa")
