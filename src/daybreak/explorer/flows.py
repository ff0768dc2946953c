"""Flow lines of the toy model, quick enough to follow a slider: one compiled program, a few milliseconds a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, final

import numpy as np

from daybreak import measure, theory
from daybreak._types import Floats
from daybreak.errors import RequestError
from daybreak.explorer.view import Columns

_POINTS = 240  # of a flow line: enough for a smooth curve, few enough for a quick one
_SHOWN = 1.7  # plateaus that the time axis spans


class FlowSetting(NamedTuple):
    """A point of the toy problem."""

    T: int
    d: int
    B: int
    p: float
    logits: Literal["tied", "free"]

    def __str__(self) -> str:
        return f"T {self.T}, d {self.d}, B {self.B}, p {self.p:g}, {self.logits}"


def pin(setting: FlowSetting) -> str:
    """A setting as an address contains it."""
    return " ".join(map(str, setting))


def unpin(text: str) -> FlowSetting:
    """The setting that an address names."""
    try:
        T, d, B, p, logits = text.split()
        if logits in ("tied", "free"):
            return FlowSetting(int(T), int(d), int(B), float(p), logits)
    except ValueError:
        pass
    raise RequestError(
        f"pins = {text!r} is not allowed: a pin is T, d, B, p and tied or free, such as '64 16 1 0 tied'."
    )


def _line(setting: FlowSetting, times: Floats) -> theory.Trajectory:
    T, d, B, p, logits = setting
    return theory.flow(T, d, B, p, logits=logits, times=times)


@lru_cache(maxsize=1024)
def coarse_plateau(setting: FlowSetting, level: float) -> measure.Plateau:
    """The plateau as the flow line crosses its level: to within one of its points, from 0 to a little after.

    A flow line takes some milliseconds, `theory.plateau` a tenth of a second for one setting or for a thousand.
    """
    T, d, B, p, logits = setting
    end = 1.2 * float(theory.plateau_estimate(T, d, B, p, logits=logits, level=level))
    while (length := _crossing(setting, level, 0.0, end)).censored:
        end *= 1.5
    return length


def _crossing(setting: FlowSetting, level: float, start: float, end: float) -> measure.Plateau:
    line = _line(setting, np.linspace(start, end, _POINTS))
    return measure.plateau(line.t, line.clean_loss, level / 2)  # the loss starts at one half


def plateau(setting: FlowSetting, level: float) -> float:
    """The plateau to a relative 1e-6 or so: the flow line once more, between the two points around the crossing."""
    return _crossing(setting, level, *coarse_plateau(setting, level).bracket).length


@final
@dataclass(frozen=True)
class Flow:
    """A setting, its plateau, and the line to draw."""

    setting: FlowSetting
    plateau: float
    line: theory.Trajectory


def flows(settings: Sequence[FlowSetting], level: float) -> list[Flow]:
    """The flows of some settings over one span of time."""
    lengths = [plateau(x, level) for x in settings]
    end = _SHOWN * max(lengths)
    return [Flow(x, length, _drawn(x, length, end)) for x, length in zip(settings, lengths, strict=True)]


@lru_cache(maxsize=64)
def _drawn(setting: FlowSetting, plateau: float, end: float) -> theory.Trajectory:
    """A flow line to draw: half of its points where it moves, within some time constants of the weights."""
    near = min(max(6 * setting.d / (1 - setting.p), 0.02 * plateau), 0.6 * plateau)
    ends = (0.0, plateau - near, plateau + near, max(end, plateau + 2 * near))
    counts = (_POINTS // 4, _POINTS // 2, _POINTS - _POINTS // 4 - _POINTS // 2)
    parts = [np.linspace(*pair, n, endpoint=False) for pair, n in zip(pairwise(ends), counts, strict=True)]
    return _line(setting, np.concatenate(parts))


def flow_table(flows: Sequence[Flow]) -> Columns:
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
