"""A sweep file: TOML in, runs out. Every setting of a run may be a value, a list (an axis), a range, or an expression.

    preset = "paper-a-regression"       # start from the settings of a paper; everything below changes them
    seeds = 5                           # 0 … 4; or a list
    where = "B < T"                     # leave out the rest of the grid

    [task]
    T = [64, 128, 256]
    d = { logspace = [16, 64, 3] }      # 16, 32, 64; also linspace = [first, last, how many], range as in Python

    [stop]
    budget = "4 * 0.76 * d**1.29 * T**0.8"

Several grids may share the settings above them: `[[grid]]`, then `[grid.task]` and so on.
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, final

from daybreak import models, tasks
from daybreak._own import located
from daybreak.errors import RequestError, nearest
from daybreak.lab import _files
from daybreak.lab.sweeps.expression import Expression, parse
from daybreak.lab.sweeps.field import Field, fields_of
from daybreak.training import Optimizer, Run, Schedule, Stop, check_own, level_of, to_json
from daybreak.training.presets import PRESETS

MOST = 1_000_000
"""Runs of one sweep at most."""
_LARGEST = 10_000_000  # bytes of a sweep file
_DEEPEST = 10  # values inside each other: a grid has a table has a list of lists

_SECTIONS = ("task", "model", "optimizer", "stop", "schedule")
_SCALARS = ("seed", "batch", "evaluation", "precision")
_KEYS = ("preset", "seeds", "where", "batch", "evaluation", "precision", *_SECTIONS)


def read(path: Path) -> list[Run]:
    """The runs that a sweep file asks for, each once, in its order.

    Raises:
        RequestError: one sentence with file, line and what is allowed.
    """
    try:
        text = _files.read(path, _LARGEST).decode("utf-8-sig")
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        why = error.strerror if isinstance(error, OSError) else str(error)
        if isinstance(error, UnicodeDecodeError):
            why = "it is not UTF-8 text"
        raise RequestError(f"sweep file {str(path)!r} cannot be read: {why}.") from None
    return runs(text, path.name, path.parent)


def runs(text: str, name: str = "sweep", folder: Path = Path()) -> list[Run]:
    """The runs of a sweep file's text.

    Args:
        text: of the file.
        name: of the file, for messages.
        folder: where the paths of tasks and models start, `name = "my_task.py:Needle"`. These files are executed.

    Example:
        >>> sweep = runs('''
        ... seeds = 2
        ... [task]
        ... name = "single-location"
        ... T = [8, 16]
        ... [model]
        ... name = "toy"
        ... ''')
        >>> [(run.task.T, run.seed) for run in sweep]
        [(8, 0), (8, 1), (16, 0), (16, 1)]
    """
    file = _File(name, text, folder)
    data = _parsed(file)
    grids = [_grid(block, file) for block in _blocks(data, file)]
    count = sum(grid.count for grid in grids)
    if count > MOST:
        raise RequestError(f"{name}: a sweep of {count:,} runs is too large: at most {MOST:,} are allowed.")
    by_id = {run.id: run for grid in grids for run in grid.runs()}
    if not by_id:
        raise RequestError(f"{name}: where = {grids[0].where and grids[0].where.text!r} leaves out all {count:,} runs.")
    check_own(by_id.values())
    return list(by_id.values())


def _parsed(file: "_File") -> dict[str, Any]:
    """The values of a file, nested at most `_DEEPEST` times: more is no setting, and Python could not print it."""
    try:
        if any(x.count(".") > _DEEPEST and "," not in x for line in file.text.splitlines() for x in line.split("=")):
            raise RecursionError  # a key of many parts, which Python reads in quadratic time
        data = tomllib.loads(file.text)
        level: list[Any] = [data]
        for _ in range(_DEEPEST):
            level = [
                y for x in level for y in (x.values() if isinstance(x, dict) else x if isinstance(x, list) else ())
            ]
        if not level:
            return data
        raise RecursionError
    except tomllib.TOMLDecodeError as error:
        lines = max(file.text.rstrip().count("\n") + 1, 1)
        message = str(error).replace("at end of document", f"at the end, line {lines}")
    except RecursionError:
        message = "values are nested too deeply"
    except ValueError:  # Python reads whole numbers of up to 4 300 digits
        message = "a number has too many digits"
    raise RequestError(f"{file.name}: {message}.")


@final
@dataclass(frozen=True)
class _File:
    """The sweep file, to give the line of an error, and to find the files that it names."""

    name: str
    text: str
    folder: Path

    @contextmanager
    def at(self, section: str, key: str) -> Iterator[None]:
        """Errors raised inside get the file and the line of a key."""
        try:
            yield
        except RequestError as error:
            line = self._line(section, key)
            raise RequestError(f"{self.name}{f', line {line}' if line else ''}: {str(error).rstrip('.')}.") from None

    def _line(self, section: str, key: str) -> int | None:
        """The line of a key of a section ("" for the top level), by a simple search; None where TOML is written in a rarer way."""
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


def _blocks(data: dict[str, Any], file: _File) -> list[dict[str, Any]]:
    """The grids of a file, each with the settings that all of them share."""
    grids = data.pop("grid", [{}])
    with file.at("", "grid"):
        if not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
            raise RequestError("'grid' must be written [[grid]], once for each")
    for block in (data, *grids):
        for key, value in block.items():
            with file.at("", key):
                _check_name(key, (*_KEYS, "grid"), "a sweep")
                if key in _SECTIONS and not isinstance(value, dict):
                    raise RequestError(f"{key} = {value!r} is not allowed: it must be a table, [{key}]")
                if key in ("preset", "where") and not isinstance(value, str):
                    raise RequestError(f"{key} = {value!r} is not allowed: it must be a string")
    return [_merged(data, grid) for grid in grids]


def _merged(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A grid's own settings over the shared ones. Another task or model has other settings, so nothing is shared with it."""
    merged = shared | own
    for section in _SECTIONS:
        if section in shared and section in own:
            same = own[section].get("name") in (None, shared[section].get("name")) or section not in ("task", "model")
            merged[section] = (shared[section] if same else {}) | own[section]
    return merged


@final
@dataclass(frozen=True)
class _Grid:
    """One block of axes: each setting has one alternative or several, and every combination is a run."""

    file: _File
    classes: dict[str, type]
    settings: dict[str, Field]  # by dotted path: "task.T", "seed"
    axes: dict[str, Sequence[Any]]  # those that the file or its preset give
    where: Expression | None

    @property
    def count(self) -> int:
        """Combinations, before `where`."""
        return math.prod(len(axis) for axis in self.axes.values())

    def runs(self) -> Iterator[Run]:
        """Every combination for which `where` is true."""
        make = cache(lambda section, given: self.classes[section](**dict(given)))  # few tasks, many seeds
        defaults = {path: setting.default for path, setting in self.settings.items()}
        short = _short_names(self.settings)
        for chosen in itertools.product(*self.axes.values()):
            given = self._computed(dict(zip(self.axes, chosen, strict=True)), defaults, short)
            if self.where is not None:
                with self.file.at("", "where"):
                    kept = self.where(_named(defaults | given, short))
                    if not isinstance(kept, bool | None):
                        raise RequestError(
                            f"where = {self.where.text!r} is not allowed: it gives {kept!r}, not true or false"
                        )
                    if not kept:
                        continue
            parts: dict[str, dict[str, Any]] = {section: {} for section in ("", *_SECTIONS)}
            for path, value in given.items():
                section, _, key = path.rpartition(".")
                parts[section][key] = value
            try:
                with located():
                    task = make("task", tuple(parts["task"].items()))
                    if type(task) not in tasks.TASKS.values():
                        parts["stop"].setdefault("level", level_of(task))
                    rest = (section for section in _SECTIONS if section != "task")
                    built = {section: make(section, tuple(parts[section].items())) for section in rest}
                    run = Run(task, **built, **parts[""])
                yield run
            except RequestError as error:
                raise RequestError(f"{self.file.name}: {error}") from None

    def _computed(self, given: dict[str, Any], defaults: dict[str, Any], short: dict[str, str]) -> dict[str, Any]:
        """The same with expressions replaced by numbers, in the order in which they depend on each other."""
        while waiting := {path: x for path, x in given.items() if isinstance(x, Expression)}:
            values = _named({path: x for path, x in (defaults | given).items() if path not in waiting}, short)
            ready = {
                path: x for path, x in waiting.items() if not any(short.get(name, name) in waiting for name in x.names)
            }
            for path, expression in (ready or waiting).items():
                section, _, key = path.rpartition(".")
                with self.file.at(section, key):
                    if not ready:
                        raise RequestError(
                            f"{key} = {expression.text!r} is not allowed: expressions depend on each other in a circle"
                        )
                    given[path] = self.settings[path].computed(expression, values)
        return given


def _grid(block: Mapping[str, Any], file: _File) -> _Grid:
    """Read one block; all errors that do not depend on a single run are raised here."""
    with file.at("", "preset"):
        base = _preset(block.get("preset"))
    classes, settings, axes = {"optimizer": Optimizer, "stop": Stop, "schedule": Schedule}, {}, {}
    for section in _SECTIONS:
        given, start = dict(block.get(section, {})), dict(base.get(section, {}))
        if section in ("task", "model"):
            with file.at(section, "name"):
                name = given.pop("name", start.get("name"))
                if name != start.pop("name", None):
                    start = {}
                classes[section] = _class(section, name, file.folder)
        own = fields_of(classes[section])
        for key, value in (start | given).items():
            with file.at(section, key):
                _check_name(key, tuple(own), f"[{section}]")
                # A preset's values need no reading, and may be None, which TOML does not have.
                axes[f"{section}.{key}"] = own[key].alternatives(value) if key in given else [value]
        settings |= {f"{section}.{key}": setting for key, setting in own.items()}
    for key in _SCALARS:
        settings[key] = fields_of(Run)[key]
        if key in block or key in base:
            with file.at("", key):
                axes[key] = settings[key].alternatives(block.get(key, base.get(key)))
    with file.at("", "seeds"):
        axes["seed"] = _seeds(settings["seed"], block.get("seeds", 1))
    with file.at("", "where"):
        where = parse(block["where"], commas=True) if "where" in block else None
    return _Grid(file, classes, settings, axes, where)


def _preset(name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    _check_name(name, tuple(PRESETS), "'preset'")
    return to_json(PRESETS[name])


def _class(section: str, name: Any, folder: Path) -> type:
    kinds = {"task": tasks.TASKS, "model": models.MODELS}[section]
    if name is None:
        raise RequestError(
            f"[{section}] needs a name ({', '.join(kinds)}), or the sweep a preset ({', '.join(PRESETS)})"
        )
    if not isinstance(name, str):
        raise RequestError(
            f"name = {name!r} is not allowed: it must be a string; for several, write a [[grid]] for each"
        )
    return {"task": tasks.find, "model": models.find}[section](name, folder)


def _seeds(setting: Field, given: Any) -> Sequence[int]:
    if type(given) is not int:
        return setting.alternatives(given)
    if given < 1:
        raise RequestError(f"seeds = {given} is not allowed: it must be at least 1, or a list of seeds")
    if given > MOST:
        raise RequestError(f"a sweep of {given:,} runs is too large: at most {MOST:,} are allowed")
    return range(given)


def _check_name(key: str, allowed: tuple[str, ...], where: str) -> None:
    """Raise for a name that is not allowed, and suggest the nearest."""
    if key not in allowed:
        near = nearest(key, allowed)
        raise RequestError(
            f"{key!r} is unknown in {where}: "
            + (f"perhaps you meant {near!r}" if near else f"use one of {', '.join(allowed)}")
        )


def _short_names(settings: Mapping[str, Field]) -> dict[str, str]:
    """Dotted paths of settings by their last part, where it is unique: task.T by T."""
    last = [path.rpartition(".")[2] for path in settings]
    return {name: path for name, path in zip(last, settings, strict=True) if last.count(name) == 1}


def _named(values: dict[str, Any], short: Mapping[str, str]) -> dict[str, Any]:
    """The values that an expression may use: by dotted path, and by short name."""
    return values | {name: values[path] for name, path in short.items() if path in values}
