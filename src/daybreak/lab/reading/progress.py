"""What is known of a run so far, whether it is done or still trains."""

import json
from dataclasses import dataclass
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

    @property
    def watched(self) -> tuple[str, NDArray[np.floating]]:
        """Name and values of the curve that the stop rule watches: clean accuracy where there is one, or clean loss."""
        name = "clean_accuracy" if "clean_accuracy" in self.curves else "clean_loss"
        return name, self.curves[name]


def run_curves(lab: "Lab", prefix: str) -> RunCurves:
    """The run that begins like this, among those that are done and those that have a checkpoint."""
    going = [name for name in lab.unfinished() if prefix and name.startswith(prefix)]
    done = [name for name in lab.query()["id"].to_pylist() if prefix and name.startswith(prefix)]
    if len(going) + len(done) != 1:
        names = sorted([*going, *done])
        wrong = f"{len(names)} runs begin so, such as {names[0]} and {names[1]}" if names else "no run begins so"
        raise RequestError(f"run {prefix!r} is not in lab {str(lab.path)!r}: {wrong}.")
    return _finished(lab, done[0]) if done else _going(lab, going[0])


def _finished(lab: "Lab", name: str) -> RunCurves:
    saved = lab.load(name)
    if saved.record is None:
        raise RequestError(f"run {name} is not allowed: it failed and has no curves.")
    return RunCurves(saved.run, saved.record.steps, saved.record.curves, True)


def _going(lab: "Lab", name: str) -> RunCurves:
    from daybreak.training import DamagedCheckpoint, from_json
    from daybreak.training.checkpoint import curves

    run = from_json(json.loads((lab.path / "runs" / name / RUN).read_bytes()))
    data = lab.load_checkpoint(run)
    if data is None:
        raise RequestError(f"run {name} is not allowed: it has begun, and has neither a checkpoint nor a result yet.")
    try:
        found = curves(run.id, data)
    except DamagedCheckpoint as damage:
        raise RequestError(f"run {name} is not allowed: {damage}") from None
    steps = np.minimum(np.arange(len(found["clean_loss"]), dtype=np.int64) * run.stop.every, run.stop.budget)
    return RunCurves(run, steps, found, False)
