"""How long runs take on this machine, from measured rates: of the lab's own runs, or of programs that were timed here before.

A rate is how long a step takes on one core, with its part of the evaluations. Runs of one program have one rate; a run that is
evaluated more or less often has that of its operations. A program without a rate gets one from others of its kind, by its operations.
`calibration` measures rates where there are none.
"""

import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple, final

import jax
import numpy as np

from daybreak._machine import cores
from daybreak.lab import index
from daybreak.lab.compute.cost import machine_speed, step_operations
from daybreak.lab.compute.programs import program_cache
from daybreak.lab.provenance import processor
from daybreak.lab.store import Lab
from daybreak.training import Run, Stop, shape, to_json
from daybreak.training.run import without_stop

Source = Literal["runs in the lab", "timed on this machine", "programs of the same kind", "a product of matrices"]
_FILE = "rates.json"
_SHARE = 0.4  # of the speed of a product of matrices, that training reaches: 0.3 to 0.7, by its shapes


@final
@dataclass(frozen=True)
class Rate:
    """What was measured of a program.

    Args:
        step_seconds: seconds of a step on one core, with its part of the evaluations.
        every: steps between two evaluations.
        kind: task, model and precision.
        operations: of a step, with its part of the evaluations; 0 if they were not counted.
        source: where it was measured.
    """

    step_seconds: float
    every: int
    kind: tuple[str, str, str]
    operations: float
    source: Source


class Program(NamedTuple):
    """What names a compiled program: the settings that shape it. All others are its arguments, or of the stop rule."""

    settings: frozenset
    arguments: frozenset[str]

    @property
    def name(self) -> str:
        """Equal on every machine."""
        text = json.dumps(sorted((name, repr(x)) for name, x in self.settings))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@final
class Rates:
    """The rates of the programs of some runs, as far as they are known on this machine. Nothing is computed.

    Args:
        lab: whose finished runs are used first, if they were trained on a processor of the same name.
        runs: whose duration is asked for.
    """

    def __init__(self, lab: Lab, runs: Iterable[Run]):
        self._programs = {program(run): run for run in runs}
        timed = load()
        own = {x: timed[x.name] for x in self._programs if x.name in timed}
        self._rates = own | (_of_lab(lab, self._programs) if self._programs else {})
        self._timed = timed
        self._speeds: list[tuple[tuple[str, ...], float, float]] | None = (
            None  # kind, size and speed, once they are counted
        )

    def known(self, run: Run) -> float | None:
        """Seconds of a run on one core if it spends its budget; None if its program has no rate. Fast: counts no operations."""
        rate = self._rates.get(program(run))
        return None if rate is None else run.stop.budget * rate.step_seconds * _ratio(run, rate.every)

    def seconds(self, run: Run) -> float | None:
        """Seconds of a run on one core if it spends its budget; None if no program of its kind has a rate."""
        seconds = self.known(run)
        if seconds is not None:
            return seconds
        speed = self._speed(run)
        return None if speed is None else run.stop.budget * step_operations(run) / speed

    def estimate(self, run: Run) -> float:
        """Seconds of a run on one core; where no rate is known, by the speed of a product of matrices."""
        seconds = self.seconds(run)
        return run.stop.budget * step_operations(run) / (_SHARE * _core_speed()) if seconds is None else seconds

    def source(self, run: Run) -> Source:
        """What the estimate of a run is based on."""
        rate = self._rates.get(program(run))
        if rate is not None:
            return rate.source
        return "a product of matrices" if self._speed(run) is None else "programs of the same kind"

    @property
    def programs(self) -> list[Run]:
        """A run of each program."""
        return list(self._programs.values())

    def is_compiled(self, run: Run) -> bool:
        """Whether its program was trained or timed on such a processor, and so compiled and kept."""
        return program(run) in self._rates

    def add(self, run: Run, rate: Rate) -> None:
        """A rate that was measured now."""
        self._rates[program(run)] = self._timed[program(run).name] = rate
        self._speeds = None

    def without_rate(self) -> list[Run]:
        """A run of each program that has none."""
        return [run for x, run in self._programs.items() if x not in self._rates]

    def distance(self, run: Run) -> float:
        """By which factor, as a logarithm, the nearest program of this kind with a rate is larger or smaller; infinite if there is none."""
        sizes = [operations for operations, _ in self._of_kind(kind(run))]
        return min((abs(math.log(step_operations(run) / x)) for x in sizes), default=math.inf)

    def _speed(self, run: Run) -> float | None:
        """Operations a second, interpolated between programs of its kind; of the same model, if there are none of the same task."""
        pairs = self._of_kind(kind(run)) or self._of_kind(kind(run)[1:])
        if not pairs:
            return None
        sizes, speeds = np.log(np.array(sorted(pairs))).T
        return float(np.exp(np.interp(math.log(step_operations(run)), sizes, speeds)))

    def _of_kind(self, kind: tuple[str, ...]) -> list[tuple[float, float]]:
        """Operations of a step, and operations a second, of programs with a rate whose kind ends so."""
        if self._speeds is None:
            own = [(_counted(self._programs[x], rate), rate) for x, rate in self._rates.items()]
            sizes = [*own, *((rate.operations, rate) for rate in self._timed.values())]
            self._speeds = [(rate.kind, size, size / rate.step_seconds) for size, rate in sizes]
        return [(size, speed) for of, size, speed in self._speeds if of[-len(kind) :] == kind]


@cache
def _core_speed() -> float:
    return machine_speed() / len(cores())


def has_rates(lab: Lab) -> bool:
    """Whether any rate is known, of whatever program."""
    return bool(load()) or "step_seconds" in lab.query().column_names


def kind(run: Run) -> tuple[str, str, str]:
    """Task, model and precision: programs of one kind are about equally fast, for their size."""
    settings = to_json(run)
    return settings["task"]["name"], settings["model"]["name"], run.precision


def program(run: Run) -> Program:
    """The program that trains a run."""
    return _program(shape(run), _Hidden(run))


class _Hidden:
    """A run that is no part of the key of a cache."""

    def __init__(self, run: Run):
        self.run = run

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=4096)
def _program(shape: Any, hidden: _Hidden) -> Program:
    """Settings that change with the arrays of a run are arguments of its program."""
    run = without_stop(hidden.run)
    zeros, ones = (index.settings(to_json(jax.tree.map(lambda _, x=x: x, run))) for x in (0, 1))
    arguments = {name for name in zeros.keys() | ones.keys() if zeros.get(name) != ones.get(name)}
    arguments |= {field.name for field in fields(Stop)}
    return Program(_without(zeros, arguments), frozenset(arguments))


def _without(settings: Mapping[str, Any], arguments: Iterable[str]) -> frozenset:
    return frozenset((name, x) for name, x in settings.items() if x is not None and name not in arguments)


def _of_lab(lab: Lab, programs: Mapping[Program, Run]) -> dict[Program, Rate]:
    """Of each program with finished runs in the lab: the median of those with the most common distance of evaluations."""
    table = lab.query()
    if "step_seconds" not in table.column_names:
        return {}
    names = [*index.setting_columns(table.column_names), "step_seconds", "device"]
    rows = [x for x in table.select(names).to_pylist() if x["step_seconds"] and x.pop("device") == processor()]
    measured: dict[frozenset[str], dict] = {}
    for arguments in {x.arguments for x in programs}:
        groups = measured[arguments] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            groups[_without(row, {*arguments, "step_seconds"})][row["every"]].append(row["step_seconds"])
    rates = {}
    for one, run in programs.items():
        if found := measured[one.arguments].get(one.settings):
            every, seconds = max(found.items(), key=lambda x: len(x[1]))
            rates[one] = Rate(median(seconds), int(every), kind(run), 0.0, "runs in the lab")
    return rates


def _ratio(run: Run, every: int) -> float:
    """How many times as expensive a step of a run is as one that is evaluated at another distance."""
    return 1.0 if run.stop.every == every else step_operations(run) / step_operations(_evaluated(run, every))


def _counted(run: Run, rate: Rate) -> float:
    return rate.operations or step_operations(_evaluated(run, rate.every))


def _evaluated(run: Run, every: int) -> Run:
    return replace(run, stop=replace(run.stop, every=every))


def load() -> dict[str, Rate]:
    """What was timed on this processor, by the names of programs; nothing if there is no file, or another version's."""
    try:
        return {name: _read(x) for name, x in _stored().get(processor(), {}).items()}
    except (TypeError, KeyError, AttributeError):
        return {}


def _stored() -> dict[str, Any]:
    """The content of the file: machines of a cluster may share it, so rates are in it by processor and program."""
    try:
        stored = json.loads((program_cache() / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _read(stored: dict[str, Any]) -> Rate:
    return Rate(kind=tuple(stored.pop("kind")), **stored)


def save(rates: Mapping[str, Rate]) -> None:
    """Keep what was timed, besides what is kept already. If there is no place for it, it is timed again."""
    path = program_cache() / _FILE
    here = {name: asdict(rate) for name, rate in {**load(), **rates}.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = Path(f"{path}.{os.getpid()}")
        new.write_text(json.dumps({**_stored(), processor(): here}, indent=1), encoding="utf-8")
        new.replace(path)
    except OSError:
        pass


def duration(cohorts: Sequence[Sequence[float]], workers: int, at_once: float) -> float:
    """Seconds until all are done, if each worker takes the next cohort when it is free.

    Args:
        cohorts: seconds of their members, each on one core.
        workers: that train them.
        at_once: members that a worker trains at the same time, each on one core.

    Example:
        >>> duration([[5.0], [2.0, 1.0], [2.0]], workers=2, at_once=1), duration([[2.0, 2.0]], workers=1, at_once=2)
        (5.0, 2.0)
    """
    ends = [0.0] * max(workers, 1)
    for each in cohorts:
        cores = min(at_once, len(each)) if math.isfinite(at_once) else 1
        ends[ends.index(min(ends))] += sum(each) / cores
    return max(ends)
