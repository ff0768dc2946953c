"""The messages between driver and workers, as bytes: JSON, then raw data. Never pickle."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from safetensors.numpy import load, save

from daybreak._own import Source, define
from daybreak.lab.saved import Keep
from daybreak.tasks import corpus
from daybreak.training import Record, Run, from_json, own_sources, own_texts, to_json


@final
@dataclass(frozen=True)
class Job:
    """Runs of a cohort to be trained, from their checkpoints where there are any."""

    runs: tuple[Run, ...]
    checkpoints: Mapping[str, bytes]  # by the id of a run
    every: float  # seconds between two checkpoints of a run; the first ones come earlier
    keep: tuple[Keep, ...] = ()  # files to keep of each run; no part of the run, whose id does not depend on them


@final
@dataclass(frozen=True)
class Started:
    """A worker has started the job."""

    worker: str  # its name


@final
@dataclass(frozen=True)
class RunStatus:
    """A run in training: its latest evaluation, on clean data."""

    step: int
    loss: float
    accuracy: float | None  # where the task has one
    attention: float  # to relevant positions, of the head with the most
    emerged: int | None  # the step at which that was seen; training continues for the margin


@final
@dataclass(frozen=True)
class Advanced:
    """The progress of the members still in training."""

    statuses: Mapping[str, RunStatus]  # by the id of a run


@final
@dataclass(frozen=True)
class Checkpoint:
    """The state of a run in training, and the step of its last evaluation."""

    run: str
    step: int
    data: bytes


@final
@dataclass(frozen=True)
class StartedOver:
    """A checkpoint was unusable, and its run starts again at step 0."""

    run: str
    why: str


@final
@dataclass(frozen=True)
class Finished:
    """What a run has measured; `seconds` is the time of its cohort divided by the number of members."""

    run: str
    record: Record
    seconds: float
    device: str
    kept: Mapping[Keep, bytes] = field(default_factory=dict)  # files that were asked for
    state: bytes | None = None  # its end, if a run with a larger budget can go on from it
    # Of a step with its part of the evaluations, on one core; None if too short to tell.
    step_seconds: float | None = None


@final
@dataclass(frozen=True)
class Ended:
    """The job is over. With a traceback: it raised, and members not yet finished are not trained."""

    traceback: str | None = None


@final
@dataclass(frozen=True)
class Died:
    """The worker was lost, and the job with it. Sent by an executor, not by a worker."""

    why: str


Message = Started | Advanced | Checkpoint | StartedOver | Finished | Ended | Died
_KINDS: dict[str, type] = {x.__name__: x for x in (Started, StartedOver, Ended)}


def encode(message: Job | Message) -> bytes:
    """A message as bytes."""
    match message:
        case Job(runs, checkpoints, every, keep):
            texts = own_texts(runs)
            head = {
                "runs": [to_json(run) for run in runs],
                "checkpoints": list(checkpoints),
                "every": every,
                "keep": keep,
                # Files of the user's own, which the worker cannot have; byte by byte, whatever their encoding.
                "sources": [(source.file, source.text.decode("latin-1")) for source in own_sources(runs)],
                "texts": list(texts),
            }
            return _join("Job", head, *checkpoints.values(), *map(corpus.pack, texts.values()))
        case Advanced(statuses):
            return _join("Advanced", {run: vars(status) for run, status in statuses.items()})
        case Checkpoint(run, step, data):
            return _join("Checkpoint", {"run": run, "step": step}, data)
        case Finished(run, record, seconds, device, kept, state, pace):
            head = {"run": run, "outcome": record.outcome, "seconds": seconds, "device": device, "kept": list(kept)}
            head |= {"step_seconds": pace}
            ends = () if state is None else (state,)
            return _join("Finished", head, save({"step": record.steps} | record.curves), *kept.values(), *ends)
    return _join(type(message).__name__, dict(vars(message)))


def decode(data: bytes) -> Any:
    """The message that was encoded."""
    kind, head, parts = _split(data)
    match kind:
        case "Job":
            for file, text in head["sources"]:
                define(Source(file, text.encode("latin-1")))
            checkpoints = dict(zip(head["checkpoints"], parts, strict=False))
            for (name, vocabulary), text in zip(head["texts"], parts[len(checkpoints) :], strict=True):
                corpus.define(name, vocabulary, text)
            runs = tuple(from_json(run) for run in head["runs"])
            return Job(runs, checkpoints, head["every"], tuple(head["keep"]))
        case "Advanced":
            return Advanced({run: RunStatus(**status) for run, status in head.items()})
        case "Checkpoint":
            return Checkpoint(head["run"], head["step"], parts[0])
        case "Finished":
            curves = dict(sorted(load(parts[0]).items()))  # as compiled programs order them; safetensors keeps no order
            record = Record(curves.pop("step"), curves, head["outcome"])
            kept = dict(zip(head["kept"], parts[1:], strict=False))
            state = parts[-1] if len(parts) > 1 + len(kept) else None
            return Finished(head["run"], record, head["seconds"], head["device"], kept, state, head["step_seconds"])
    return _KINDS[kind](**head)


def _join(kind: str, head: dict[str, Any], *parts: bytes) -> bytes:
    text = json.dumps({"kind": kind, "head": head, "sizes": [len(part) for part in parts]}).encode()
    return b"".join((struct.pack("<I", len(text)), text, *parts))


def _split(data: bytes) -> tuple[str, dict[str, Any], list[bytes]]:
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + size])
    parts, at = [], 4 + size
    for length in header["sizes"]:
        parts.append(bytes(data[at : at + length]))
        at += length
    return header["kind"], header["head"], parts
