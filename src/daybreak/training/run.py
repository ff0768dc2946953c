"""A run: task, model, optimizer, stop rule and seed. JSON in and out, named by a hash of its content."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import chain
from typing import Any, final

import equinox as eqx
import jax

from daybreak import _own, models, tasks
from daybreak._check import check_choice
from daybreak.errors import RequestError, UnknownKind, refuse
from daybreak.interface import Interface
from daybreak.measure import above_guess
from daybreak.models import MODELS, AnyModel, Model, Precision
from daybreak.tasks import TASKS, Task, corpus
from daybreak.training.optimizer import Optimizer
from daybreak.training.schedule import Schedule
from daybreak.training.watched import Watch

SCHEMA = 1


@final
class Stop(eqx.Module):
    """When a run ends: it has emerged and trained for a margin after that, or its budget is spent.

    Example:
        >>> list(Stop(budget=50, every=20).steps())
        [0, 20, 40, 50]
    """

    budget: int = eqx.field(static=True, default=10_000)  # Steps at most.
    every: int = eqx.field(static=True, default=20)  # Steps between two evaluations.
    # Clean loss (regression), clean accuracy (tokens) or watched attention that counts as emerged; 0 to spend the whole budget.
    level: float = eqx.field(static=True, default=0.1)
    margin: float = eqx.field(static=True, default=0.2)  # Fraction of the plateau to train on after emergence.
    # What is compared with the level: the score on clean data, or attention to relevant positions, of the head with the most.
    watch: Watch = eqx.field(static=True, default="score", metadata={"later": True})

    def __check_init__(self):
        for name in ("budget", "every"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} = {getattr(self, name)} is not allowed: it must be at least 1.")
        for name in ("level", "margin"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise RequestError(f"{name} = {value} is not allowed: it must be a finite number of at least 0.")
        check_choice("watch", self.watch, Watch)
        above = self.watch == "attention" and self.level >= 1
        refuse("level", self.level, above, "attention lies between 0 and 1, so its level must be below 1")

    def steps(self) -> Iterator[int]:
        """The steps at which a run is evaluated until its budget is spent: 0, every, 2 every, …, budget."""
        return chain(range(0, self.budget, self.every), (self.budget,))


@final
class Run(eqx.Module):
    """Everything that determines a record. Two runs with equal fields are the same run.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention(), Optimizer("sgd", 1.0), Stop(budget=200), seed=3)
        >>> run.id, run.interface.length
        ('663e9cd547a6fad6', 8)
    """

    task: Task[Any]
    model: AnyModel
    optimizer: Optimizer = Optimizer()
    stop: Stop = Stop()
    seed: int = 0
    batch: int = eqx.field(static=True, default=32)  # Examples per step.
    # Examples per evaluation, where the task has no validation set.
    evaluation: int = eqx.field(static=True, default=256)
    schedule: Schedule = Schedule()  # Of the repetition that the task has.
    # Of the factors of the model's products; sums, weights and evaluations have float32.
    precision: Precision = eqx.field(static=True, default="float32")

    def __check_init__(self):
        for name in ("batch", "evaluation"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} = {getattr(self, name)} is not allowed: it must be at least 1.")
        if isinstance(self.seed, int):  # members of a cohort have arrays
            refuse("seed", self.seed, abs(self.seed) >= 2**31, "it must lie between −2³¹ and 2³¹")
        self.task.check_trainable()
        self.model.check(self.interface)
        self.schedule.check(self.task)
        check_choice("precision", self.precision, Precision)
        why = f"the model has products in {' and '.join(self.model.precisions)} only"
        refuse("precision", self.precision, self.precision not in self.model.precisions, why)
        needs_level = self.stop.watch == "attention" or self.schedule.name == "budget"
        if self.schedule.name in ("adaptive", "budget") and needs_level and not self.stop.level:
            raise RequestError(
                f"schedule = {self.schedule.name!r} is not allowed at level = 0: it waits for the level."
            )

    @property
    def interface(self) -> Interface:
        """Inputs and outputs of the task, for the model."""
        return self.task.interface

    @property
    def id(self) -> str:
        """Name by content: equal runs have equal names, on every machine."""
        return hashlib.sha256(canonical(self)).hexdigest()[:16]


def shape(run: Run) -> Any:
    """What the runs of a cohort share: all but their stop rules and the scalars that are arguments of the program.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> shape(run) == shape(replace(run, seed=1, stop=Stop(budget=99)))  # one program trains both
        True
        >>> shape(run) == shape(replace(run, task=SingleLocation(T=16, d=4)))
        False
    """
    return jax.tree.structure(without_stop(run))


def without_stop(run: Run) -> Run:
    """The part of a run that is compiled; the stop rule is applied outside."""
    return replace(run, stop=Stop())


def canonical(run: Run) -> bytes:
    """The canonical text of a run; its digest starts with the id.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> hashlib.sha256(canonical(run)).hexdigest().startswith(run.id)
        True
    """
    return json.dumps(to_json(run), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def to_json(run: Run) -> dict[str, Any]:
    """A run as plain data. A task or model that is not built in has a `source`: the digest of the text that defines it.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> to_json(run)["model"]
        {'name': 'toy', 'scale': 0.0}
    """
    # Left out at their defaults, as in older runs.
    schedule = {"schedule": _plain(run.schedule)} if run.schedule.name != "constant" else {}
    precision = {"precision": run.precision} if run.precision != "float32" else {}
    return {
        "schema": SCHEMA,
        "task": {**_identity(TASKS, run.task), **_plain(run.task)},
        "model": {**_identity(MODELS, run.model), **_plain(run.model)},
        "optimizer": _plain(run.optimizer),
        "stop": _plain(run.stop),
        "seed": run.seed,
        "batch": run.batch,
        "evaluation": run.evaluation,
        **schedule,
        **precision,
    }


def from_json(data: dict[str, Any]) -> Run:
    """A run from plain data, checked as if it were new. Its classes are built in, installed, or loaded already.

    Raises:
        UnknownKind: it has a task, a model or a setting that is not known here.
        RequestError: a value is not allowed.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> from_json(to_json(run)) == run
        True
    """
    if isinstance(schema := data.get("schema"), int) and schema > SCHEMA:
        raise UnknownKind(f"schema {schema} of a run")
    if schema != SCHEMA:
        raise RequestError(f"schema = {schema!r} is not allowed: this version reads {SCHEMA}.")
    given = {name: value for name, value in data.items() if name != "schema"}
    for part, kinds, base in (("task", TASKS, Task), ("model", MODELS, Model)):
        values = dict(given.get(part, {}))
        kind = _kind(part, values.pop("name", None), values.pop("source", None), kinds, base)
        given[part] = _constructed(part, kind, values)
    for part, kind in (("optimizer", Optimizer), ("stop", Stop), ("schedule", Schedule)):
        given[part] = _constructed(part, kind, given.get(part, {}))
    return _constructed("run", Run, given)


def own_sources(runs: Iterable[Run]) -> list[_own.Source]:
    """The texts that define the tasks and models of runs, of those that are neither built in nor installed.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> own_sources([run])  # nothing to send to a worker: both are built in
        []
    """
    kinds = {type(thing) for run in runs for thing in (run.task, run.model)}
    return _own.sources(kinds - {*TASKS.values(), *MODELS.values()})


def own_texts(runs: Iterable[Run]) -> dict[tuple[str, int], tasks.Corpus]:
    """The texts of runs that do not come with the package, by name and vocabulary: a worker may not have them.

    Example:
        >>> from daybreak.models import Transformer
        >>> own_texts([Run(tasks.Text(T=16), Transformer(layers=1, heads=1, width=8, head_width=8, causal=True))])
        {}
    """
    about = {(run.task.text, run.task.vocabulary) for run in runs if isinstance(run.task, tasks.Text)}
    return {key: corpus.corpus(*key) for key in sorted(about) if key[0] not in corpus.SHIPPED}


def level_of(task: Task[Any]) -> float:
    """A level for a task of which no other is known: an accuracy half of the way from a guess to 1, or a fifth of a guess's loss.

    Example:
        >>> from daybreak.tasks import Recall, SingleLocation
        >>> round(level_of(SingleLocation()), 3), level_of(Recall(N=4, V=16))  # a loss, and an accuracy
        (0.1, 0.625)
    """
    guess = task.guess()
    return above_guess(guess.loss, 0.8, best=0.0) if guess.accuracy is None else above_guess(guess.accuracy, 0.5)


def check_own(runs: Iterable[Run]) -> None:
    """Refuse runs of a text that is not here, and of a task or model that is not built in and does not do what it must.

    Nothing is computed.

    Raises:
        RequestError: one sentence that says what is wrong; for code that raises, with file and line.

    Example:
        >>> from daybreak.models import ToyAttention
        >>> from daybreak.tasks import SingleLocation
        >>> run = Run(SingleLocation(T=8, d=4), ToyAttention())
        >>> check_own([run])  # built in: nothing to check
    """
    runs, checked = [*runs], set()
    own_texts(runs)
    for run in runs:
        if not is_built_in(run) and shape(run) not in checked:
            checked.add(shape(run))
            with _own.located():
                tasks.check(run.task)
                models.check(run.model, run.interface)


def is_built_in(run: Run) -> bool:
    """Whether both its task and its model are."""
    return type(run.task) in TASKS.values() and type(run.model) in MODELS.values()


def _constructed(part: str, kind: type, values: dict[str, Any]) -> Any:
    """A part of a run from its fields; what JSON has as a list is a tuple."""
    for name in values.keys() - {field.name for field in fields(kind)}:
        raise UnknownKind(f"setting {name!r} of the {part}")
    return kind(**{name: tuple(x) if isinstance(x, list) else x for name, x in values.items()})


def _kind(part: str, name: str | None, source: str | None, kinds: Mapping[str, type], base: type) -> type:
    """The class of a task or model in plain data."""
    what = part if name is None else f"{part} {name!r}"
    if name is None or (source is None and name not in kinds):
        raise UnknownKind(what)
    if source is None:
        return kinds[name]
    kind = _own.known(part, name, source, base)
    if kind is None:
        other = _own.present(name)
        changed = f"; {other.file} has changed since, to {other.digest}" if other else ""
        load = f"load its file first, by daybreak.{part}s.find('FILE.py:{name}')"
        raise UnknownKind(f"{what} (source {source}{changed})", f"{load}, or install the extension that has it")
    return kind


def _identity(kinds: Mapping[str, type], thing: Any) -> dict[str, str]:
    name = next((name for name, kind in kinds.items() if kind is type(thing)), None)
    return _own.identity(type(thing)) if name is None else {"name": name}


def _plain(thing: Any) -> dict[str, Any]:
    """Its fields. A field that was added `later` is left out at its default, so that older runs keep their ids."""
    values = {field.name: getattr(thing, field.name) for field in fields(thing)}
    later = {field.name: field.default for field in fields(thing) if field.metadata.get("later")}
    return {name: value for name, value in values.items() if name not in later or value != later[name]}
