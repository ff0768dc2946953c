"""Staircase: heads that learn patterns of attention one after the other (paper B), with a plateau before each."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, final

import numpy as np
from dash.development.base_component import Component

from daybreak import theory
from daybreak.explorer import figures
from daybreak.explorer.controls import Choice, Slider
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.parts import facts, number
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace

_SLIDERS = {
    "heads": Slider("Heads H", 1, 4, 1, late=True),
    "patterns": Slider("Patterns K", 1, 4, 1, late=True),
    "ratio": Slider("Strength relative to the next pattern, m", 1.1, 2.2, 0.1, whole=False, late=True),
    "T": Slider("Positions T", 16, 1024, 1, log=True, late=True),
    "block": Slider("Positions of a pattern", 1, 4, 1, late=True),
    "noise": Slider("Noise at the start, log₁₀ ε", -12, -1, 1, form="{:g}", late=True),
}
_EVERY = 10  # every tenth time of a flow line is drawn


@final
@dataclass(frozen=True)
class StaircaseState:
    """What the view shows: how many heads learn how many patterns, how strong and how long, from which noise."""

    heads: int = 3
    patterns: int = 3
    ratio: float = 1.7
    T: int = 32
    block: int = 1
    noise: int = -6
    flow: Literal["logits", "published"] = "logits"

    def __post_init__(self) -> None:
        for name, slider in _SLIDERS.items():
            slider.check(name, getattr(self, name))
        theory.patterns(self.strengths, self.block, T=self.T)

    @property
    def strengths(self) -> list[float]:
        """m_k of each pattern; the weakest has 1."""
        return [self.ratio**k for k in range(self.patterns - 1, -1, -1)]


@lru_cache(maxsize=64)
def _line(state: StaircaseState) -> theory.HeadTrajectory:
    """A flow line, noise on blocks only and alike within a block: then few numbers describe it, however large T is."""
    task = theory.patterns(state.strengths, state.block, T=state.T)
    noise = 10.0**state.noise * np.random.default_rng(0).uniform(-1, 1, (state.heads, state.patterns))
    start = np.pad(np.repeat(noise, state.block, axis=1), [(0, 0), (0, state.T - state.block * state.patterns)])
    return theory.head_flow(task, state.heads, start=start, flow=state.flow)


def _draw(workspace: Workspace, state: StaircaseState, colours: Palette) -> Drawing:
    line = _line(state)
    table = _table(line)
    return Drawing(
        {"loss": _loss(line, table, colours), "attention": _heads(line, table, colours)},
        {"loss": {name: table[name] for name in ("time", "loss")}, "attention": table},
        _facts(state, line),
    )


def _loss(line: theory.HeadTrajectory, table: Columns, colours: Palette) -> Figure:
    levels = theory.plateau_levels(line.task)
    shapes = [figures.horizontal(float(x), colours.neutral) for x in levels]
    notes = [
        {"text": f"L{n}", "x": 1, "xref": "paper", "y": float(x), "yanchor": "bottom", "xanchor": "right"}
        for n, x in enumerate(levels)
    ]
    axes = {
        "xaxis": figures.log_axis(colours, "flow time"),
        "yaxis": figures.axis(colours, "loss", rangemode="tozero"),
    }
    curve = figures.line(table["time"], table["loss"], colours.ours)
    return figures.figure(colours, [curve], axes, shapes=shapes, notes=notes, legend=False)


def _heads(line: theory.HeadTrajectory, table: Columns, colours: Palette) -> Figure:
    """Attention of each head on each pattern, heads above each other."""
    heads, patterns = line.heads.size, line.task.K
    axes: dict[str, Any] = {"xaxis": figures.log_axis(colours, "flow time", anchor=f"y{heads}")}
    traces = []
    for h, domain in enumerate(figures.rows(heads)):
        axes[f"yaxis{h + 1}"] = figures.axis(colours, f"head {h + 1}", domain=domain, range=[0, 1.05], nticks=3)
        for k, colour in enumerate(figures.shades(colours, patterns)):
            name = f"on pattern {k + 1}" if h == 0 else ""
            values = table[f"head{h + 1}_pattern{k + 1}"]
            traces.append(figures.line(table["time"], values, colour, name, yaxis=f"y{h + 1}"))
    return figures.figure(colours, traces, axes)


def _table(line: theory.HeadTrajectory) -> Columns:
    mass = line.mass[1::_EVERY]
    named = {f"head{h + 1}_pattern{k + 1}": mass[:, h, k] for h, k in np.ndindex(mass.shape[1:])}
    return {"time": line.t[1::_EVERY], "loss": line.loss[1::_EVERY], **named}


def _facts(state: StaircaseState, line: theory.HeadTrajectory) -> Component:
    rows: list[tuple[Any, ...]] = [
        (f"pattern {n + 1} is learned", f"at {number(t)}" if np.isfinite(t) else "not within this time")
        for n, t in enumerate(line.transitions)
    ]
    if state.patterns > 1:
        closed = float(theory.saddle_time(line.task, state.heads, 10.0**state.noise, flow=state.flow))
        rows.append(("heads compete until, to leading order", number(closed) if np.isfinite(closed) else "for ever"))
    return facts(rows)


VIEW = View(
    name="staircase",
    title="Staircase",
    about="Heads learn patterns of attention one after the other (paper B): they compete for one, then a head moves on to the next.",
    state=StaircaseState,
    controls=_SLIDERS | {"flow": Choice("Flow", {"logits": "of the model", "published": "as the paper simulates it"})},
    panels={"loss": "Loss and its plateaus", "attention": "Attention of each head"},
    draw=_draw,
)
