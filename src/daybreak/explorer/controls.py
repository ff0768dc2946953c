"""The controls of a view: sliders, choices, menus and texts, each with its label and the meaning of its value."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, final

import numpy as np
from dash import dcc, html
from dash.development.base_component import Component

from daybreak._types import Floats
from daybreak.explorer.address import check_within


@cache
def _octaves(low: float, high: float, step: float) -> Floats:
    """Logarithms to base 2 of whole numbers about a step apart, each number once."""
    return np.log2(np.unique(np.round(2 ** np.arange(np.log2(low), np.log2(high) + step / 2, step))))


@final
@dataclass(frozen=True)
class Slider:
    """A number between two ends.

    Args:
        label: what it is.
        low: smallest value.
        high: largest value.
        step: between two places of the slider: of the value, or about that of its logarithm to base 2.
        log: whether places count whole numbers on a logarithmic scale, so that each of them shows another number.
        whole: whether the value is a whole number.
        form: how the value is written.
        late: whether it takes effect only when it stops, for views that take a second to draw.
    """

    label: str
    low: float
    high: float
    step: float
    log: bool = False
    whole: bool = True
    form: str = "{:,g}"
    late: bool = False
    prop: ClassVar[str] = "value"

    def place(self, value: float) -> float:
        """Where a value stands on the slider; on a logarithmic one it may stand between two places."""
        if not self.log:
            return value
        octaves = _octaves(self.low, self.high, self.step)
        return float(np.interp(np.log2(value), octaves, np.arange(octaves.size)))

    def value(self, given: Any) -> float:
        """What a place means."""
        place = float(given)
        if self.log:
            octaves = _octaves(self.low, self.high, self.step)
            return round(2 ** float(np.interp(place, np.arange(octaves.size), octaves)))
        return round(place) if self.whole else float(f"{place:.6g}")

    def check(self, name: str, value: float) -> None:
        """Refuse a value beyond the ends."""
        check_within(name, value, self.low, self.high)

    def component(self, name: str, value: float) -> Component:
        """The browser's own slider: it moves with arrow keys, and with a thumb."""
        moved = dcc.Input(
            id=name,
            type="range",
            value=self.place(value),
            min=self.place(self.low),
            max=self.place(self.high),
            step=1 if self.log else self.step,
        )
        shown = html.Output(self.form.format(value), id=f"{name}-reads", htmlFor=name)
        parts = [html.Label(self.label, htmlFor=name), shown, moved]
        return html.Div(parts, className=f"control slider{' late' if self.late else ''}")


@final
@dataclass(frozen=True)
class Choice:
    """One of a few values, all of them visible."""

    label: str
    options: Mapping[str, str]  # what each is called, by value
    prop: ClassVar[str] = "value"

    def value(self, given: Any) -> str:
        """A value that is not among them is refused by the view's state."""
        return str(given)

    def component(self, name: str, value: str) -> Component:
        """Radio buttons side by side."""
        options = [{"value": x, "label": label} for x, label in self.options.items()]
        radio = dcc.RadioItems(options, value, id=name, className="choice", inline=True)
        return html.Fieldset([html.Legend(self.label), radio], className="control")


@final
@dataclass(frozen=True)
class Menu:
    """One of many values; they depend on the data, so the drawing sets them."""

    label: str
    prop: ClassVar[str] = "value"

    def value(self, given: Any) -> str:
        """Nothing chosen is an empty text."""
        return str(given or "")

    def component(self, name: str, value: str) -> Component:
        """A menu that can be searched. It forgets a value that is not among its options, so it begins with that."""
        menu = dcc.Dropdown([value] if value else [], value or None, id=name, clearable=False, placeholder="choose")
        return html.Div([html.Label(self.label, htmlFor=name), menu], className="control")


@final
@dataclass(frozen=True)
class Text:
    """A line to type; it takes effect when the field is left or Enter is pressed."""

    label: str
    hint: str
    prop: ClassVar[str] = "value"

    def value(self, given: Any) -> str:
        """What was typed, without blanks around it."""
        return str(given or "").strip()

    def component(self, name: str, value: str) -> Component:
        """A field."""
        field = dcc.Input(id=name, type="text", value=value, placeholder=self.hint, debounce=True, spellCheck="false")
        return html.Div([html.Label(self.label, htmlFor=name), field], className="control")


@final
@dataclass(frozen=True)
class Hidden:
    """State that buttons change: a text, or several."""

    prop: ClassVar[str] = "data"

    def value(self, given: Any) -> Any:
        """A list is several."""
        return tuple(map(str, given)) if isinstance(given, list) else given

    def component(self, name: str, value: Any) -> Component:
        """Nothing to see."""
        return dcc.Store(id=name, data=list(value) if isinstance(value, tuple) else value)


Control = Slider | Choice | Menu | Text | Hidden
