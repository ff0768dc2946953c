"""What a view is: a state that an address contains, controls that change it, and a pure function that draws it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

from dash import Dash
from dash.development.base_component import Component
from numpy.typing import NDArray

from daybreak.explorer.controls import Control
from daybreak.explorer.figures import Figure, Palette
from daybreak.explorer.workspace import Workspace

Columns = Mapping[str, NDArray]


@final
@dataclass(frozen=True)
class Drawing:
    """What a view shows at a state.

    Args:
        figures: by panel.
        tables: what the download of each panel contains, by panel.
        text: words and numbers.
        updates: properties of controls that follow from the data, by field and property.
        state: with what was left open filled in; None if nothing was.
        problem: why there is nothing to see, as a sentence; empty if there is.
    """

    figures: Mapping[str, Figure] = field(default_factory=dict)
    tables: Mapping[str, Columns] = field(default_factory=dict)
    text: Any = None
    updates: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    state: Any = None
    problem: str = ""


@final
@dataclass(frozen=True)
class View:
    """One page of the explorer.

    Args:
        name: its address.
        title: in the navigation.
        about: one sentence on what it shows.
        state: a frozen dataclass with a default for every field.
        controls: by field of the state.
        panels: title of each picture, by name.
        draw: what it shows at a state.
        updates: properties of controls that drawings set.
        leading: the control whose change empties all others, because they are about what it chooses; empty for none.
        text_place: whether words and numbers stand below the controls or above the pictures.
        live: whether it follows a lab that grows.
        extras: what stands below the controls, such as a button.
        wire: adds further callbacks.
    """

    name: str
    title: str
    about: str
    state: type
    controls: Mapping[str, Control]
    panels: Mapping[str, str]
    draw: Callable[[Workspace, Any, Palette], Drawing]
    updates: tuple[tuple[str, str], ...] = ()
    leading: str = ""
    text_place: Literal["side", "above"] = "side"
    live: bool = False
    extras: tuple[Component, ...] = ()
    wire: Callable[[Dash], None] | None = None

    def __post_init__(self) -> None:
        if both := self.controls.keys() & self.panels.keys():
            raise ValueError(f"view {self.name!r} has controls and panels of one name: {', '.join(both)}")
