"""The curves of a run so far, whether it is done or still trains."""

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daybreak.errors import RequestError
from daybreak.lab._folder import RUN
from daybreak.lab.curves import Curves

if TYPE_CHECKING:
    from daybreak.lab.store import Lab
    from daybreak.training import Run


@final
@dataclass(frozen=True)
class RunCurves:
    """A run as far as it got: to its end, or to its last checkpoint."""

    run: "Run"
    steps: NDArray[np.int64]
    curves: Curves
    done: bool


def run_curves(lab: "Lab", prefix: str) -> RunCurves:
    """The run whose name starts with a prefix, among those that are done and those that have begun."""
    name = lab.find(prefix)
    return _unfinished(lab, name) if name in lab.unfinished() else _finished(lab, name)


def _finished(lab: "Lab", name: str) -> RunCurves:
    saved = lab.load(name)
    if saved.record is None:
        raise RequestError(f"run {name} failed and has no curves.")
    return RunCurves(saved.run, saved.record.steps, saved.record.curves, True)


def _unfinished(lab: "Lab", name: str) -> RunCurves:
    from daybreak.training import DamagedCheckpoint, from_json
    from daybreak.training.checkpoint import curves

    run = from_json(json.loads((lab.path / "runs" / name / RUN).read_bytes()))
    data = lab.load_checkpoint(run)
    if data is None:
        raise RequestError(f"run {name} has begun, and has no checkpoint yet.")
    try:
        measured = curves(run.id, data)
    except DamagedCheckpoint as damage:
        raise RequestError(str(damage)) from None
    steps = np.array([*islice(run.stop.steps(), len(measured["clean_loss"]))], np.int64)
    return RunCurves(run, steps, measured, False)
