"""Theory: the plateau of the toy model (paper A) at any T, d, B and p, as it moves under a slider."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, final

import numpy as np
from dash import Dash, Input, Output, State, ctx, html

from daybreak import measure, theory
from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.explorer import address, figures
from daybreak.explorer.controls import Choice, Hidden, Slider
from daybreak.explorer.desk import Desk
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.parts import facts
from daybreak.explorer.view import Columns, Drawing, View
from daybreak.theory.reduced import loss_two

_SLIDERS = {
    "T": Slider("Sequence length T", 4, 65536, 0.25, log=True),
    "d": Slider("Dimension d", 1, 4096, 0.25, log=True),
    "B": Slider("Copies in the context B", 1, 1024, 0.25, log=True),
    "p": Slider("Probability of repetition p", 0, 0.9, 0.01, whole=False),
    "level": Slider("Ends at this share of the loss", 0.01, 0.9, 0.01, whole=False),
}
_POINTS = 240  # of a flow line: enough for a smooth curve, few enough for a quick one
_SHOWN = 1.7  # plateaus that the time axis spans
_GRID = 41  # points of the landscape across and up
_PINS = 4


class Setting(NamedTuple):
    """A point of the toy problem."""

    T: int
    d: int
    B: int
    p: float
    logits: Literal["tied", "free"]

    def __str__(self) -> str:
        return f"T {self.T}, d {self.d}, B {self.B}, p {self.p:g}, {self.logits}"


@final
@dataclass(frozen=True)
class Point:
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
    def setting(self) -> Setting:
        """The one under the sliders."""
        return Setting(self.T, self.d, self.B, self.p, self.logits)

    @property
    def pinned(self) -> tuple[Setting, ...]:
        """Those to compare with."""
        return tuple(map(_unpin, self.pins))


def pin(setting: Setting) -> str:
    """A setting as an address names it."""
    return " ".join(map(str, setting))


def _unpin(text: str) -> Setting:
    try:
        T, d, B, p, logits = text.split()
        if logits in ("tied", "free"):
            return Setting(int(T), int(d), int(B), float(p), logits)
    except ValueError:
        pass
    raise RequestError(
        f"pins = {text!r} is not allowed: a pin is T, d, B, p and tied or free, such as '64 16 1 0 tied'."
    )


def warm() -> None:
    """Compile what the first drawing needs."""
    _flows(Point())


def _line(setting: Setting, times: Floats) -> theory.Trajectory:
    T, d, B, p, logits = setting
    return theory.flow(T, d, B, p, logits=logits, times=times)


@lru_cache(maxsize=1024)
def _plateau(setting: Setting, level: float) -> measure.Plateau:
    """The plateau as the flow line crosses its level: to within one of its points, from 0 to a little after.

    A flow line takes some milliseconds, `theory.plateau` a tenth of a second for one setting or for a thousand.
    """
    T, d, B, p, logits = setting
    end = 1.2 * float(theory.plateau_estimate(T, d, B, p, logits=logits, level=level))
    while (found := _crossing(setting, level, 0.0, end)).censored:
        end *= 1.5
    return found


def _crossing(setting: Setting, level: float, start: float, end: float) -> measure.Plateau:
    line = _line(setting, np.linspace(start, end, _POINTS))
    return measure.plateau(line.t, line.clean_loss, level / 2)  # the loss starts at one half


def plateau(setting: Setting, level: float) -> float:
    """The plateau to a relative 1e-6 or so: the flow line once more, between the two points around the crossing."""
    return _crossing(setting, level, *_plateau(setting, level).bracket).length


def _axis(setting: Setting, along: str) -> Floats:
    """Values of one setting around a point: octaves, so that they stay while the point moves; B stays below T."""
    slider = _SLIDERS[along]
    if along == "p":
        return np.linspace(0, 0.9, 10)
    middle = round(np.log2(getattr(setting, along)))
    values = 2.0 ** np.arange(middle - 4, middle + 5)
    low = max(slider.low, setting.B + 1) if along == "T" else slider.low
    high = min(slider.high, setting.T - 1) if along == "B" else slider.high
    return values[(values >= low) & (values <= high)]


@final
@dataclass(frozen=True)
class _Flow:
    setting: Setting
    plateau: float
    line: theory.Trajectory


def _flows(point: Point) -> list[_Flow]:
    """The setting under the sliders and those pinned, over one span of time."""
    settings = (point.setting, *point.pinned)
    lengths = [plateau(x, point.level) for x in settings]
    end = _SHOWN * max(lengths)
    return [_Flow(x, length, _drawn(x, length, end)) for x, length in zip(settings, lengths, strict=True)]


@lru_cache(maxsize=64)
def _drawn(setting: Setting, plateau: float, end: float) -> theory.Trajectory:
    """A flow line to draw: half of its points where it moves, within some time constants of the weights."""
    near = min(max(6 * setting.d / (1 - setting.p), 0.02 * plateau), 0.6 * plateau)
    ends = (0.0, plateau - near, plateau + near, max(end, plateau + 2 * near))
    shares = (_POINTS // 4, _POINTS // 2, _POINTS - _POINTS // 4 - _POINTS // 2)
    parts = [np.linspace(*pair, n, endpoint=False) for pair, n in zip(pairwise(ends), shares, strict=True)]
    return _line(setting, np.concatenate(parts))


def _draw(desk: Desk, point: Point, colours: Palette) -> Drawing:
    flows = _flows(point)
    return Drawing(
        {
            "time": _over_time(flows, colours),
            "landscape": _landscape(flows[0], colours),
            "law": _law(point, colours),
        },
        {"time": _time_table(flows), "landscape": _time_table(flows[:1]), "law": _law_table(point)},
        _facts(point, flows[0].plateau),
    )


def _over_time(flows: list[_Flow], colours: Palette) -> Figure:
    """Loss, weights and attention above each other, over the same time."""
    traces, shapes = [], []
    for flow, colour in zip(flows, (colours.ours, *colours.others), strict=False):
        line, first = flow.line, flow is flows[0]
        width = 2.4 if first else 1.5
        named = {"legendgroup": str(flow.setting)}
        label = str(flow.setting) if len(flows) > 1 else ""
        top = [line.clean_loss, line.w / np.sqrt(flow.setting.d), flow.setting.B * line.alpha]
        for row, values in enumerate(top):
            traces.append(
                figures.line(
                    line.t, values, colour, label if row == 0 else "", width=width, yaxis=f"y{row + 1}", **named
                )
            )
        if flow.setting.p > 0:
            for row, values, name in ((0, line.loss, "training loss"), (1, line.w_tilde, "w̃, the repeated direction")):
                traces.append(
                    figures.line(
                        line.t, values, colours.paper if first else colour, name if first else "", width=1.5, dash="dash",
                        yaxis=f"y{row + 1}",
                    )
                )  # fmt: skip
        shapes.append(figures.vertical(flow.plateau, colour))
    titles = ("clean loss", "w / √d", "attention Bα")
    axes: dict[str, Any] = {
        f"yaxis{i + 1}": figures.axis(colours, title, domain=domain, rangemode="tozero", nticks=4)
        for i, (title, domain) in enumerate(zip(titles, figures.rows(3), strict=True))
    }
    axes["xaxis"] = figures.axis(colours, "flow time", anchor="y3")
    return figures.figure(colours, traces, axes, shapes=shapes)


def _landscape(flow: _Flow, colours: Palette) -> Figure:
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


def _law(point: Point, colours: Palette) -> Figure:
    """The plateau along one axis through the point: by the flow, in closed form, and by the paper's law."""
    table = _law_table(point)
    x = table[point.along]
    traces = [figures.line(x, table["plateau"], colours.ours, "flow")]
    traces.append(figures.line(x, table["closed_form"], colours.neutral, "closed form", dash="dot"))
    if "paper" in table:
        traces.append(figures.line(x, table["paper"], colours.paper, "paper's law", dash="dash"))
    traces.append(
        figures.points([getattr(point, point.along)], [plateau(point.setting, point.level)], colours.ours, size=11)
    )
    across = figures.axis(colours, "p") if point.along == "p" else figures.log_axis(colours, point.along, x)
    axes = {"xaxis": across, "yaxis": figures.log_axis(colours, "plateau (flow time)")}
    return figures.figure(colours, traces, axes)


def _law_table(point: Point) -> Columns:
    values = _axis(point.setting, point.along)
    lengths = np.array([_plateau(_moved(point, x), point.level).length for x in values.tolist()])
    settings = point.setting._asdict()
    logits = settings.pop("logits")
    table: dict[str, Any] = {name: np.full(values.size, x, np.float64) for name, x in settings.items()}
    table[point.along] = values
    closed = theory.plateau_estimate(**table, logits=logits, level=point.level)
    theirs = _paper(point, table)
    return table | {"plateau": lengths, "closed_form": closed} | ({} if theirs is None else {"paper": theirs})


def _moved(point: Point, value: float) -> Setting:
    return point.setting._replace(**{point.along: value if point.along == "p" else int(value)})


def _paper(point: Point, table: Columns) -> Floats | None:
    """The law of figure 2 left, which is for tied logits and plateaus that end at a fifth of the loss."""
    kind = {"task": "single-location", "model": "toy", "optimizer": "sgd", "learning_rate": 1.0}
    law = measure.published({**kind, **table})
    return law.predict(table) if law is not None and (point.logits, point.level) == ("tied", 0.2) else None


def _time_table(flows: list[_Flow]) -> Columns:
    """All curves below each other."""
    parts = []
    for flow in flows:
        line = flow.line
        settings = {name: np.full(line.t.size, x) for name, x in flow.setting._asdict().items()}
        measured = {
            "time": line.t,
            "clean_loss": line.clean_loss,
            "training_loss": line.loss,
            "w": line.w,
            "w_repeated": line.w_tilde,
            "delta_a": line.delta_a,
            "alpha": line.alpha,
        }
        parts.append(settings | measured)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _facts(point: Point, plateau: float):
    T, d, B, p, logits = point.setting
    forms = {
        "closed form": theory.plateau_estimate(T, d, B, p, logits=logits, level=point.level),
        "take-off alone": theory.takeoff_time(T, d, B, p, logits=logits),
        "escape time, paper A": theory.escape_time(T, d, B, p, eps=1 - point.level, logits=logits),
    }
    exponent = _exponent(point)
    return facts(
        [
            ("plateau by the flow", f"{plateau:,.1f}"),
            *((name, f"{x:,.1f} ({x / plateau - 1:+.1%})") for name, x in forms.items()),
            ("growth rate at the start", f"{theory.growth_rate(T, d, B, p, logits=logits):.3g}"),
            *([] if exponent is None else [(f"here it goes as {point.along} to the", f"{exponent:.2f}")]),
        ]
    )


def _exponent(point: Point) -> float | None:
    """The slope of the law at the point, on logs."""
    if point.along == "p":
        return None
    table = _law_table(point)
    values, lengths = np.log(table[point.along]), np.log(table["plateau"])
    return (
        float(np.interp(np.log(getattr(point, point.along)), values, np.gradient(lengths, values)))
        if values.size > 2
        else None
    )


def _pinning(app: Dash) -> None:
    """Two buttons: keep the curve under the sliders, and let all go."""

    @app.callback(
        Output("theory-pins", "data"),
        Input("theory-pin", "n_clicks"),
        Input("theory-unpin", "n_clicks"),
        State("theory-kept", "data"),
        prevent_initial_call=True,
    )
    def _pin(pinned: int | None, unpinned: int | None, kept: str) -> list[str]:
        if ctx.triggered_id == "theory-unpin":
            return []
        point = address.read(Point, kept)
        pins = dict.fromkeys([*point.pins, pin(point.setting)])
        return list(pins)[-_PINS:]


VIEW = View(
    name="theory",
    title="Theory",
    about="Attention learns to find one token among T (paper A).",
    state=Point,
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
        "law": "The law through this point",
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
