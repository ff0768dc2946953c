"""A run: task, model, optimizer, stop rule and seed. JSON in and out, named by a hash of its content."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import Any, final

import equinox as eqx
import jax

from daybreak.errors import RequestError, refuse
from daybreak.interface import Interface
from daybreak.models import MODELS, AnyModel
from daybreak.tasks import TASKS, Task
from daybreak.training.optimizer import Optimizer
from daybreak.training.schedule import Schedule

SCHEMA = 1


@final
class Stop(eqx.Module):
    """When a run ends: it has emerged and trained for a margin after that, or its budget is spent."""

    budget: int = eqx.field(static=True, default=10_000)  # Steps at most.
    every: int = eqx.field(static=True, default=20)  # Steps between two evaluations.
    # Clean loss (regression) or clean accuracy (tokens) that counts as emerged; 0 to spend the whole budget.
    level: float = eqx.field(static=True, default=0.1)
    margin: float = eqx.field(static=True, default=0.2)  # Fraction of the plateau to train on after emergence.

    def __check_init__(self):
        for name in ("budget", "every"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} = {getattr(self, name)} is not allowed: it must be at least 1.")
        for name in ("level", "margin"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise RequestError(f"{name} = {value} is not allowed: it must be a finite number of at least 0.")

    def steps(self) -> Iterator[int]:
        """The steps at which a run is evaluated until its budget is spent: 0, every, 2 every, …, budget."""
        return chain(range(0, self.budget, self.every), (self.budget,))


@final
class Run(eqx.Module):
    """Everything that determines a record. Two runs with equal fields are the same run."""

    task: Task[Any]
    model: AnyModel
    optimizer: Optimizer = Optimizer()
    stop: Stop = Stop()
    seed: int = 0
    batch: int = eqx.field(static=True, default=32)  # Examples per step.
    # Examples per evaluation, where the task has no validation set.
    evaluation: int = eqx.field(static=True, default=256)
    schedule: Schedule = Schedule()  # Of the repetition that the task has.

    def __check_init__(self):
        for name in ("batch", "evaluation"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} = {getattr(self, name)} is not allowed: it must be at least 1.")
        if isinstance(self.seed, int):  # members of a cohort have arrays
            refuse("seed", self.seed, abs(self.seed) >= 2**31, "it must lie between −2³¹ and 2³¹")
        self.model.check(self.interface)
        self.schedule.check(self.task)
        if self.schedule.name == "budget" and not self.stop.level:
            raise RequestError(
                "schedule = 'budget' is not allowed at level = 0: it forecasts when the level is crossed."
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
    """What the runs of a cohort share: all but their stop rules and the scalars that are arguments of the program."""
    return jax.tree.structure(without_stop(run))


def without_stop(run: Run) -> Run:
    """The part of a run that is compiled; the stop rule is applied outside."""
    return replace(run, stop=Stop())


def canonical(run: Run) -> bytes:
    """The canonical text of a run; its digest starts with the id."""
    return json.dumps(to_json(run), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def to_json(run: Run) -> dict[str, Any]:
    """A run as plain data."""
    schedule = (
        {"schedule": _plain(run.schedule)} if run.schedule.name != "constant" else {}
    )  # left out, as in older runs
    return {
        "schema": SCHEMA,
        "task": {"name": _name(TASKS, run.task), **_plain(run.task)},
        "model": {"name": _name(MODELS, run.model), **_plain(run.model)},
        "optimizer": _plain(run.optimizer),
        "stop": _plain(run.stop),
        "seed": run.seed,
        "batch": run.batch,
        "evaluation": run.evaluation,
        **schedule,
    }


def from_json(data: dict[str, Any]) -> Run:
    """A run from plain data, checked as if it were new."""
    if data.get("schema") != SCHEMA:
        raise RequestError(f"schema = {data.get('schema')!r} is not allowed: this version reads {SCHEMA}.")
    task, model = ({**data[part]} for part in ("task", "model"))
    return Run(
        task=TASKS[task.pop("name")](**task),
        model=MODELS[model.pop("name")](**model),
        optimizer=Optimizer(**data["optimizer"]),
        stop=Stop(**data["stop"]),
        seed=data["seed"],
        batch=data["batch"],
        evaluation=data["evaluation"],
        schedule=Schedule(**data.get("schedule", {})),
    )


def _name(registry: dict[str, Any], thing: Any) -> str:
    return next(name for name, kind in registry.items() if kind is type(thing))


def _plain(thing: Any) -> dict[str, Any]:
    """Its fields. A field that was added `later` is left out at its default, so that older runs keep their ids."""
    values = {field.name: getattr(thing, field.name) for field in fields(thing)}
    later = {field.name: field.default for field in fields(thing) if field.metadata.get("later")}
    return {name: value for name, value in values.items() if name not in later or value != later[name]}
