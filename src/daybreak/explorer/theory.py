"""Theory: the plateau of the toy model (paper A) at any T, d, B and p, redrawn while a slider moves."""

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from dash import Dash, Input, Output, State, ctx, html
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from daybreak import theory
from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.explorer import address, figures
from daybreak.explorer.controls import Choice, Hidden, Slider
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.flows import Flow, FlowSetting, coarse_plateau, flow_table, flows, pin, unpin
from daybreak.explorer.parts import facts
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.explorer.workspace import Workspace
from daybreak.lab.reading.published import published
from daybreak.theory.reduced import loss_two

_SLIDERS = {
    "T": Slider("Sequence length T", 4, 65536, 0.25, log=True),
    "d": Slider("Dimension d", 1, 4096, 0.25, log=True),
    "B": Slider("Copies in the context B", 1, 1024, 0.25, log=True),
    "p": Slider("Probability of repetition p", 0, 0.9, 0.01, whole=False),
    "level": Slider("Plateau ends at this fraction of the loss", 0.01, 0.9, 0.01, whole=False),
}
_GRID = 41  # points of the landscape across and up
_PINS = 4


@final
@dataclass(frozen=True)
class TheoryState:
    """What the view shows: a setting, the level that ends a plateau, the axis of the law, and pinned settings."""

    T: int = 512
    d: int = 64
    B: int = 1
    p: float = 0.0
    logits: Literal["tied", "free"] = "tied"
    level: float = 0.2
    along: Literal["T", "d", "B", "p"] = "T"
    pins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for setting in (self.setting, *self.pinned):
            for name, value in setting._asdict().items():
                if name in _SLIDERS:
                    _SLIDERS[name].check(name, value)
        _SLIDERS["level"].check("level", self.level)
        if len(self.pins) > _PINS:
            raise RequestError(f"{len(self.pins)} pins are not allowed: at most {_PINS} curves can be pinned.")

    @property
    def setting(self) -> FlowSetting:
        """The one of the sliders."""
        return FlowSetting(self.T, self.d, self.B, self.p, self.logits)

    @property
    def pinned(self) -> tuple[FlowSetting, ...]:
        """Those to compare with."""
        return tuple(map(unpin, self.pins))


def warm() -> None:
    """Compile what the first drawing needs."""
    flows((TheoryState().setting,), TheoryState().level)


def _axis(setting: FlowSetting, along: str) -> Floats:
    """Values of one setting around a setting: octaves, so that they stay while the setting moves; B stays below T."""
    slider = _SLIDERS[along]
    if along == "p":
        return np.linspace(0, 0.9, 10)
    middle = round(np.log2(getattr(setting, along)))
    values = 2.0 ** np.arange(middle - 4, middle + 5)
    low = max(slider.low, setting.B + 1) if along == "T" else slider.low
    high = min(slider.high, setting.T - 1) if along == "B" else slider.high
    return values[(values >= low) & (values <= high)]


def _draw(workspace: Workspace, state: TheoryState, colours: Palette) -> Drawing:
    shown = flows((state.setting, *state.pinned), state.level)
    law = _law_table(state)
    return Drawing(
        {
            "time": _over_time(shown, colours),
            "landscape": _landscape(shown[0], colours),
            "law": _law(state, shown[0].plateau, law, colours),
        },
        {"time": flow_table(shown), "landscape": flow_table(shown[:1]), "law": law},
        _facts(state, shown[0].plateau, law),
    )


def _over_time(shown: list[Flow], colours: Palette) -> Figure:
    """Loss, weights and attention above each other, over the same time."""
    traces = []
    for flow, colour in zip(shown, (colours.ours, *colours.others), strict=False):
        line, first = flow.line, flow is shown[0]
        style = {"width": 2.4 if first else 1.5, "legendgroup": str(flow.setting)}
        label = str(flow.setting) if len(shown) > 1 else ""
        rows = (line.clean_loss, line.w / np.sqrt(flow.setting.d), flow.setting.B * line.alpha)
        for row, (values, name) in enumerate(zip(rows, (label, "", ""), strict=True)):
            traces.append(figures.line(line.t, values, colour, name, yaxis=f"y{row + 1}", **style))
        if flow.setting.p > 0:
            tint = colours.paper if first else colour
            names = ("training loss", "w̃, the repeated direction") if first else ("", "")
            for row, (values, name) in enumerate(zip((line.loss, line.w_tilde), names, strict=True)):
                traces.append(figures.line(line.t, values, tint, name, yaxis=f"y{row + 1}", width=1.5, dash="dash"))
    titles = ("clean loss", "w / √d", "attention Bα")
    axes: dict[str, Any] = {
        f"yaxis{i + 1}": figures.axis(colours, title, domain=domain, rangemode="tozero", nticks=4)
        for i, (title, domain) in enumerate(zip(titles, figures.rows(3), strict=True))
    }
    axes["xaxis"] = figures.axis(colours, "flow time", anchor="y3")
    tints = (colours.ours, *colours.others)
    shapes = [figures.vertical(flow.plateau, tint) for flow, tint in zip(shown, tints, strict=False)]
    return figures.figure(colours, traces, axes, shapes=shapes)


def _landscape(flow: Flow, colours: Palette) -> Figure:
    line = flow.line
    across = np.linspace(-0.05, 1.15, _GRID) * line.w.max()
    up = np.linspace(-0.5, 1.1 * line.delta_a.max(), _GRID)
    loss = loss_two(np.meshgrid(across, up), line.setting, np)
    ground = {
        "type": "heatmap",
        "x": figures.numbers(across),
        "y": figures.numbers(up),
        "z": figures.numbers(np.minimum(loss, 0.6)),
        "zmin": 0,
        "zmax": 0.6,
        "zsmooth": "best",
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "loss", "side": "right"}, "thickness": 10, "outlinewidth": 0},
    }
    path = figures.line(line.w, line.delta_a, "#ffffff", width=2.2)
    start = figures.points(line.w[:1], line.delta_a[:1], "#ffffff", symbol="x", size=9)
    axes = {
        "xaxis": figures.axis(colours, "weight w", range=[across[0], across[-1]], showgrid=False),
        "yaxis": figures.axis(colours, "logit Δa", range=[up[0], up[-1]], showgrid=False),
    }
    return figures.figure(colours, [ground, path, start], axes, legend=False)


def _law(state: TheoryState, plateau: float, law: Columns, colours: Palette) -> Figure:
    """The plateau along one axis through the setting: by the flow, in closed form, and by the paper's law."""
    x = law[state.along]
    traces = [
        figures.line(x, law["plateau"], colours.ours, "flow"),
        figures.line(x, law["closed_form"], colours.neutral, "closed form", dash="dot"),
        figures.points([getattr(state, state.along)], [plateau], colours.ours, size=11),
    ]
    if "paper" in law:
        traces.append(figures.line(x, law["paper"], colours.paper, "paper's law", dash="dash"))
    axes = {
        "xaxis": figures.fitting_axis(colours, state.along, x),
        "yaxis": figures.log_axis(colours, "plateau (flow time)"),
    }
    return figures.figure(colours, traces, axes)


def _law_table(state: TheoryState) -> Columns:
    """Plateaus along an axis; in the precision of a picture."""
    values = _axis(state.setting, state.along)
    lengths = np.array([coarse_plateau(_moved(state, x), state.level).length for x in values.tolist()])
    settings = state.setting._asdict()
    logits = settings.pop("logits")
    table: dict[str, Any] = {name: np.full(values.size, x, np.float64) for name, x in settings.items()}
    table[state.along] = values
    closed = theory.plateau_estimate(**table, logits=logits, level=state.level)
    theirs = _paper(state, table)
    return table | {"plateau": lengths, "closed_form": closed} | ({} if theirs is None else {"paper": theirs})


def _moved(state: TheoryState, value: float) -> FlowSetting:
    return state.setting._replace(**{state.along: value if state.along == "p" else int(value)})


def _paper(state: TheoryState, table: Columns) -> Floats | None:
    """The law of figure 2 left, which is for tied logits and plateaus that end at a fifth of the loss."""
    kind = {"task": "single-location", "model": "toy", "optimizer": "sgd", "learning_rate": 1.0}
    law = published({**kind, **table})
    return law.predict(table) if law is not None and (state.logits, state.level) == ("tied", 0.2) else None


def _facts(state: TheoryState, plateau: float, law: Columns) -> Component:
    T, d, B, p, logits = state.setting
    forms = {
        "closed form": theory.plateau_estimate(T, d, B, p, logits=logits, level=state.level),
        "take-off": theory.takeoff_time(T, d, B, p, logits=logits),
        "escape time (paper A)": theory.escape_time(T, d, B, p, eps=1 - state.level, logits=logits),
    }
    exponent = _exponent(state, law)
    return facts(
        [
            ("plateau of the flow", f"{plateau:,.1f}"),
            *((name, f"{x:,.1f} ({x / plateau - 1:+.1%})") for name, x in forms.items()),
            ("growth rate", f"{theory.growth_rate(T, d, B, p, logits=logits):.3g}"),
            *([] if exponent is None else [(f"local power of {state.along}", f"{exponent:.2f}")]),
        ]
    )


def _exponent(state: TheoryState, law: Columns) -> float | None:
    """The slope of the law at the setting, on logs."""
    if state.along == "p" or law["plateau"].size < 3:
        return None
    x, y = np.log(law[state.along]), np.log(law["plateau"])
    return float(np.interp(np.log(getattr(state, state.along)), x, np.gradient(y, x)))


def _pinning(app: Dash) -> None:
    """Two buttons: pin the curve of the sliders, and unpin all."""

    @app.callback(
        Output("theory-pins", "data"),
        Input("theory-pin", "n_clicks"),
        Input("theory-unpin", "n_clicks"),
        State("theory-kept", "data"),
        prevent_initial_call=True,
    )
    def _pin(pinned: int | None, unpinned: int | None, kept: str | None) -> list[str]:
        if ctx.triggered_id == "theory-unpin":
            return []
        if kept is None:  # nothing has been drawn yet
            raise PreventUpdate
        state = address.read(TheoryState, kept)
        pins = dict.fromkeys([*state.pins, pin(state.setting)])
        return list(pins)[-_PINS:]


VIEW = View(
    name="theory",
    title="Theory",
    about="Attention learns to find one token among T (paper A).",
    state=TheoryState,
    controls={
        **{name: _SLIDERS[name] for name in ("T", "d", "B", "p")},
        "logits": Choice("Logits of the relevant positions", {"tied": "tied", "free": "free"}),
        "level": _SLIDERS["level"],
        "along": Choice("Law along", {"T": "T", "d": "d", "B": "B", "p": "p"}),
        "pins": Hidden(),
    },
    panels={
        "time": "Loss, weights and attention over time",
        "landscape": "Loss landscape and flow",
        "law": "The law through this setting",
    },
    draw=_draw,
    extras=(
        html.Div(
            [
                html.Button("Pin this curve", id="theory-pin", type="button"),
                html.Button("Unpin all", id="theory-unpin", type="button", className="quiet"),
            ],
            className="buttons",
        ),
    ),
    wire=_pinning,
)
