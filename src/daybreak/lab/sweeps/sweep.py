"""A sweep file: TOML in, runs out. Every setting of a run may be a value, a list (an axis), a range, or an expression.

    preset = "paper-a-regression"       # start from the settings of a paper; everything below changes them
    seeds = 5                           # 0 … 4; or a list
    where = "B < T"                     # leave out the rest of the grid

    [task]
    T = [64, 128, 256]
    d = { logspace = [16, 64, 3] }      # 16, 32, 64; also linspace = [first, last, how many], range as in Python

    [stop]
    budget = "4 * 0.76 * d**1.29 * T**0.8"

Several grids may share what stands above them: `[[grid]]`, then `[grid.task]` and so on.
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, final

from daybreak.errors import RequestError
from daybreak.lab.sweeps.expression import Expression, parse
from daybreak.lab.sweeps.field import Field, fields_of
from daybreak.models import MODELS
from daybreak.tasks import TASKS
from daybreak.training import Optimizer, Run, Schedule, Stop, to_json
from daybreak.training.presets import PRESETS

MOST = 1_000_000
"""Runs of one sweep at most."""

_SECTIONS = ("task", "model", "optimizer", "stop", "schedule")
_SCALARS = ("seed", "batch", "evaluation")
_KEYS = ("preset", "seeds", "where", "batch", "evaluation", *_SECTIONS)


def read(path: Path) -> list[Run]:
    """The runs that a sweep file asks for, each once, in its order.

    Raises:
        RequestError: one sentence with file, line and what is allowed, for whatever is wrong with it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RequestError(f"sweep file {str(path)!r} cannot be read: {why}.") from None
    return runs(text, path.name)


def runs(text: str, name: str = "sweep") -> list[Run]:
    """The runs of a sweep file's text.

    Example:
        >>> made = runs('''
        ... seeds = 2
        ... [task]
        ... name = "single-location"
        ... T = [8, 16]
        ... [model]
        ... name = "toy"
        ... ''')
        >>> [(run.task.T, run.seed) for run in made]
        [(8, 0), (8, 1), (16, 0), (16, 1)]
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        lines = max(text.rstrip().count("\n") + 1, 1)
        said = str(error).replace("at end of document", f"at the end, line {lines}")
        raise RequestError(f"{name}: {said}.") from None
    page = _Page(name, text)
    grids = [_grid(block, page) for block in _blocks(data, page)]
    count = sum(grid.count for grid in grids)
    if count > MOST:
        raise RequestError(f"{name}: a sweep of {count:,} runs is too large: at most {MOST:,} are allowed.")
    made = {run.id: run for grid in grids for run in grid.runs()}
    if not made:
        raise RequestError(f"{name}: where = {grids[0].where and grids[0].where.text!r} leaves out all {count:,} runs.")
    return list(made.values())


@final
@dataclass(frozen=True)
class _Page:
    """The file, to say where something stands in it."""

    name: str
    text: str

    @contextmanager
    def at(self, section: str, key: str) -> Iterator[None]:
        """Errors raised inside say file and line."""
        try:
            yield
        except RequestError as error:
            line = self._line(section, key)
            raise RequestError(f"{self.name}{f', line {line}' if line else ''}: {str(error).rstrip('.')}.") from None

    def _line(self, section: str, key: str) -> int | None:
        """Where a key of a section ("" above all of them) stands, by the look of it; None for rarer ways to write TOML."""
        inside = ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            bare = line.strip()
            if bare.startswith("["):
                inside = bare.partition("]")[0].strip("[ ").removeprefix("grid.").removeprefix("grid")
                if not section and inside == key:
                    return number
            elif inside == section and bare.partition("=")[0].strip(" \t\"'") == key:
                return number
        return None


def _blocks(data: dict[str, Any], page: _Page) -> list[dict[str, Any]]:
    """The grids of a file, each with what all of them share."""
    grids = data.pop("grid", [{}])
    with page.at("", "grid"):
        if not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
            raise RequestError("'grid' must be written [[grid]], once for each")
    for block in (data, *grids):
        for key, value in block.items():
            with page.at("", key):
                _known(key, (*_KEYS, "grid"), "a sweep")
                if key in _SECTIONS and not isinstance(value, dict):
                    raise RequestError(f"{key} = {value!r} is not allowed: it must be a table, [{key}]")
                if key in ("preset", "where") and not isinstance(value, str):
                    raise RequestError(f"{key} = {value!r} is not allowed: it must be a text")
    return [_merged(data, grid) for grid in grids]


def _merged(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A grid's own settings over the shared ones. Another task or model has other settings, so it starts anew."""
    made = shared | own
    for section in _SECTIONS:
        if section in shared and section in own:
            same = own[section].get("name") in (None, shared[section].get("name")) or section not in ("task", "model")
            made[section] = (shared[section] if same else {}) | own[section]
    return made


@final
@dataclass(frozen=True)
class _Grid:
    """One block of axes: each setting has one alternative or several, and every combination is a run."""

    page: _Page
    classes: dict[str, type]
    settings: dict[str, Field]  # by place: "task.T", "seed"
    axes: dict[str, Sequence[Any]]  # those that the file or its preset give
    where: Expression | None

    @property
    def count(self) -> int:
        """Combinations, before `where`."""
        return math.prod(len(axis) for axis in self.axes.values())

    def runs(self) -> Iterator[Run]:
        """Every combination that `where` lets pass."""
        make = cache(lambda section, given: self.classes[section](**dict(given)))  # there are few tasks for many seeds
        defaults = {place: setting.default for place, setting in self.settings.items()}
        short = _short_names(self.settings)
        for chosen in itertools.product(*self.axes.values()):
            given = self._computed(dict(zip(self.axes, chosen, strict=True)), defaults, short)
            if self.where is not None:
                with self.page.at("", "where"):
                    if not self.where(_readable(defaults | given, short)):
                        continue
            parts: dict[str, dict[str, Any]] = {section: {} for section in ("", *_SECTIONS)}
            for place, value in given.items():
                section, _, key = place.rpartition(".")
                parts[section][key] = value
            try:
                made = {section: make(section, tuple(parts[section].items())) for section in _SECTIONS}
                yield Run(**made, **parts[""])
            except RequestError as error:
                raise RequestError(f"{self.page.name}: {error}") from None

    def _computed(self, given: dict[str, Any], defaults: dict[str, Any], short: dict[str, str]) -> dict[str, Any]:
        """The same with numbers in the place of expressions, those first that others read."""
        while waiting := {place: x for place, x in given.items() if isinstance(x, Expression)}:
            known = _readable({place: x for place, x in (defaults | given).items() if place not in waiting}, short)
            ready = {
                place: x
                for place, x in waiting.items()
                if not any(short.get(name, name) in waiting for name in x.names)
            }
            for place, expression in (ready or waiting).items():
                section, _, key = place.rpartition(".")
                with self.page.at(section, key):
                    if not ready:
                        raise RequestError(
                            f"{key} = {expression.text!r} is not allowed: expressions read each other in a circle"
                        )
                    given[place] = self.settings[place].computed(expression, known)
        return given


def _grid(block: Mapping[str, Any], page: _Page) -> _Grid:
    """Read one block; everything that can be refused before runs are made is refused here."""
    with page.at("", "preset"):
        base = _preset(block.get("preset"))
    classes, settings, axes = {"optimizer": Optimizer, "stop": Stop, "schedule": Schedule}, {}, {}
    for section in _SECTIONS:
        given, start = dict(block.get(section, {})), dict(base.get(section, {}))
        if section in ("task", "model"):
            known = {"task": TASKS, "model": MODELS}[section]
            with page.at(section, "name"):
                name = given.pop("name", start.get("name"))
                if name != start.pop("name", None):
                    start = {}
                classes[section] = _chosen(section, name, known)
        own = fields_of(classes[section])
        for key, value in (start | given).items():
            with page.at(section, key):
                _known(key, tuple(own), f"[{section}]")
                # A preset's values are plain already, and may be None, which TOML has no word for.
                axes[f"{section}.{key}"] = own[key].alternatives(value) if key in given else [value]
        settings |= {f"{section}.{key}": setting for key, setting in own.items()}
    for key in _SCALARS:
        settings[key] = fields_of(Run)[key]
        if key in block or key in base:
            with page.at("", key):
                axes[key] = settings[key].alternatives(block.get(key, base.get(key)))
    with page.at("", "seeds"):
        axes["seed"] = _seeds(settings["seed"], block.get("seeds", 1))
    with page.at("", "where"):
        where = parse(block["where"]) if "where" in block else None
    return _Grid(page, classes, settings, axes, where)


def _preset(name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    _known(name, tuple(PRESETS), "'preset'")
    return to_json(PRESETS[name])


def _chosen(section: str, name: Any, known: Mapping[str, type]) -> type:
    if name is None:
        raise RequestError(
            f"[{section}] needs a name ({', '.join(known)}), or the sweep a preset ({', '.join(PRESETS)})"
        )
    if not isinstance(name, str):
        raise RequestError(f"name = {name!r} is not allowed: it must be a text; for several, write a [[grid]] for each")
    _known(name, tuple(known), f"'name' of [{section}]")
    return known[name]


def _seeds(setting: Field, given: Any) -> Sequence[int]:
    if type(given) is not int:
        return setting.alternatives(given)
    if given < 1:
        raise RequestError(f"seeds = {given} is not allowed: it must be at least 1, or a list of seeds")
    return range(given)


def _known(key: str, allowed: tuple[str, ...], where: str) -> None:
    """Refuse a word that is not among those allowed, and suggest the nearest."""
    if key not in allowed:
        near = get_close_matches(key, allowed, 1)
        raise RequestError(
            f"{key!r} is unknown in {where}: "
            + (f"perhaps you meant {near[0]!r}" if near else f"there are {', '.join(allowed)}")
        )


def _short_names(settings: Mapping[str, Field]) -> dict[str, str]:
    """Places by their last part, where only one place has it: T for task.T."""
    last = [place.rpartition(".")[2] for place in settings]
    return {name: place for name, place in zip(last, settings, strict=True) if last.count(name) == 1}


def _readable(values: dict[str, Any], short: Mapping[str, str]) -> dict[str, Any]:
    """What an expression may name: every place in full, and by its short name."""
    return values | {name: values[place] for name, place in short.items() if place in values}
